// Rejects merging an object into one of another entity that could not keep all of its values: see
// `ConflictRules+Entities`.
//
// The object's own values are checked when it is merged; references to it are checked when they are
// redirected to the survivor.

import CairnModel
import CairnStore

extension SavePlanner {
    /// Throws if an object to be merged into another one has data that the other cannot keep.
    mutating func refuseLoss(of loser: Int, in survivor: Int, _ unique: Int) throws(StoreError) {
        let schema = catalog.schema
        let entity = schema.entities[rows[loser].entity]
        let other = schema.entities[rows[survivor].entity]
        if other.isKind(of: entity) { return }
        unlikeMerges[loser] = unique
        let isNew = rows[loser].kind == .inserted
        guard
            let column = ConflictRules.lostColumn(
                of: entity, values: rows[loser].values,
                assigned: isNew ? rows[loser].assigned : nil,
                in: other, schema)
        else { return }
        throw unlike(loser, survivor, unique, .property(entity.columns[column].name))
    }

    /// Returns the error of a reference that cannot refer to the object that its target was merged into; nil
    /// if it could not refer to the target itself either.
    ///
    /// - Parameter target: the working row of its target.
    @inline(never)
    func lostReference(to target: Int, entity: String, key: String) -> StoreError? {
        var index = target
        while case .absorbed(let next) = rows[index].fate {
            if let unique = unlikeMerges[index] {
                return unlike(index, next, unique, .reference(entity: entity, key: key))
            }
            index = next
        }
        return nil
    }

    private func unlike(
        _ loser: Int, _ survivor: Int, _ unique: Int, _ loss: UnlikeObjects.Loss
    ) -> StoreError {
        let constraint = catalog.uniques[unique]
        let values = constraint.columns.map { rows[survivor].values[$0] }
        let isMet = rows[survivor].kind == .met
        let objects = isMet ? [loser] : [survivor, loser]
        let violation = ConstraintViolation(
            entity: constraint.entity, entityName: catalog.entities[constraint.entity].name,
            constraint: constraint.names, values: values,
            stored: isMet ? row(of: rows[survivor]) : nil, objects: objects.map { rows[$0].id },
            options: constraint.form.rule?.rule)
        // The overwrite policy, too, merges one of two new objects into the other.
        let areNew = rows[loser].kind == .inserted && rows[survivor].kind == .inserted
        func member(_ index: Int) -> UnlikeObjects.Member {
            UnlikeObjects.Member(rows[index].id, catalog.schema.entities[rows[index].entity])
        }
        return UnlikeObjects(
            given: member(loser), kept: member(survivor), constraint: constraint.names,
            values: values
        ).error(
            loss, advice: areNew ? .otherKey : .otherKeyOrOverwriting,
            conflicts: [.constraint(violation)])
    }
}
