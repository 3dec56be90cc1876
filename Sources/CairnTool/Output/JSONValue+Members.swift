// Access to the JSON output of commands, for code that converts it to something else.

import CairnInspection

extension JSONValue {
    /// The value of a key; nil if it is missing, or this is not an object.
    subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The values of an array; empty for anything else.
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The string; nil for anything else.
    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number if it is not negative; nil for anything else.
    var number: UInt64? {
        if case .integer(let number) = self { UInt64(exactly: number) } else { nil }
    }
}
