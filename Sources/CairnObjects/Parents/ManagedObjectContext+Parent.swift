// Contexts that work on another context instead of the store.
//
//   reading    what the parent shows, its unsaved changes among it: see ParentSource
//   saving     hands everything to the parent, where it is unsaved: see +SavingToParent
//   ids        a context and all that work on it give one another's new objects the same temporary ids, so that nothing
//              is renamed on the way up or down. When the context without a parent saves, all of them follow
//   keeping    a child keeps its parent alive; a parent knows its children as long as they live
//
// Threads: a child works where its parent does. It is made there, and being no Sendable it cannot leave.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Creates a context that works on another one: it reads the parent's state, and saves to the parent.
    ///
    /// ```swift
    /// let draft = ManagedObjectContext(parent: container.viewContext)
    /// let product = draft.object(with: id)      // as the view context shows it
    /// product["price"] = 3.0
    /// try draft.save()                          // changed in the view context, not in the store
    /// try container.viewContext.save()
    /// ```
    ///
    /// The child is isolated like its parent: a child of the view context to the main actor, a child of a background
    /// context to its ``BackgroundContext/perform(_:)``. To drop a draft, release it after a ``rollback()`` or ``reset()``.
    public convenience init(parent: ManagedObjectContext) {
        self.init(
            store: parent.store, classes: parent.classes, board: parent.board,
            operations: parent.operations, parent: parent, showing: ParentSource(parent))
        isViewContext = parent.isViewContext
        isObservable = parent.isObservable
        parent.children.removeAll { $0.context == nil }
        parent.children.append(ChildContext(context: self))
    }

    /// A new context that works on this one; see ``init(parent:)``.
    public func newChildContext() -> ManagedObjectContext { ManagedObjectContext(parent: self) }

    // MARK: What a save has found

    /// Tells the contexts that work on this one what a save has made of new objects.
    func tellChildren(of result: SaveResult, _ absorbed: [ObjectID: ObjectID]) {
        tellChildren(
            of: result.permanentIDs, absorbed: absorbed,
            unloadsMembers: !absorbed.isEmpty || !result.displaced.isEmpty)
    }

    /// What was saved here has another version now than the contexts know that work on this one. Who has read the one before
    /// knows of all that others have changed: that this one is newer is no conflict for him.
    func outdateChildren(_ rows: [ObjectID: Row]) {
        for child in livingChildren {
            for (id, row) in rows {
                guard let object = child.registry.object(for: id), object.version > 0,
                    object.version &+ 1 == row.version
                else { continue }
                object.version = row.version
                object.flags.formUnion(.hasOlderCells)
            }
            child.outdateChildren(rows)
        }
    }
}
