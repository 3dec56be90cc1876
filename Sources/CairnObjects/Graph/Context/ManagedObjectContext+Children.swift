// What a context and those that work on it tell one another: ids, and relationships that no store keeps.
//
// Threads: a child works where its parent does.

import CairnModel
import CairnStore

/// A context that works on another one.
struct ChildContext {
    private(set) weak var context: ManagedObjectContext?
}

extension ManagedObjectContext {
    /// The contexts that work on this one and that somebody holds.
    var livingChildren: [ManagedObjectContext] { children.compactMap(\.context) }

    /// The context that works on the store itself.
    var root: ManagedObjectContext {
        var context = self
        while let parent = context.parent { context = parent }
        return context
    }

    // MARK: Transient relationships

    /// Gives an object the transient relationships that the parent's shows, unless it has its own: a save hands them up as a whole.
    /// Transient attributes begin with their defaults, as in Core Data: only those that are set here go up.
    func showTransientRelationships(of object: ManagedObject, in parent: ManagedObjectContext) {
        guard hasTransientRelationships,
            let shown = parent.registry.object(for: object.objectID), let rarer = shown.rarer
        else { return }
        if !rarer.transientTargets.isEmpty, object.transientTargets.isEmpty {
            object.transientTargets = rarer.transientTargets
        }
        for index in rarer.toMany.keys
        where object.isTransient(index) && object.toMany[index] == nil {
            object.toMany[index] = ToManyState(Set(parent.memberIDs(of: shown, index)))
        }
    }

    // MARK: Other ids

    /// Tells the contexts that work on this one of other ids.
    ///
    /// - Parameters:
    ///   - names: new ids by those that they replace.
    ///   - absorbed: the ids of objects that are no more, with those of the objects that took their places.
    ///   - unloadsMembers: whether members are others now than anybody could tell.
    func tellChildren(
        of names: [ObjectID: ObjectID], absorbed: [ObjectID: ObjectID] = [:],
        unloadsMembers: Bool = false
    ) {
        guard !children.isEmpty, !names.isEmpty || !absorbed.isEmpty || unloadsMembers else {
            return
        }
        let all = names.merging(absorbed) { _, survivor in survivor }
        for child in livingChildren {
            child.follow(names, absorbed, all, unloadsMembers)
            child.tellChildren(of: names, absorbed: absorbed, unloadsMembers: unloadsMembers)
        }
    }

    /// Tells those who watch the contexts that work on this one that objects have got their permanent ids. To be called when
    /// what has given them is done: who is told reads.
    func tellChildrenOfRenames() {
        for child in livingChildren {
            if child.observedKinds.contains(.renames) { child.tell(.didRename) }
            child.tellChildrenOfRenames()
        }
    }

    /// The parent's objects have other ids.
    private func follow(
        _ names: [ObjectID: ObjectID], _ absorbed: [ObjectID: ObjectID],
        _ all: [ObjectID: ObjectID], _ unloadsMembers: Bool
    ) {
        for (old, survivor) in absorbed {
            guard let object = registry.object(for: old) else { continue }
            noteLeaving(object)
            leave(object, absorbedInto: survivor)
        }
        for (old, id) in names where absorbed[old] == nil {
            if let object = registry.object(for: old) { rename(object, id) }
        }
        for object in registry.objects {
            object.renameReferences(all)
            guard let rarer = object.rarer else { continue }
            for index in rarer.toMany.keys { rarer.toMany[index]?.rename(all) }
            if unloadsMembers { object.unloadMembers() }
        }
        event.rename(all)
        told?.rename(all)
        renameTransients(all)
        prefetched = nil
        revision += 1
        // What is read beside the context just now goes by other ids.
        saves += 1
    }
}

extension ManagedObject {
    /// References to objects that have other ids lead to those.
    fileprivate func renameReferences(_ names: [ObjectID: ObjectID]) {
        guard layout.pointee.hasReferences else { return }
        let columns = (0..<layout.pointee.columns).filter {
            layout.pointee.kinds[$0] == .reference
        }
        if let slots = ownSlots {
            for column in columns where slots.isSet(column) {
                if let new = slots.value(column, scope).reference.flatMap({ names[$0] }) {
                    // Who has noted the object by a key with the old id finds it by the new one.
                    noteKeyChange()
                    slots.set(column, .objectID(new))
                }
            }
        }
        guard let cells else { return }
        func value(_ column: Int) -> Value {
            cells.value(column, of: entity, in: scope.registry.identity)
        }
        let isAny = columns.contains { value($0).reference.flatMap { names[$0] } != nil }
        guard isAny else { return }
        noteKeyChange()
        var builder = RowCellsBuilder(columns: entity.columns.count)
        for column in entity.columns.indices {
            let old = value(column)
            let new = old.reference.flatMap { names[$0] }.map(Value.objectID) ?? old
            if new != .null { scope.registry.put(new, column, into: &builder) }
        }
        self.cells = builder.finish()
    }
}
