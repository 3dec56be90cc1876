// Rows of a snapshot, passed as the store reads them, in the form that objects keep.

/// What passes rows as soon as it has read them: a snapshot, or something in front of it.
package protocol RowStream: Sendable {
    /// Passes the rows that match in batches, in an order that is up to the store. Sort keys, limit and offset are ignored.
    ///
    /// - Throws: As `fetch`.
    func streamRows(_ request: StoreFetch, _ body: (StreamedRows) -> Void) throws(StoreError)

    /// Passes the rows that match in the request's sort order, within its limit and offset.
    ///
    /// - Throws: As `fetch`.
    func streamRowsInOrder(_ request: StoreFetch, _ body: (StreamedRows) -> Void)
        throws(StoreError)

    /// The number of rows that match, within the request's limit and offset.
    ///
    /// - Throws: As `fetch`.
    func count(_ request: StoreFetch) throws(StoreError) -> Int
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
