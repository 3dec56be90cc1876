// A piece of SQL with its parameters, before they are numbered.
//
//   let part: SQLText = "r.\(raw: name.quoted) = \(.int64(5), as: "bigint")"
//   Statement(of: part)    // r."count" = $1::bigint
//
// Pieces are put together in any order; parameters are numbered at the end. The text of a statement depends on what is asked
// and never on the values, so that connections prepare it once.
//
// Threads: a plain value.

struct SQLText: Sendable, ExpressibleByStringInterpolation {
    fileprivate enum Part: Sendable {
        case text(String)
        case parameter(SQLParameter, type: String)
    }

    private var parts: [Part]

    init(stringLiteral text: String) { parts = [.text(text)] }
    init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// SQL without parameters.
    init(raw text: String) { parts = [.text(text)] }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {
            parts.reserveCapacity(2 * interpolationCount + 1)
        }

        mutating func appendLiteral(_ text: String) {
            if !text.isEmpty { parts.append(.text(text)) }
        }

        mutating func appendInterpolation(_ part: SQLText) { parts += part.parts }

        /// SQL as it is: names that are quoted, types, operators.
        mutating func appendInterpolation(raw text: String) { appendLiteral(text) }

        mutating func appendInterpolation(_ value: SQLParameter, as type: String) {
            parts.append(.parameter(value, type: type))
        }
    }

    /// Pieces with a text between them.
    static func joined(_ pieces: [SQLText], _ separator: String) -> SQLText {
        var whole = SQLText(raw: "")
        whole.parts.removeAll()
        for (index, piece) in pieces.enumerated() {
            if index > 0 { whole.parts.append(.text(separator)) }
            whole.parts += piece.parts
        }
        return whole
    }

    /// The text with numbers for the parameters, and these.
    var numbered: (sql: String, parameters: [SQLParameter]) {
        var sql = ""
        var parameters: [SQLParameter] = []
        for part in parts {
            switch part {
            case .text(let text): sql += text
            case .parameter(let value, let type):
                parameters.append(value)
                sql += "$\(parameters.count)::\(type)"
            }
        }
        return (sql, parameters)
    }
}

extension Statement {
    /// With a label, as a literal is a `String` else, and its parameters are shown in it.
    init(of text: SQLText) {
        let (sql, parameters) = text.numbered
        self.init(sql, parameters)
    }
}
