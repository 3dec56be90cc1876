// What differs between two states of a dictionary store: by looking at all objects of both.

import CairnModel
import CairnStore

/// Two states, to be compared.
final class DictionaryDifference: ChangeSource {
    private let before: DictionaryState
    private let after: DictionaryState
    private let schema: Schema

    init(_ before: DictionaryState, _ after: DictionaryState, _ schema: Schema) {
        self.before = before
        self.after = after
        self.schema = schema
    }

    func changes() throws(StoreError) -> [EntityChanges] {
        var inserted: Set<ObjectID> = []
        var updated: Set<ObjectID> = []
        var deleted: Set<ObjectID> = []
        for (id, object) in after.objects {
            guard let old = before.objects[id] else {
                inserted.insert(id)
                continue
            }
            if old.version != object.version { updated.insert(id) }
        }
        for id in before.objects.keys where after.objects[id] == nil { deleted.insert(id) }
        for (old, new) in zip(before.pairs, after.pairs) {
            for pair in old.symmetricDifference(new) {
                for end in [pair.source, pair.destination]
                where before.objects[end] != nil && after.objects[end] != nil {
                    updated.insert(end)
                }
            }
        }
        return schema.entities.indices.compactMap { entity in
            func numbers(_ ids: Set<ObjectID>, in state: DictionaryState) -> ObjectNumbers {
                ObjectNumbers(
                    ids.filter { state.objects[$0]?.entity == entity }.map(\.reference))
            }
            var changes = EntityChanges(entity: entity)
            changes.inserted = numbers(inserted, in: after)
            changes.updated = numbers(updated, in: after)
            changes.deleted = numbers(deleted, in: before)
            return changes.isEmpty ? nil : changes
        }
    }
}
