// What commands print as JSON, asked by whoever makes something else of it.

import CairnInspection

extension JSONValue {
    /// The value of a key; nil if there is none, or this is no object.
    subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The values of an array; none if it is something else.
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// A text; nil if it is something else.
    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A number that is none below 0; nil if it is something else.
    var number: UInt64? {
        if case .integer(let number) = self { UInt64(exactly: number) } else { nil }
    }
}
