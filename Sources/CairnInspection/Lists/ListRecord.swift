// One record of a list: its cells as text, before their types are known.

/// A record of a list. It is refilled for each record, so that a record costs no allocation.
package struct ListRecord: Sendable {
    /// The content of a cell.
    package enum Kind: UInt8, Sendable {
        /// Nothing: JSON's null, or an empty cell of CSV.
        case null
        /// JSON's false and true.
        case no, yes
        /// A number of JSON, as it is written.
        case number
        /// A string of JSON.
        case string
        /// A cell of CSV, where everything is a string.
        case text
        /// A JSON object or array, as compact JSON.
        case nested
    }
    /// One cell.
    package struct Cell: Sendable {
        /// The field's index in the `FieldTable`.
        package let field: Int
        package let kind: Kind
        /// The range of its text in `bytes`.
        package let range: Range<Int>
        /// The line of the cell.
        package let line: Int
    }

    /// The number of the record in the list, from 1.
    package var number = 0
    /// The line where it begins.
    package var line = 0
    /// The cells, in the order of the list.
    package private(set) var cells: [Cell] = []
    /// The text of all cells.
    package var bytes: [UInt8] = []

    package init() {}

    /// Discards the cells and begins the next record.
    package mutating func begin(line: Int) {
        number += 1
        self.line = line
        cells.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a cell; its text is everything appended to `bytes` since `start`.
    package mutating func add(_ field: Int, _ kind: Kind, from start: Int, line: Int) {
        cells.append(Cell(field: field, kind: kind, range: start..<bytes.count, line: line))
    }

    /// Adds a cell; its text is everything appended to `bytes` since `start`. A cell with one of these
    /// strings is null.
    package mutating func add(
        _ field: Int, _ kind: Kind, from start: Int, line: Int, nulls: [[UInt8]]
    ) {
        let count = bytes.count - start
        guard nulls.contains(where: { $0.count == count && bytes[start...].elementsEqual($0) })
        else {
            return add(field, kind, from: start, line: line)
        }
        bytes.removeSubrange(start...)
        add(field, .null, from: start, line: line)
    }

    /// Returns the text of a cell.
    package func text(_ cell: Cell) -> String {
        switch cell.kind {
        case .null: "null"
        case .no: "false"
        case .yes: "true"
        case .number, .string, .text, .nested:
            String(decoding: bytes[cell.range], as: UTF8.self)
        }
    }
}

/// Reads the records of a list in order.
package protocol ListReader: AnyObject {
    /// The fields found so far.
    var fields: FieldTable { get }
    /// The number of bytes read from the list.
    var byteCount: Int { get }
    /// Fills the next record; returns false if none is left.
    func next(_ record: inout ListRecord) throws(ListError) -> Bool
}
