// One object of a save during planning.

import CairnModel
import CairnStore

/// An object that a save writes, or may have to write.
struct WorkingRow {
    /// The reason why the save loads it.
    enum Kind {
        /// It is new.
        case inserted
        /// The save changes it.
        case updated
        /// The save deletes it.
        case deleted
        /// It is not in the save, but in a conflict, or the save clears a reference in it.
        case met
    }
    /// The outcome.
    enum Fate: Equatable {
        /// It is written if it differs from the stored row.
        case live
        /// It is deleted, and all references to it are cleared.
        case deleted
        /// It is merged into another working row, or dropped in favor of it.
        case absorbed(into: Int)
    }

    let kind: Kind
    /// The id in the request; the permanent one for rows that the request does not name.
    let id: ObjectID
    /// The entity, as an index of the catalog.
    let entity: Int
    let number: UInt32
    /// Its values to be written, by column.
    var values: [Value]
    /// Columns that were set on a new object, or that differ from the base on an updated one.
    var assigned: ColumnSet
    /// Its order keys, by position among those of the entity; empty if it has none.
    var keys: [Int64?] = []
    /// The stored row; nil for new objects.
    var stored: StoredRow?
    /// The version that the deletion is based on; nil if the row was never read.
    var expectedVersion: UInt32?
    var fate = Fate.live
    /// Whether the policy reverted it to the stored values.
    var isReverted = false
    /// Whether the policy reverted its deletion.
    var isUndeleted = false
    /// Whether it received values that the caller has not seen.
    var isMerged = false

    /// Whether it must be written, if it is live.
    var isWritten: Bool {
        guard let stored else { return true }
        return values != stored.values || keys != stored.keys
    }
}
