// Gives the rows of a batch one after the other, whatever form they came in.

package import CairnModel

/// Fills one row after another.
package protocol RowFiller {
    /// Fills the next row; true if there was none left to fill.
    ///
    /// - Throws: `StoreError` naming row and key, or what the user's closure throws.
    mutating func fill(_ writer: borrowing RowWriter, row: Int) throws -> Bool
}

extension BatchInsertRequest {
    /// The rows of the request, to be filled into batches of the entity.
    package func makeFiller(for entity: SchemaEntity) throws(StoreError) -> any RowFiller {
        switch source {
        case .writer(let body): WriterFiller(body: body)
        case .dictionaries(let rows): DictionaryFiller(rows: rows, entity: entity)
        }
    }
}

/// Rows by a closure.
private struct WriterFiller: RowFiller {
    let body: @Sendable (borrowing RowWriter) throws -> Bool

    mutating func fill(_ writer: borrowing RowWriter, row: Int) throws -> Bool {
        try body(writer)
    }
}
