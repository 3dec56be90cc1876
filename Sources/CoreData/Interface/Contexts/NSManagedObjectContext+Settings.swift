// What a context can be set to.
//
// Threads: the context's queue.

import CairnObjects
public import Foundation

extension NSManagedObjectContext {
    /// A name for people, also in the history.
    public var name: String? {
        get { settings.name }
        set {
            settings.name = newValue
            made?.name = newValue
        }
    }

    /// The author of what it saves, for the history.
    public var transactionAuthor: String? {
        get { settings.transactionAuthor }
        set {
            settings.transactionAuthor = newValue
            made?.transactionAuthor = newValue
        }
    }

    /// How a save resolves conflicts: an ``NSMergePolicy``.
    public var mergePolicy: Any {
        get { settings.mergePolicy }
        set {
            settings.mergePolicy = newValue
            made?.mergePolicy = NSMergePolicy.policy(newValue)
        }
    }

    /// What takes changes back; nil, the default, if nothing does.
    public var undoManager: UndoManager? {
        get { settings.undoManager }
        set {
            settings.undoManager?.context = nil
            settings.undoManager = newValue
            newValue?.context = self
            made?.undoHistory = newValue?.history
        }
    }

    /// Values of the program's own.
    public var userInfo: NSMutableDictionary { settings.userInfo }

    /// How old rows may be that are shown again. Nothing depends on it: a refreshed object always reads what is stored.
    public var stalenessInterval: TimeInterval {
        get { settings.stalenessInterval }
        set { settings.stalenessInterval = newValue }
    }

    /// Whether what others save is merged as it comes.
    public var automaticallyMergesChangesFromParent: Bool {
        get { settings.automaticallyMergesChangesFromParent }
        set {
            settings.automaticallyMergesChangesFromParent = newValue
            made?.automaticallyMergesChangesFromParent = newValue
            beginMerging()
        }
    }

    /// Whether delete rules are applied at the end of each run of changes; else only a save applies them.
    public var propagatesDeletesAtEndOfEvent: Bool {
        get { settings.propagatesDeletesAtEndOfEvent }
        set {
            settings.propagatesDeletesAtEndOfEvent = newValue
            made?.propagatesDeletesAtEndOfEvent = newValue
        }
    }

    /// Whether it keeps all its objects, not only changed ones.
    public var retainsRegisteredObjects: Bool {
        get { settings.retainsRegisteredObjects }
        set {
            settings.retainsRegisteredObjects = newValue
            made?.retainsRegisteredObjects = newValue
        }
    }

    /// Whether an object whose row is gone counts as deleted.
    public var shouldDeleteInaccessibleFaults: Bool {
        get { settings.shouldDeleteInaccessibleFaults }
        set {
            settings.shouldDeleteInaccessibleFaults = newValue
            made?.shouldDeleteInaccessibleFaults = newValue
        }
    }
}
