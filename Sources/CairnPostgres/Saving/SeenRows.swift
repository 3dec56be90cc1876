// Rows that a save has seen, as a substitute for the server's: a row with the same version has the same values.
//
//   1. A save that changes nothing but attributes without a key needs the rows of its objects alone, and it has those that its
//      changes were made against.
//   2. The engine decides on these. What it has changed is written by the round trip that begins the transaction: each row only
//      if it has the version that was seen.
//   3. If one has not, or if the engine needs more than that, the transaction is given up, and the save is carried out on the
//      rows of the server.
//
// So such a save neither reads nor locks rows before it writes them, and means the same. It locks them in the order in which the
// server finds them: another save may wait for it the other way round. The server ends one of the two, and that is tried again
// on the rows of the server, which are locked by their numbers.
//
// Threads: functions of values only.

import CairnLog
import CairnModel
import CairnStore

enum SeenRows {
    /// The rows of everything that a save needs; nil if some of them have not been seen.
    static func rows(
        of request: SaveRequest, _ needs: PartialKnowledge.Needs, _ schema: Schema,
        _ identity: StoreIdentity
    ) -> [PartialStore.PlacedRow]? {
        guard !request.updated.isEmpty,
            request.inserted.isEmpty, request.deleted.isEmpty, request.redirects.isEmpty,
            request.locked.isEmpty, request.pairChanges.isEmpty, request.orderChanges.isEmpty,
            !request.hasStagedValues, needs.keys.isEmpty, needs.references.isEmpty,
            needs.numbers.isEmpty,
            needs.rows.values.reduce(0, { $0 + $1.count })
                == request.updated.count,
            // Derived values change with what is elsewhere.
            schema.derivations.isEmpty
        else { return nil }
        var rows: [PartialStore.PlacedRow] = []
        rows.reserveCapacity(request.updated.count)
        for object in request.updated {
            guard schema.entities.indices.contains(object.entity),
                object.base.entity == object.entity, object.base.id == object.id,
                let number = UInt32(exactly: object.id.reference)
            else { return nil }
            let entity = schema.entities[object.entity]
            // Places in lists, and who takes part in a constraint, are not told by what has changed.
            guard schema.orderedReferences[entity.index].isEmpty,
                entity.constraints.allSatisfy({ $0.options == nil }),
                object.changes.allSatisfy({ change in
                    entity.columns.indices.contains(change.column)
                        && entity.columns[change.column].relationship == nil
                        // A key that is only given up is none of the needs, and is written without a look at the version.
                        && !entity.constraints.contains { $0.columns.contains(change.column) }
                })
            else { return nil }
            rows.append(
                PartialStore.PlacedRow(
                    entity: entity.index, number: number, version: object.base.version,
                    values: entity.columns.indices.map {
                        object.base.cells.value($0, of: entity, in: identity)
                    }, places: []))
        }
        return rows
    }
}

extension PartialStore.Changes {
    /// Whether they are new values of so many rows, each in its next version, and nothing else.
    func areValues(of count: Int) -> Bool {
        updated.count == count && inserted.isEmpty && deleted.isEmpty && addedPairs.isEmpty
            && removedPairs.isEmpty && movedPairs.isEmpty && redirects.isEmpty
            && updated.allSatisfy { $0.row.version == $0.old.version &+ 1 }
    }
}

/// Rows that a save has seen are not those of the server, or are not enough.
struct OtherRows: Error {}
