// The class of an entity as Xcode generates it, but for what has other names on Linux.
//
// Where the sources build on Apple's platforms as well, Xcode generates the class there itself, so that what is written here is
// for Linux alone.

import CairnInspection
import CairnModel

/// Writes the class of an entity.
struct ClassWriter {
    let model: ManagedObjectModel
    /// The classes, by the entity's name.
    let classNames: [String: String]
    let entity: EntityDescription
    /// The class.
    let name: String
    /// The name of the model.
    let source: String
    let buildsOnApple: Bool

    /// The file with the class.
    var classText: String {
        let parent = entity.superentityName.flatMap { classNames[$0] } ?? "NSManagedObject"
        return file(["public class \(name): \(parent) {", "}"])
    }

    /// The file with its properties.
    var propertiesText: String {
        var lines = [
            "extension \(name) {",
            "    @nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)> {",
            "        return NSFetchRequest<\(name)>(entityName: \(literal(entity.name)))", "    }",
            "",
        ]
        for attribute in entity.attributes {
            guard let type = type(of: attribute) else { continue }
            lines.append(property(attribute.name, type))
        }
        for relationship in entity.relationships { lines.append(property(relationship)) }
        for fetched in entity.fetchedProperties {
            lines.append(property(fetched.name, "[\(className(of: fetched.entityName))]"))
        }
        lines.append("}")
        for relationship in entity.relationships where relationship.isToMany {
            lines += accessors(relationship)
        }
        // A class that inherits from another generated one has the conformance from there.
        if entity.superentityName.flatMap({ classNames[$0] }) == nil {
            lines += ["", "extension \(name): Identifiable {", "}"]
        }
        return file(lines)
    }

    private func file(_ lines: [String]) -> String {
        var text =
            "\(GeneratedFile.mark)\(PlainText.visible(source)): run it again after a change of the model.\n"
        if buildsOnApple { text += "#if !canImport(ObjectiveC)\n" }
        text += "import CoreData\nimport Foundation\n\n" + lines.joined(separator: "\n") + "\n"
        if buildsOnApple { text += "#endif\n" }
        return text
    }

    private func literal(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private func className(of entity: String) -> String { classNames[entity] ?? "NSManagedObject" }

    private func property(_ name: String, _ type: String) -> String {
        guard let name = SwiftIdentifier.property(name) else {
            return
                "    // \(PlainText.visible(name)): Swift cannot write the name; use value(forKey:)."
        }
        return "    @CoreData.NSManaged public var \(name): \(type)"
    }

    private func property(_ relationship: RelationshipDescription) -> String {
        let type =
            !relationship.isToMany
            ? className(of: relationship.destinationEntityName)
            : relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        return property(relationship.name, type + "?")
    }

    /// The type that Xcode gives an attribute; nil if it leaves it out.
    private func type(of attribute: AttributeDescription) -> String? {
        let isScalar = attribute.usesScalarValueType
        return switch attribute.type {
        case .integer16: isScalar ? "Int16" : "NSNumber?"
        case .integer32: isScalar ? "Int32" : "NSNumber?"
        case .integer64: isScalar ? "Int64" : "NSNumber?"
        case .double: isScalar ? "Double" : "NSNumber?"
        case .float: isScalar ? "Float" : "NSNumber?"
        case .boolean: isScalar ? "Bool" : "NSNumber?"
        case .date: isScalar ? "TimeInterval" : "Date?"
        case .decimal: "NSDecimalNumber?"
        case .string: "String?"
        case .binary: "Data?"
        case .uuid: "UUID?"
        case .uri: "URL?"
        case .transformable: (attribute.customClassName.map(Self.written) ?? "NSObject") + "?"
        case .composite: "[String: Any]?"
        case .objectID: "NSManagedObjectID?"
        case .undefined: "NSObject?"
        }
    }

    /// The class of a transformable attribute, without the module that Xcode writes before it.
    private static func written(_ name: String) -> String {
        name.hasPrefix(".") ? String(name.dropFirst()) : name
    }

    private func accessors(_ relationship: RelationshipDescription) -> [String] {
        guard SwiftIdentifier.isPlain(relationship.name) else { return [] }
        let key = SwiftIdentifier.capitalized(relationship.name)
        let type = className(of: relationship.destinationEntityName)
        var lines = [
            "", "// MARK: Generated accessors for \(relationship.name)", "extension \(name) {",
        ]
        func add(_ declaration: String) {
            lines.append("    @CoreData.NSManagedAccessor public func \(declaration)")
        }
        if relationship.isOrdered {
            add("insertInto\(key)(_ value: \(type), at idx: Int)")
            add("removeFrom\(key)(at idx: Int)")
            add("insertInto\(key)(_ values: [\(type)], at indexes: NSIndexSet)")
            add("removeFrom\(key)(at indexes: NSIndexSet)")
            add("replace\(key)(at idx: Int, with value: \(type))")
            add("replace\(key)(at indexes: NSIndexSet, with values: [\(type)])")
        }
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        add("addTo\(key)(_ value: \(type))")
        add("removeFrom\(key)(_ value: \(type))")
        add("addTo\(key)(_ values: \(set))")
        add("removeFrom\(key)(_ values: \(set))")
        return lines + ["}"]
    }
}
