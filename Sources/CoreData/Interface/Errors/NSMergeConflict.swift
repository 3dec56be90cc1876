// A conflict with somebody else's change, as a merge policy sees it.
//
// Threads: the context's queue.

import CairnObjects
public import Foundation

/// An object that was changed or deleted elsewhere since it was read.
///
/// Snapshots have the attributes and to-one relationships, these as ids; nil values are absent.
open class NSMergeConflict: NSObject {
    let core: MergeConflict
    /// The object in the context.
    public let sourceObject: NSManagedObject
    /// The values that the object was read with; nil if it was never read.
    public let objectSnapshot: [String: Any]?
    /// The values as they are stored now; nil if the object was deleted.
    public let cachedSnapshot: [String: Any]?
    /// The version that the object was read with; 0 if it was never read.
    public var oldVersionNumber: Int { core.oldVersionNumber }
    /// The version that is stored now; 0 if the object was deleted.
    public var newVersionNumber: Int { core.newVersionNumber }
    /// Always nil: there is no cache between a context and its store.
    public var persistedSnapshot: [String: Any]? { nil }

    /// What stands against the save of a context.
    init(_ core: MergeConflict, in context: NSManagedObjectContext) {
        self.core = core
        sourceObject = NSManagedObjectContext.object(core.sourceObject)
        objectSnapshot = core.objectSnapshot.map(context.facadeValues)
        cachedSnapshot = core.cachedSnapshot.map(context.facadeValues)
    }

    /// Only a store knows of conflicts: a save reports them.
    @available(
        *, unavailable, message: "conflicts are found by a store: a save reports them"
    )
    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
        cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
    ) { fatalError("unavailable") }

    open override var description: String {
        "\(sourceObject.objectID): read at version \(oldVersionNumber), "
            + "now stored at version \(newVersionNumber)"
    }
}
