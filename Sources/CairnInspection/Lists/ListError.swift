// Errors in a list of records, and their positions.

/// An error in a list: in its bytes, or in the match of its records with an entity.
package struct ListError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem, as a sentence without a full stop.
    package let message: String
    /// The file, or another name of the list.
    package var source: String?
    /// The line, from 1.
    package let line: Int?
    /// The byte in the line, from 1.
    package let column: Int?
    /// The record, from 1.
    package let record: Int?
    /// The field, by the list's name.
    package let field: String?

    /// Creates an error at a position, as far as it is known.
    package init(
        _ message: String, source: String? = nil, line: Int? = nil, column: Int? = nil,
        record: Int? = nil, field: String? = nil
    ) {
        self.message = message
        self.source = source
        self.line = line
        self.column = column
        self.record = record
        self.field = field
    }

    /// The position, then the sentence, as compilers write it.
    package var description: String {
        var places: [String] = []
        if let source { places.append(source) }
        if let line {
            let position = column.map { "\(line):\($0)" } ?? "\(line)"
            if places.isEmpty {
                places.append("line \(position)")
            } else {
                places[0] += ":\(position)"
            }
        }
        var parts = places
        if let record {
            parts.append(field.map { "record \(record), field \($0)" } ?? "record \(record)")
        } else if let field {
            parts.append("field \(field)")
        }
        return (parts + [message]).joined(separator: ": ")
    }
}
