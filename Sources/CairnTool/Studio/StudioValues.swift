// Values as a page shows them: what is long is cut.
//
// Threads: values.

import CairnInspection
import CairnModel
import CairnStore

extension JSONValue {
    /// More characters than this are cut.
    static let mostCharacters = 1024

    /// A value as a page shows it: of bytes how many there are, of a long text its beginning.
    init(short value: Value) {
        switch value {
        case .binary(let bytes): self = .object(["bytes": .count(bytes.count)])
        case .string(let text) where text.utf8.count > Self.mostCharacters:
            let count = text.count
            guard count > Self.mostCharacters else { fallthrough }
            self = .object([
                "cut": .string(String(text.prefix(Self.mostCharacters))),
                "characters": .count(count),
            ])
        default: self = JSONValue(value)
        }
    }
}

extension RowColumns {
    /// A row as an object whose long values are cut.
    func shortJSON(_ row: Row) -> JSONValue { json(row) { JSONValue(short: $0) } }
}
