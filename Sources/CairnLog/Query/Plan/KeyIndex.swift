// A uniqueness constraint of one column, as used by fetches: by equality, or by a list of keys.
//
// It only takes the simple cases, strings for a string column and integers for an integer column; everything
// else is left to `FetchRunner`, and so is an invalid predicate, which then throws its error.
//
// Threads: a value; nothing is kept.

import CairnFormat
import CairnModel
import CairnStore

struct KeyIndex {
    let unique: Int
    let column: Int
    let tree: Int
    private let isText: Bool

    /// The constraint for a comparison; nil if there is none, or its values have another type.
    init?(_ comparison: PredicateNode.Comparison, entity: Int, catalog: Catalog) {
        // Matched in place, without a copy: every lookup of an object by key gets here.
        guard case .keyPath(let name) = comparison.left, comparison.modifier == .direct,
            comparison.options.isEmpty,
            let unique = catalog.entities[entity].uniques.first(where: {
                catalog.uniques[$0].isPlain && catalog.uniques[$0].names.count == 1
                    && catalog.uniques[$0].names[0] == name
            })
        else { return nil }
        self.unique = unique
        column = catalog.uniques[unique].columns[0]
        tree = catalog.entities[entity].tree
        switch catalog.description(of: entity).columns[column].kind {
        case .attribute(.string): isText = true
        case .attribute(.integer16), .attribute(.integer32), .attribute(.integer64): isText = false
        default: return nil
        }
        switch comparison.right {
        case .constant(let value): guard accepts(value) else { return nil }
        case .list(let values): guard values.allSatisfy(accepts) else { return nil }
        default: return nil
        }
    }

    /// Whether a value is a simple case.
    private func accepts(_ value: Value) -> Bool {
        switch value {
        case .null: true
        case .string: isText
        case .integer: !isText
        default: false
        }
    }

    /// Finds the row that has a key, and its block.
    ///
    /// - Parameter block: returns the block of a handle, and its entity; nil if that entity was not
    ///   requested.
    @inline(__always)
    func find(
        _ key: borrowing KeyBuffer, _ index: UniqueIndex, _ directory: RowDirectory, seed: UInt64,
        _ catalog: Catalog,
        _ block: (DirectoryCell) throws(StoreError) -> (block: CachedBlock, entity: Int)?
    ) throws(StoreError) -> (hit: RowHit, block: CachedBlock)? {
        var cursor = index.firstCandidate(hash: key.hash(seed: seed))
        while let number = cursor.next() {
            let cell = directory[number]
            guard !cell.isEmpty, let (block, entity) = try block(cell) else { continue }
            let stored = catalog.entities[entity].columns[column]
            if try hasKey(try block.reader(stored, at: column), cell.slot, block, key) {
                return (RowHit(number: number, cell: cell, entity: entity), block)
            }
        }
        return nil
    }

    private func hasKey(
        _ cells: CellReader, _ slot: Int, _ block: CachedBlock, _ key: borrowing KeyBuffer
    ) throws(StoreError) -> Bool {
        if cells.isNil(slot) { return false }
        guard isText else {
            return key.bytes.loadUnaligned(as: Int64.self) == cells.integer(slot)
        }
        return try block.hasBytes(cells, slot, key.bytes)
    }
}
