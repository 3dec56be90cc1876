// What changed in an object in the run of edits that is under way, or that is being told of.

import CairnModel
import CairnStore

extension ManagedObjectMembers where Self: ManagedObject {
    /// The properties that changed since pending changes were last processed, with their previous values, so that an
    /// observer of ``ManagedObjectContext/didChangeObjectsNotification`` can see what changed.
    ///
    /// A property that was nil is included, without a value. So is every property that was set on an object inserted
    /// since then. Related objects are included as objects. Transient properties and primitive values are not included.
    ///
    /// - Complexity: O(1) in the objects of the context. For a to-many relationship that changed without having been
    ///   read, the members are read.
    public func changedValuesForCurrentEvent() -> [String: Any?] {
        guard let context = managedObjectContext, changedIndex >= 0 else { return [:] }
        if let told = context.told {
            if let earlier = told.earlier(self) { return changes(since: earlier, context) }
            if changedIndex >= context.changed.toldStart,
                changedIndex < context.changed.eventStart
            {
                return changes(since: nil, context)
            }
        }
        if let earlier = context.event.earlier(self) { return changes(since: earlier, context) }
        if changedIndex >= context.changed.eventStart { return changes(since: nil, context) }
        return [:]
    }
}

extension ManagedObject {
    /// What differs from an earlier state, with the values of that; nil if the object had no changes then, or was not there.
    fileprivate final func changes(since earlier: EarlierState?, _ context: ManagedObjectContext)
        -> [String: Any?]
    {
        let isNew = isInserted && !isRecreated && earlier == nil
        var values: [String: Any?] = [:]
        for (index, column) in entity.columns.enumerated() where !untracked.contains(index) {
            if isNew {
                if hasEdit(index) { values.updateValue(nil, forKey: column.name) }
                continue
            }
            let old = earlier?.value(index, of: self) ?? baseValue(index)
            if old == presentValue(index) { continue }
            guard let relationship = column.relationship else {
                values.updateValue(readable(old).any, forKey: column.name)
                continue
            }
            let ids = old.reference.map { [$0] } ?? []
            values.updateValue(related(ids, relationship, context).first, forKey: column.name)
        }
        for (index, state) in toMany where !isTransient(index) {
            let isOrdered = entity.relationships[index].description.isOrdered
            let before = earlier?.toMany[index] ?? ToManyState(isOrdered: isOrdered)
            guard
                state.added != before.added || state.removed != before.removed
                    || !state.hasSameOrder(as: before)
            else { continue }
            let name = entity.relationships[index].description.name
            if isNew {
                values.updateValue(nil, forKey: name)
                continue
            }
            if isOrdered {
                if let old = earlierOrder(index, before, context) {
                    values.updateValue(related(old, index, context), forKey: name)
                }
                continue
            }
            let now = Set(context.memberIDs(of: self, index))
            // Reading the members may have found that some of this is no change.
            guard let state = toMany[index] else { continue }
            let stored = now.subtracting(state.added).union(state.removed)
            let old = stored.subtracting(before.removed).union(before.added)
            if old == now { continue }
            values.updateValue(Set(related(Array(old), index, context)), forKey: name)
        }
        return values
    }

    /// The order in which members stood before; nil if it is what it was.
    private final func earlierOrder(
        _ index: Int, _ before: ToManyState, _ context: ManagedObjectContext
    ) -> [ObjectID]? {
        let now = context.memberIDs(of: self, index)
        var before = before
        if !before.isLoaded, let base = toMany[index]?.order?.base { before.load(ordered: base) }
        let old = before.inOrder()
        return old == now ? nil : old
    }

    /// The objects that a relationship led to, but for new ones that never came to be.
    private final func related(
        _ ids: [ObjectID], _ relationship: Int, _ context: ManagedObjectContext
    ) -> [ManagedObject] {
        let root = context.schema.entities[entity.relationships[relationship].destination]
        let known = ids.filter {
            !$0.isTemporary || context.parent != nil || context.registry.object(for: $0) != nil
        }
        return context.objects(with: known, under: root)
    }
}
