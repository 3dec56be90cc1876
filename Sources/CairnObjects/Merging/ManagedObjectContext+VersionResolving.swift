// What the built-in policies do about an object that somebody else has changed, done to the object. What is deleted here and
// taken back comes with what its rules have deleted, and all leads to it again that does not lead elsewhere by now.
//
//                  changed here only   there only     both          deleted there     deleted here
//   store trump    kept                taken          theirs        deleted           taken back
//   object trump   kept                taken          ours          created again     goes through
//   overwrite      kept                undone         ours          created again     goes through
//   rollback       dropped             taken          theirs        deleted           taken back
//   declared       kept                taken          by the rule   as object trump, or as store trump if the entity's rule is that

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// - Parameter cascades: what cascade rules have deleted in the context, once somebody had to know.
    func resolve(
        _ conflict: MergeConflict, by policy: MergePolicy, _ cascades: inout Cascades?
    ) throws(StoreError) {
        let object = conflict.sourceObject
        guard object.managedObjectContext === self else { return }
        defer { if !object.isGone { object.awakeFromSnapshotEvents(.mergePolicy) } }
        revision += 1
        let keepsOurs = ConflictRules.keepsOurs(policy.mergeType, ofDeleted: object.entity)
        guard let stored = conflict.conflict.stored else {
            if keepsOurs { recreate(object) } else { vanish(object) }
            return
        }
        noteMoves(of: object, by: stored)
        noteRefreshed(object)
        // Others may have added some.
        object.unloadMembers()
        if object.isDeleted {
            if !keepsOurs {
                // With all that its delete rules have done to others.
                for other in takenBack(with: object, &cascades, isAlone: true)
                where other !== object {
                    noteRefreshed(other)
                }
                return object.yield(to: stored)
            }
            object.isFulfilled = true
            object.row = stored
            return
        }
        switch policy.mergeType {
        case .mergeByPropertyStoreTrump: yield(object, to: stored)
        case .overwrite: overwrite(stored, with: object)
        case .rollback: goBack(object, to: stored)
        case .declared: try mergeDeclared(object, with: stored)
        case .mergeByPropertyObjectTrump, .error: object.rebase(on: stored)
        }
    }

    /// Edits of what somebody else has changed too are dropped.
    private func yield(_ object: ManagedObject, to stored: Row) {
        guard let base = object.row else { return object.rebase(on: stored) }
        for column in object.editedColumns
        where !base.cells.isEqual(stored.cells, column: column, of: object.entity) {
            drop(object, column, stored)
        }
        object.rebase(on: stored)
    }

    /// Whether the model's rules can put together what a conflict is about, before anything is.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if a sum is greater than its type can hold.
    func checkDeclared(_ conflict: MergeConflict) throws(StoreError) {
        let object = conflict.sourceObject
        guard object.managedObjectContext === self, !object.isDeleted,
            let stored = conflict.conflict.stored, let base = object.row
        else { return }
        _ = try declaredValues(of: object, base, stored)
    }

    /// What the model's rules make of what is here and what is stored.
    private func declaredValues(
        of object: ManagedObject, _ base: Row, _ stored: Row
    ) throws(StoreError) -> (merged: [Value], ours: [Value], theirs: [Value], changed: ColumnSet) {
        let entity = object.entity
        func values(_ row: Row) -> [Value] {
            entity.columns.indices.map { row.cells.value($0, of: entity, in: identity) }
        }
        let (old, theirs) = (values(base), values(stored))
        let changed = ColumnSet(object.editedColumns)
        var ours = old
        for column in changed { ours[column] = object.presentValue(column) }
        let merged = try ConflictRules.declaredValues(
            entity, base: old, ours: ours, changed: changed, theirs: theirs)
        return (merged, ours, theirs, changed)
    }

    /// The object gets what the model's rules make of both.
    private func mergeDeclared(_ object: ManagedObject, with stored: Row) throws(StoreError) {
        guard let base = object.row else { return object.rebase(on: stored) }
        let (merged, ours, theirs, changed) = try declaredValues(of: object, base, stored)
        for (column, value) in merged.enumerated() {
            if value == theirs[column] {
                if changed.contains(column) { drop(object, column, stored) }
            } else if !changed.contains(column) || value != ours[column] {
                // Only attributes are put together.
                object.willChange(.column(column))
                object.setEdit(column, value)
                object.didChange(.column(column))
            }
        }
        object.rebase(on: stored)
    }

    /// An edit becomes what is stored; a relationship on both sides.
    private func drop(_ object: ManagedObject, _ column: Int, _ stored: Row) {
        let value = stored.cells.value(column, of: object.entity, in: identity)
        guard let index = object.entity.columns[column].relationship else {
            // It is no edit any more when the row is there. Until then nobody sees what was there before.
            object.willChange(.column(column))
            object.setEdit(column, value)
            object.didChange(.column(column))
            return
        }
        let root = schema.entities[object.entity.relationships[index].destination]
        let target = value.reference.map { objects(with: [$0], under: root)[0] }
        setTarget(of: object, index, target.flatMap { $0.isDeleted ? nil : $0 })
    }

    /// Everything is written as it is here.
    private func overwrite(_ stored: Row, with object: ManagedObject) {
        let values = object.entity.columns.indices.map { object.presentValue($0) }
        object.rebase(on: stored)
        for (column, value) in values.enumerated() where object.baseValue(column) != value {
            object.setEdit(column, value)
        }
    }

    /// The object becomes what is stored.
    func goBack(_ object: ManagedObject, to stored: Row) {
        for column in object.editedColumns { drop(object, column, stored) }
        object.rebase(on: stored)
        object.removeEdits()
        revision += 1
    }
}
