// The commonest questions, about one object, asked of its store alone: a state of all stores takes longer than their answers.
//
// Nil, or false, is no answer: the store has no such way, is not there any more, or fails. Then the question is asked of a
// snapshot, which says what is wrong.
//
// Threads: any.

import CairnModel
import CairnStore
import FoundationEssentials

extension PersistentStoreCoordinator {
    /// The newest row of an object; nil in the answer if there is none.
    ///
    /// - Parameter entity: an entity of its hierarchy.
    func row(of id: ObjectID, _ entity: SchemaEntity) -> Row?? {
        guard let (attached, store) = keyedStore(of: id, entity) else { return nil }
        do throws(StoreError) {
            guard let row = try store.row(id.reference, entity: entity.index) else {
                return .some(nil)
            }
            return moved(
                Row(id: id, entity: row.entity, version: row.version, cells: row.cells),
                from: attached)
        } catch {
            return nil
        }
    }

    /// The newest row whose property equals a value.
    func find(
        _ comparison: PredicateNode.Comparison, entity: SchemaEntity, includesSubentities: Bool
    ) -> FoundRow? {
        let family = includesSubentities ? entity.family : [entity.index]
        let concerned = attached.filter { store in family.contains { store.entities[$0] } }
        guard concerned.count == 1, let store = concerned[0].keyedStore else { return nil }
        do throws(StoreError) {
            let found = try store.find(
                comparison, entity: entity.index, includesSubentities: includesSubentities)
            guard case .row(let row) = found else { return found }
            let number = concerned[0].number
            return .row(
                StreamedRow(
                    entity: row.entity, reference: UInt64(number) << 32 | row.reference,
                    version: row.version,
                    cells: row.cells.moved(
                        to: number, references[row.entity],
                        columns: schema.entities[row.entity].columns.count)))
        } catch {
            return nil
        }
    }

    /// Passes the newest rows of the members of an object's to-many relationship; whether it did.
    ///
    /// - Parameters:
    ///   - most: the maximum number of members. If there are more, nothing is read.
    ///   - room: the buffer for the rows.
    /// - Throws: As `KeyedStore.related`.
    func readRelated(
        _ relationship: Int, of owner: ObjectID, _ entity: SchemaEntity, most: Int, _ room: RowRoom,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) -> Bool {
        guard let (attached, store) = keyedStore(of: owner, entity) else { return false }
        do throws(StoreError) {
            return try store.related(
                relationship, entity: entity.index, owner: owner.reference, most: most, room
            ) { rows in
                rows.move(to: attached.number, references[rows.entity])
                body(rows)
            }
        } catch {
            // It was removed and closed meanwhile, and has passed nothing.
            if error.code == .unusable { return false }
            throw error
        }
    }

    /// The store of an object, if it finds one at once.
    private func keyedStore(of id: ObjectID, _ entity: SchemaEntity)
        -> (CoordinatedStore, any KeyedStore)?
    {
        guard !id.isTemporary, let attached = store(id.store), let store = attached.keyedStore,
            attached.identity.owns(id, entity: entity.index)
        else { return nil }
        return (attached, store)
    }

    private func moved(_ row: Row, from store: CoordinatedStore) -> Row {
        row.moved(to: store.number, references, in: schema)
    }
}
