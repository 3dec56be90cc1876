// Which names the fields of a list get: `from=to` renames a field, `from=` drops it.

/// New names for the fields of a list.
package struct FieldMapping: Sendable, Equatable {
    private var targets: [String: String] = [:]

    /// What is wrong with the text of a mapping.
    package struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String
    }

    package init() {}

    /// Reads mappings, several in a text with commas between them.
    ///
    /// - Throws: `Problem` if there is no `=`, or a field is mapped twice.
    package init(_ texts: [String]) throws(Problem) {
        for text in texts {
            for part in text.split(separator: ",") {
                guard let equals = part.firstIndex(of: "=") else {
                    throw Problem(
                        description:
                            "“\(part)” is no mapping: write from=to, or from= to drop a field")
                }
                let from = String(part[..<equals])
                let to = String(part[part.index(after: equals)...])
                guard !from.isEmpty else {
                    throw Problem(description: "“\(part)” does not say which field it maps")
                }
                guard targets.updateValue(to, forKey: from) == nil else {
                    throw Problem(description: "\(from) is mapped twice")
                }
            }
        }
    }

    /// The fields that are mapped.
    package var names: [String] { targets.keys.sorted() }

    /// What a field is mapped to: nil if it is not mapped, empty if it is dropped.
    package func target(of name: String) -> String? { targets[name] }

    /// The same mapping for the fields of a form: in GeoJSON `properties.code` and `code` are one field.
    ///
    /// - Throws: `ListError` if both names of a field are mapped.
    package func resolved(for form: ListForm) throws(ListError) -> FieldMapping {
        guard form.isFeatures else { return self }
        var mapping = FieldMapping()
        for (name, target) in targets {
            let field = FieldMapping.withoutPropertiesPrefix(name)
            guard mapping.targets.updateValue(target, forKey: field) == nil else {
                throw ListError("--map names a field twice: \(field) is properties.\(field)")
            }
        }
        return mapping
    }

    /// A field's name without the prefix that says it is a property of a GeoJSON feature.
    package static func withoutPropertiesPrefix(_ name: String) -> String {
        let prefix = "properties."
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }
}
