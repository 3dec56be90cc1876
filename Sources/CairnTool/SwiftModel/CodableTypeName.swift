// The classes of transformable attributes that are Swift collections of values: `[Int64]`,
// `[String: [Double]]`.
//
//   type  =  name | "[" type "]" | "[" key ":" type "]"
//
// The whole type may follow a point, or a module's name and a point.

/// The name of a collection type whose values are Codable.
struct CodableTypeName {
    /// The type in the style of Swift's formatter.
    let text: String

    /// Parses a type from a model; returns nil for anything else.
    init?(_ written: String) {
        var rest = Substring(written.filter { $0 != " " })
        if let bracket = rest.firstIndex(of: "["), rest[..<bracket].hasSuffix(".") {
            rest = rest[bracket...]
        }
        guard rest.first == "[", let text = Self.type(&rest), rest.isEmpty else { return nil }
        self.text = text
    }

    private static let values: Set<String> = [
        "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int", "Int16", "Int32", "Int64",
        "Int8", "String", "UInt16", "UInt32", "UInt8", "URL", "UUID",
    ]
    /// The key types that JSON supports.
    private static let keys: Set<String> = ["Int", "String"]

    /// Parses a type; the depth limit is more than any real type has.
    private static func type(_ rest: inout Substring, depth: Int = 0) -> String? {
        guard depth < 8 else { return nil }
        guard rest.first == "[" else {
            let name = String(rest.prefix { $0.isLetter || $0.isNumber })
            rest.removeFirst(name.count)
            return values.contains(name) ? name : nil
        }
        rest.removeFirst()
        guard let first = type(&rest, depth: depth + 1) else { return nil }
        var text = first
        if rest.first == ":" {
            rest.removeFirst()
            guard keys.contains(first), let value = type(&rest, depth: depth + 1) else {
                return nil
            }
            text += ": " + value
        }
        guard rest.first == "]" else { return nil }
        rest.removeFirst()
        return "[\(text)]"
    }
}
