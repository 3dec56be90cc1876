// Which types a person wants attributes to have: `name=type`.

package import CairnModel

/// Types for attributes that are read off a list.
package struct FieldTypes: Sendable, Equatable {
    private var pairs = FieldPairs(option: "--type")

    /// None: every type is read off the list.
    package init() {}

    /// Reads types, several in a text with commas between them.
    ///
    /// - Throws: `FieldPairs.Problem` if there is no `=`, no such type, or an attribute has two.
    package init(_ texts: [String]) throws(FieldPairs.Problem) {
        pairs = try FieldPairs(texts, option: "--type", form: "attribute=type")
        for name in names where self.type(of: name) == nil {
            let known = Self.known.map(\.rawValue).joined(separator: ", ")
            throw pairs.problem(
                "“\(pairs[name] ?? "")” is not a type for lists. The types are: \(known)"
            )
        }
    }

    /// The attributes that have a type, in order.
    package var names: [String] { pairs.names }

    /// The type that an attribute is to have; nil: the list says it.
    package func type(of name: String) -> AttributeType? {
        guard let text = pairs[name]?.lowercased() else { return nil }
        return Self.otherNames[text] ?? Self.known.first { $0.rawValue == text }
    }

    /// The same types for the attributes of a form: in GeoJSON `properties.code` and `code` are one field.
    ///
    /// - Throws: `ListError` if both names of a field have a type.
    package func resolved(for form: ListForm) throws(ListError) -> FieldTypes {
        var types = self
        types.pairs = try pairs.resolved(for: form)
        return types
    }

    /// The types that a list has a form for.
    private static let known: [AttributeType] = [
        .boolean, .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date,
        .binary, .uuid, .uri,
    ]

    private static let otherNames: [String: AttributeType] = [
        "bool": .boolean, "int16": .integer16, "int32": .integer32, "int64": .integer64,
        "int": .integer64, "integer": .integer64, "text": .string, "data": .binary, "url": .uri,
    ]
}
