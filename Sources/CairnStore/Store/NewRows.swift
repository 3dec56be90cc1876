// New objects to be written to a store, column by column, without creating values for cells.
//
//   1. The object layer says how many there are of which entity, in the order of their creation.
//   2. The store numbers them, then asks for their rows, a batch at a time.
//   3. If anything stands against them, it writes nothing and says so; the object layer then asks for the same by
//      `save(_:)`, which tells what it is or resolves it.
//
// Threads: the store asks in the thread that it was asked in.

import CairnModel

/// A store that can insert new objects as columns.
package protocol ColumnStore: PersistentStore {
    /// Inserts new objects atomically, each as a new row with version 1 or merged into the stored object that has its key,
    /// if there are no other obstacles.
    ///
    /// - Returns: nil if there are: a key that exists and cannot be merged in this simple way, a required property that is
    ///   nil, or a reference to an object that does not exist. In that case nothing was written.
    /// - Throws: `StoreError` if writing to the store failed.
    func insert(
        _ rows: inout some NewRowSource, merging: NewRowMerging, author: String?,
        contextName: String?
    ) throws(StoreError) -> NewNumbers?
}

/// What becomes of a new object whose key a stored one has.
package enum NewRowMerging: Sendable {
    /// It prevents the save.
    case none
    /// The stored object gets its values.
    case givesValues
    /// It is dropped.
    case isDropped
}

/// What gives the rows of new objects.
package protocol NewRowSource {
    /// The new objects of each entity.
    var groups: [NewObjects] { get }

    /// Fills rows of a group into an empty batch, from the object at `start` of the group on, until the batch is full or the
    /// group at its end. Every cell is set or nil.
    ///
    /// - Returns: false if a row leads to an object that has no number.
    mutating func fill(_ batch: ColumnBatch, group: Int, from start: Int, _ numbers: NewNumbers)
        -> Bool
}

/// The new objects of one entity.
package struct NewObjects {
    /// The entity, as an index of the schema.
    package let entity: Int
    /// Their places among all new objects, ascending.
    package var positions: [Int32]

    package init(entity: Int, positions: [Int32] = []) {
        self.entity = entity
        self.positions = positions
    }
}

/// The numbers of new objects, and of those that took their place.
package struct NewNumbers: Sendable {
    /// By place among all new objects.
    package let numbers: [UInt32]
    /// By place: 0 for an object that is new, else the version of the stored one that has the number. Empty if all are new.
    package let versions: [UInt32]
    /// The number of the commit; nil as long as there is none.
    package var commit: UInt64?
    /// What stands for the store in references; 0 without a coordinator. Stores leave it alone.
    package var store: UInt32 = 0

    package init(_ numbers: [UInt32], versions: [UInt32] = []) {
        self.numbers = numbers
        self.versions = versions
    }

    /// The number of the object at a place, as its store knows it.
    package subscript(_ position: Int) -> UInt32 { numbers[position] }

    /// The number of the object at a place, as references have it.
    package func reference(at position: Int) -> UInt64 {
        UInt64(store) << 32 | UInt64(numbers[position])
    }

    /// Whether the object at a place was merged into a stored one.
    package func isMerged(_ position: Int) -> Bool {
        !versions.isEmpty && versions[position] != 0
    }
}

extension ColumnBatch {
    /// Whether no more rows should come.
    package var isFull: Bool { rows == Self.capacity || isLarge }
}
