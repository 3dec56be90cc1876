package import CairnModel

/// A row in the newest state.
package struct StoredRow {
    let handle: BlockHandle
    let slot: Int
    let version: UInt32
    /// Its values, by column.
    package let values: [Value]
    /// Its order keys, by place among those of the entity; empty if the entity has none.
    var keys: [Int64?] = []
}
