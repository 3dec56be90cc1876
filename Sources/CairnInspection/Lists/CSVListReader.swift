// Reads comma-separated values with a header.                                          RFC 4180
//
// A delimiter other than the comma can be specified; everything else is the same.
//
//   1. The first line names the fields. Names are not empty, and distinct.
//   2. A cell that begins with a quote ends with one; two quotes inside are one. Other cells contain no
//      quote. Line feeds, and carriage returns before them, end a row outside quotes.
//   3. Every row has the same number of cells as the header. Empty lines are skipped.
//
// An empty cell, quoted or not, is null; and so is a cell with a string that was specified to mean null.
// Everything else is a string, including its spaces.
// Threads: one reader.

/// Reads CSV lists.
package final class CSVListReader: ListReader {
    package let fields: FieldTable
    private var bytes: ListBytes
    private var columns: [Int] = []
    private var hasHeader = false
    private let delimiter: UInt8
    private let isDelimiterSaid: Bool
    private let nulls: [[UInt8]]
    private let hasNulls: Bool
    /// The bytes that end a cell without quotes.
    private let plainStops: ByteSet

    private static let quotedStops = ByteSet(lineEndsAnd: "\"")

    /// Reads a list from its beginning, with this delimiter and these strings for nil.
    ///
    /// Unless the user specified the delimiter, a header that seems to have another one is rejected.
    package init(
        _ stream: any ByteStream, fields: FieldTable, delimiter: UInt8 = UInt8(ascii: ","),
        isDelimiterSaid: Bool = false, nulls: [[UInt8]] = [],
        capacity: Int = ListBytes.usualCapacity
    ) {
        self.delimiter = delimiter
        self.isDelimiterSaid = isDelimiterSaid
        self.nulls = nulls
        hasNulls = !nulls.isEmpty
        plainStops = ByteSet(lineEndsAnd: Unicode.Scalar(delimiter), "\"")
        bytes = ListBytes(stream, capacity: capacity)
        self.fields = fields
    }

    package var byteCount: Int { bytes.count }

    package func next(_ record: inout ListRecord) throws(ListError) -> Bool {
        if !hasHeader { try readHeader() }
        while true {
            guard try bytes.peek() != nil else { return false }
            let line = bytes.line
            if try takeLineEnd() { continue }
            record.begin(line: line)
            var count = 0
            while true {
                let start = record.bytes.count
                let cellLine = bytes.line
                try takeCell(into: &record.bytes)
                if count < columns.count {
                    let field = columns[count]
                    if fields.uses[field] == .dropped {
                        record.bytes.removeSubrange(start...)
                    } else {
                        let isEmpty = record.bytes.count == start
                        if hasNulls, !isEmpty {
                            record.add(
                                field, .text, from: start, line: cellLine, nulls: nulls)
                        } else {
                            record.add(
                                field, isEmpty ? .null : .text, from: start, line: cellLine)
                        }
                    }
                }
                count += 1
                if try !bytes.take(delimiter) { break }
            }
            guard count == columns.count else {
                throw ListError(
                    "the row has \(count) cells, but the header has \(columns.count) fields",
                    line: line, record: record.number)
            }
            _ = try takeLineEnd()
            return true
        }
    }

    private func readHeader() throws(ListError) {
        hasHeader = true
        try bytes.takeByteOrderMark()
        guard try bytes.peek() != nil else {
            throw bytes.error("there is no header: the first line must name the fields")
        }
        let line = bytes.line
        var names: Set<[UInt8]> = []
        repeat {
            var name: [UInt8] = []
            let place = bytes.error("")
            try takeCell(into: &name)
            let text = String(decoding: name, as: UTF8.self)
            guard !name.isEmpty else {
                throw ListError(
                    "field \(columns.count + 1) of the header has no name", line: line,
                    column: place.column)
            }
            guard names.insert(name).inserted else {
                throw ListError(
                    "the header contains \(text) twice", line: line, column: place.column)
            }
            columns.append(fields.index(name, parent: nil, after: columns.last))
        } while try bytes.take(delimiter)
        if !isDelimiterSaid, columns.count == 1, let only = names.first {
            for (separator, what) in [
                (UInt8(ascii: ";"), "semicolons"), (0x09, "tabs"), (UInt8(ascii: ","), "commas"),
                (UInt8(ascii: "|"), "pipes"),
            ] where separator != delimiter && only.contains(separator) {
                throw ListError(
                    "the header has \(what) between its names: if that is the delimiter, use"
                        + " --delimiter \(ListOptions.name(ofDelimiter: separator))",
                    line: line)
            }
        }
        _ = try takeLineEnd()
    }

    /// Reads the text of a cell up to the delimiter or line end, which it does not consume.
    private func takeCell(into text: inout [UInt8]) throws(ListError) {
        guard try bytes.take(UInt8(ascii: "\"")) else {
            try bytes.copyText(into: &text, until: plainStops)
            if try bytes.peek() == UInt8(ascii: "\"") {
                throw bytes.error(
                    "a quote inside an unquoted cell: quote the cell, and double the quotes inside"
                )
            }
            return
        }
        let open = ListError(
            "the quote is never closed", line: bytes.line, column: bytes.column - 1)
        while true {
            try bytes.copyText(into: &text, until: Self.quotedStops)
            guard let byte = try bytes.peek() else { throw open }
            guard text.count <= ListBytes.longestRecord else { throw open }
            switch byte {
            case 0x0A:
                text.append(byte)
                bytes.takeLineFeed()
            case 0x0D:
                text.append(byte)
                bytes.advance()
            default:
                bytes.advance()
                guard try bytes.take(UInt8(ascii: "\"")) else { return try requireCellEnd() }
                text.append(UInt8(ascii: "\""))
            }
        }
    }

    /// Checks the byte after a closing quote.
    private func requireCellEnd() throws(ListError) {
        switch try bytes.peek() {
        case nil, delimiter, 0x0A, 0x0D: return
        default:
            let what = delimiter == UInt8(ascii: ",") ? "comma" : "delimiter"
            throw bytes.error("expected a \(what) or the end of the line after the cell")
        }
    }

    /// Consumes the end of a line, if there is one here.
    private func takeLineEnd() throws(ListError) -> Bool {
        if try bytes.take(0x0D) {
            guard try bytes.peek() == 0x0A else {
                throw bytes.error("a carriage return without a line feed outside of quotes")
            }
        }
        guard try bytes.peek() == 0x0A else { return false }
        bytes.takeLineFeed()
        return true
    }
}
