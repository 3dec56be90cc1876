// The user's types for attributes: `name=type`.

package import CairnModel

/// Types for inferred attributes.
package struct FieldTypes: Sendable, Equatable {
    private var pairs = FieldPairs(option: "--type")

    /// Creates no types: every type is inferred from the list.
    package init() {}

    /// Parses types; a string may contain several, separated by commas.
    ///
    /// - Throws: `FieldPairs.Problem` if there is no `=`, the type does not exist, or an attribute has two.
    package init(_ texts: [String]) throws(FieldPairs.Problem) {
        pairs = try FieldPairs(texts, option: "--type", form: "attribute=type")
        for name in names where self.type(of: name) == nil {
            let known = Self.known.map(\.rawValue).joined(separator: ", ")
            throw pairs.problem(
                "“\(pairs[name] ?? "")” is not a type for lists. The types are: \(known)"
            )
        }
    }

    /// The attributes with a type, sorted.
    package var names: [String] { pairs.names }

    /// Returns the type of an attribute; nil: it is inferred from the list.
    package func type(of name: String) -> AttributeType? {
        guard let text = pairs[name]?.lowercased() else { return nil }
        return Self.otherNames[text] ?? Self.known.first { $0.rawValue == text }
    }

    /// Returns the same types for the attributes of a form: in GeoJSON `properties.code` and `code` are one
    /// field.
    ///
    /// - Throws: `ListError` if both names of a field have a type.
    package func resolved(for form: ListForm) throws(ListError) -> FieldTypes {
        var types = self
        types.pairs = try pairs.resolved(for: form)
        return types
    }

    /// The types that a list can represent.
    private static let known: [AttributeType] = [
        .boolean, .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date,
        .binary, .uuid, .uri,
    ]

    private static let otherNames: [String: AttributeType] = [
        "bool": .boolean, "int16": .integer16, "int32": .integer32, "int64": .integer64,
        "int": .integer64, "integer": .integer64, "text": .string, "data": .binary, "url": .uri,
    ]
}
