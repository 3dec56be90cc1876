// Renames the fields of a list: `from=to` renames a field, `from=` drops it.

/// New names for the fields of a list.
package struct FieldMapping: Sendable, Equatable {
    private var pairs = FieldPairs(option: "--map")

    package init() {}

    /// Parses mappings; a string may contain several, separated by commas.
    ///
    /// - Throws: `FieldPairs.Problem` if there is no `=`, or a field is mapped twice.
    package init(_ texts: [String]) throws(FieldPairs.Problem) {
        pairs = try FieldPairs(
            texts, option: "--map", form: "from=to, or from= to drop a field")
    }

    /// Whether every field keeps its name.
    var isEmpty: Bool { pairs.isEmpty }

    /// The names of the mapped fields.
    package var names: [String] { pairs.names }

    /// Returns the new name of a field: nil if it is not mapped, empty if it is dropped.
    package func target(of name: String) -> String? { pairs[name] }

    /// Returns the same mapping for the fields of a form: in GeoJSON `properties.code` and `code` are one
    /// field.
    ///
    /// - Throws: `ListError` if both names of a field are mapped.
    package func resolved(for form: ListForm) throws(ListError) -> FieldMapping {
        var mapping = self
        mapping.pairs = try pairs.resolved(for: form)
        return mapping
    }

    /// Returns a field's name without the prefix of properties of a GeoJSON feature.
    package static func withoutPropertiesPrefix(_ name: String) -> String {
        let prefix = "properties."
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }
}
