// Rows of a snapshot, handed over as the store comes to them in the form that objects keep.

/// A snapshot that hands rows over as it comes to them.
package protocol RowStream: StoreSnapshot {
    /// Hands over the rows that match, some at a time, in an order that the store chooses. Sort keys, limit and offset are
    /// not respected.
    ///
    /// - Throws: As `fetch`.
    func streamRows(_ request: StoreFetch, _ body: (StreamedRows) -> Void) throws(StoreError)

    /// Hands over the rows that match in the order that the request asks for, within its limit and offset.
    ///
    /// - Throws: As `fetch`.
    func streamRowsInOrder(_ request: StoreFetch, _ body: (StreamedRows) -> Void)
        throws(StoreError)
}

/// One row on its way to an object.
package struct StreamedRow {
    /// Its entity, as an index of the schema.
    package let entity: Int
    /// The object's number.
    package let reference: UInt64
    /// Its version.
    package let version: UInt32
    /// Its values.
    package let cells: RowCells

    package init(entity: Int, reference: UInt64, version: UInt32, cells: RowCells) {
        self.entity = entity
        self.reference = reference
        self.version = version
        self.cells = cells
    }
}
