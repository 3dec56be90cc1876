// What comes of a request, with Core Data's names.
//
// Threads: that of the context; a result that is being waited for can be cancelled by any.

public import Foundation

/// What has come of a request.
open class NSPersistentStoreResult: NSObject {}

/// What comes of a request that is carried out beside the caller.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context whose request it is.
    public let managedObjectContext: NSManagedObjectContext
    /// What went wrong; nil as long as nothing did.
    public internal(set) var operationError: (any Error)?
    /// How far it has come. It belongs to the progress that was current when the request was executed, if there was one.
    public let progress: Progress?

    init(_ context: NSManagedObjectContext, _ progress: Progress) {
        managedObjectContext = context
        self.progress = progress
    }

    /// Ends the request early. Its block is called all the same, with an error.
    open func cancel() { progress?.cancel() }
}
