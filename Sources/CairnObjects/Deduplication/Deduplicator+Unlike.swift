// Refuses to delete a duplicate in favour of an object of another entity that cannot keep all of it: as a save refuses to merge
// the two, see `ConflictRules+Entities`. What of properties of one name is taken over is the rule's business.

import CairnModel
import CairnStore

extension Deduplicator {
    private static let maximumErrors = 100

    /// - Throws: `StoreError` with `.constraintConflict` if objects would lose something; several in its details.
    func refuseLosses(_ groups: [Group]) throws(StoreError) {
        var errors: [StoreError] = []
        var count = 0
        var references: OneWayReferences?
        for group in groups {
            let winner = group.members[0]
            for loser in group.members.dropFirst() where !winner.entity.isKind(of: loser.entity) {
                guard let loss = loss(of: loser, in: winner.entity, &references) else { continue }
                count += 1
                guard errors.count < Self.maximumErrors else { continue }
                errors.append(
                    UnlikeObjects(
                        given: .init(loser.objectID, loser.entity),
                        kept: .init(winner.objectID, winner.entity), constraint: request.keys,
                        values: group.key
                    ).error(
                        loss, advice: .otherKeyOrStaying))
            }
        }
        if count == 0 { return }
        if count == 1 { throw errors[0] }
        throw StoreError(
            .constraintConflict,
            "\(count) duplicates belong to other entities than the surviving objects, which cannot hold all their values",
            context: .init(entity: entity.name, key: request.keys.joined(separator: ", ")),
            details: errors)
    }

    private func loss(
        of loser: ManagedObject, in survivor: SchemaEntity, _ references: inout OneWayReferences?
    ) -> UnlikeObjects.Loss? {
        for (column, description) in loser.entity.columns.enumerated() {
            if survivor.columnIndex(named: description.name) != nil || description.isDerived {
                continue
            }
            let value = loser.baseValue(column)
            if !value.isNull, value != description.defaultValue {
                return .property(description.name)
            }
        }
        for (index, relationship) in loser.entity.relationships.enumerated()
        where relationship.description.isToMany {
            let name = relationship.description.name
            if survivor.relationshipIndex(named: name) != nil { continue }
            if context.members(of: loser, index).contains(where: { !$0.isGone }) {
                return .property(name)
            }
        }
        if context.oneWays(to: loser.entity).isEmpty { return nil }
        var all = references ?? OneWayReferences(context)
        defer { references = all }
        for (_, way) in all.take(to: loser, in: context, includingPairs: true)
        where !survivor.isKind(of: context.schema.entities[way.relationship.destination]) {
            return .reference(entity: way.entity.name, key: way.relationship.description.name)
        }
        return nil
    }
}
