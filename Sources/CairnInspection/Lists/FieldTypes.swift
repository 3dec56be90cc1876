// Which types a person wants attributes to have: `name=type`.

package import CairnModel

/// Types for attributes that are read off a list.
package struct FieldTypes: Sendable, Equatable {
    private var types: [String: AttributeType] = [:]

    /// What is wrong with the text of a type.
    package struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// None: every type is read off the list.
    package init() {}

    /// Reads types, several in a text with commas between them.
    ///
    /// - Throws: `Problem` if there is no `=`, no such type, or an attribute has two.
    package init(_ texts: [String]) throws(Problem) {
        for text in texts {
            for part in text.split(separator: ",") {
                guard let equals = part.lastIndex(of: "="), equals > part.startIndex else {
                    throw Problem(
                        description: "“\(part)” gives no type: write attribute=type")
                }
                let name = String(part[..<equals])
                let typeName = part[part.index(after: equals)...]
                guard let type = Self.type(named: typeName.lowercased()) else {
                    let known = Self.known.map(\.rawValue).joined(separator: ", ")
                    throw Problem(
                        description: "“\(typeName)” is no type of a list. Types are: \(known)")
                }
                guard types.updateValue(type, forKey: name) == nil else {
                    throw Problem(description: "\(name) has two types")
                }
            }
        }
    }

    /// The attributes that have a type, in order.
    package var names: [String] { types.keys.sorted() }

    /// The type that an attribute is to have; nil: the list says it.
    package func type(of name: String) -> AttributeType? { types[name] }

    /// The same types for the attributes of a form: in GeoJSON `properties.code` and `code` are one field.
    ///
    /// - Throws: `ListError` if both names of a field have a type.
    package func resolved(for form: ListForm) throws(ListError) -> FieldTypes {
        guard form.isFeatures else { return self }
        var types = FieldTypes()
        for (name, type) in self.types {
            let field = FieldMapping.withoutPropertiesPrefix(name)
            guard types.types.updateValue(type, forKey: field) == nil else {
                throw ListError("--type names a field twice: \(field) is properties.\(field)")
            }
        }
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

    private static func type(named name: String) -> AttributeType? {
        otherNames[name] ?? known.first { $0.rawValue == name }
    }
}
