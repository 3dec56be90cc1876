// Values on a page: long ones are truncated.
//
// Threads: values.

import CairnInspection
import CairnModel
import CairnStore

extension JSONValue {
    /// The maximum number of characters.
    static let mostCharacters = 1024

    /// Creates a value for a page: binary data as their size, a long string as its beginning.
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
    /// Returns a row as an object with truncated values.
    func shortJSON(_ row: Row) -> JSONValue { json(row) { JSONValue(short: $0) } }
}
