// References that a save found elsewhere than the context had them, since somebody else's were merged in.
//
// Nobody has told the other ends in this context: after the save their members are read again, and ends that
// are to-one become faults.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// What has moved since the last save.
struct ReferenceMoves {
    var areThere = false
    /// The other ends of one-to-one relationships, old and new.
    var ends: Set<ObjectID> = []
}

extension ManagedObjectContext {
    /// Notes which references of a stored object a newer row leads elsewhere. To be called before the object gets
    /// the row.
    func noteMoves(
        of object: ManagedObject, by row: Row?, _ permanentIDs: [ObjectID: ObjectID] = [:]
    ) {
        guard let row, object.hasRow else { return }
        for relationship in object.entity.relationships {
            guard case .column(let column) = relationship.storage,
                let inverse = relationship.inverse
            else { continue }
            let shown = object.presentValue(column).reference.map { permanentIDs[$0] ?? $0 }
            let stored = row.cells.value(column, of: object.entity, in: identity).reference
            guard shown != stored else { continue }
            moves.areThere = true
            let back = schema.entities[relationship.destination].relationships[inverse]
            guard case .column = back.storage else { continue }
            for end in [shown, stored, object.baseValue(column).reference] {
                if let end { moves.ends.insert(end) }
            }
        }
    }
}
