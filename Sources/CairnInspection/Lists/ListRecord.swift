// One record of a list: its cells as text, before anything is known of types.

/// A record of a list. It is filled again and again, so that a record costs no allocation.
package struct ListRecord: Sendable {
    /// What a cell holds.
    package enum Kind: UInt8, Sendable {
        /// Nothing: JSON's null, or an empty cell of CSV.
        case null
        /// JSON's false and true.
        case no, yes
        /// A number of JSON, as it is written.
        case number
        /// A string of JSON.
        case string
        /// A cell of CSV, where everything is text.
        case text
        /// A JSON object or array, as compact JSON.
        case nested
    }
    /// One cell.
    package struct Cell: Sendable {
        /// The field's index in the `FieldTable`.
        package let field: Int
        package let kind: Kind
        /// Where its text lies in `bytes`.
        package let range: Range<Int>
        /// The line it is on.
        package let line: Int
    }

    /// Which record of the list it is, from 1.
    package var number = 0
    /// The line it begins on.
    package var line = 0
    /// The cells, in the order of the list.
    package private(set) var cells: [Cell] = []
    /// The text of all cells.
    package var bytes: [UInt8] = []

    package init() {}

    /// Forgets the cells and begins the next record.
    package mutating func begin(line: Int) {
        number += 1
        self.line = line
        cells.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds a cell whose text is what was appended to `bytes` since `start`.
    package mutating func add(_ field: Int, _ kind: Kind, from start: Int, line: Int) {
        cells.append(Cell(field: field, kind: kind, range: start..<bytes.count, line: line))
    }

    /// Adds a cell whose text is what was appended to `bytes` since `start`; one without a value if the text is one of these.
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

    /// The text of a cell.
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

/// Gives the records of a list, one after the other.
package protocol ListReader: AnyObject {
    /// The fields met so far.
    var fields: FieldTable { get }
    /// How many bytes were taken from the list.
    var byteCount: Int { get }
    /// Fills the next record; false when there is none left.
    func next(_ record: inout ListRecord) throws(ListError) -> Bool
}
