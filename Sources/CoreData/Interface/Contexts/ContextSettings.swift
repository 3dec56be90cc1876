// What a context is set to, be it before the context behind is made.

import CairnObjects
import Foundation

/// The settings of a context.
struct ContextSettings {
    var coordinator: NSPersistentStoreCoordinator?
    var parent: NSManagedObjectContext?
    var name: String?
    var transactionAuthor: String?
    var mergePolicy: Any = NSMergePolicy.error
    var undoManager: UndoManager?
    var userInfo = NSMutableDictionary()
    var stalenessInterval: TimeInterval = -1
    var automaticallyMergesChangesFromParent = false
    var propagatesDeletesAtEndOfEvent = true
    var retainsRegisteredObjects = false
    var shouldDeleteInaccessibleFaults = true
    /// What accessors of the objects' classes are about to change.
    var announced = AnnouncedChanges()

    /// Sets a new context to all of it.
    func apply(to core: ManagedObjectContext) {
        core.name = name
        core.transactionAuthor = transactionAuthor
        core.mergePolicy = NSMergePolicy.policy(mergePolicy)
        core.undoHistory = undoManager?.history
        core.propagatesDeletesAtEndOfEvent = propagatesDeletesAtEndOfEvent
        core.retainsRegisteredObjects = retainsRegisteredObjects
        core.shouldDeleteInaccessibleFaults = shouldDeleteInaccessibleFaults
        core.automaticallyMergesChangesFromParent = automaticallyMergesChangesFromParent
    }
}
