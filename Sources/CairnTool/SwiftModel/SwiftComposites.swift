// The composite attributes of a model as structs.
//
//   1. A composite with a name in the model is one struct, for all attributes that use it.
//   2. Elements that only one attribute has, or that differ from those of the composite that they name, are a
//      struct named after the attribute.
//   3. A struct requires an element: an attribute without any is omitted. Elements without a storable type,
//      which a transient composite may have, are omitted from structs: they are neither Hashable nor
//      Sendable.
//
// Invariant: the structs that a struct contains come after it.

import CairnInspection
import CairnModel

/// The structs of a model.
struct SwiftComposites {
    /// A struct.
    struct Definition {
        let name: String
        /// The composite's name in the model; nil if the model has none.
        let modelName: String?
        let elements: [AttributeDescription]
        var fields: [SwiftProperty] = []
    }

    private(set) var definitions: [Definition] = []
    /// The key of a struct.
    private enum Key: Hashable {
        /// The composite's name in the model.
        case named(String)
        /// An attribute with its own struct, by entity and name.
        case attribute(String, String)
        /// An element with its own struct, by the index of its struct and by name.
        case element(Int, String)
    }

    private var indexes: [Key: Int] = [:]
    /// The names of elements in Swift, by struct.
    private var elementNames: [[String: String]] = []

    /// Creates and names the structs of all composite attributes.
    init(_ schema: Schema, _ names: inout SwiftModelNames) {
        for entity in schema.model.entities {
            for attribute in entity.attributes where attribute.type == .composite {
                register(
                    attribute, .attribute(entity.name, attribute.name),
                    path: entity.name + SwiftIdentifier.capitalized(attribute.name), &names)
            }
        }
    }

    // MARK: Questions

    /// Returns the struct of an attribute of an entity; nil if it has no elements.
    func definition(of attribute: AttributeDescription, in entity: EntityDescription)
        -> Definition?
    {
        index(of: attribute, .attribute(entity.name, attribute.name)).map { definitions[$0] }
    }

    /// Returns the Swift form of a dotted path into an attribute, after the attribute's own name:
    /// `?.place.city`.
    func keyPath(
        _ steps: [Substring], into attribute: AttributeDescription, of entity: EntityDescription
    ) -> String? {
        keyPath(steps, into: attribute, .attribute(entity.name, attribute.name))
    }

    private func keyPath(_ steps: [Substring], into attribute: AttributeDescription, _ key: Key)
        -> String?
    {
        guard let step = steps.first else { return "" }
        guard let index = index(of: attribute, key),
            let element = attribute.elements.first(where: { $0.name == step }),
            let name = elementNames[index][element.name],
            let rest = keyPath(
                Array(steps.dropFirst()), into: element, .element(index, element.name))
        else { return nil }
        return (attribute.isOptional ? "?." : ".") + name + rest
    }

    /// Whether an element is renamed.
    var renamesElements: Bool {
        elementNames.contains { $0.contains { SwiftIdentifier.plain($1) != $0 } }
    }

    private func index(of attribute: AttributeDescription, _ key: Key) -> Int? {
        if let name = attribute.compositeName, let index = indexes[.named(name)],
            definitions[index].elements == attribute.elements
        {
            return index
        }
        return indexes[key]
    }

    // MARK: Making

    private mutating func register(
        _ attribute: AttributeDescription, _ key: Key, path: String, _ names: inout SwiftModelNames
    ) {
        guard Self.hasLeaf(attribute), index(of: attribute, key) == nil else { return }
        let isNamed = attribute.compositeName.map { indexes[.named($0)] == nil } ?? false
        let modelName = isNamed ? attribute.compositeName : nil
        let index = definitions.count
        definitions.append(
            Definition(
                name: names.claimType(madeOf: modelName ?? path, suffix: "Value"),
                modelName: modelName, elements: attribute.elements))
        indexes[modelName.map(Key.named) ?? key] = index
        for element in attribute.elements where element.type == .composite {
            register(
                element, .element(index, element.name),
                path: definitions[index].name + SwiftIdentifier.capitalized(element.name), &names)
        }
    }

    private static func hasLeaf(_ attribute: AttributeDescription) -> Bool {
        attribute.elements.contains { $0.type == .composite ? hasLeaf($0) : isStorable($0) }
    }

    private static func isStorable(_ element: AttributeDescription) -> Bool {
        element.type != .undefined && element.type != .objectID
    }

    // MARK: Elements

    /// Declares the elements, after all types have their names.
    mutating func declareElements(_ names: SwiftModelNames) {
        for index in definitions.indices {
            var taken = Set(definitions[index].elements.map(\.name))
            var written: [String: String] = [:]
            for element in definitions[index].elements {
                var remarks: [String] = []
                let name = Self.elementName(element.name, &taken, names, &remarks)
                written[element.name] = name
                let field = field(element, of: index, name: name, remarks: remarks)
                definitions[index].fields.append(field)
            }
            elementNames.append(written)
        }
    }

    private static func elementName(
        _ name: String, _ taken: inout Set<String>, _ names: SwiftModelNames,
        _ remarks: inout [String]
    ) -> String {
        func isPossible(_ name: String) -> Bool {
            !KnownNames.compositeMembers.contains(name) && !names.isType(name)
        }
        if isPossible(name), let written = SwiftIdentifier.property(name) { return written }
        let made = SwiftIdentifier.isPlain(name) ? name : SwiftIdentifier.propertyName(madeOf: name)
        let other = SwiftModelNames.free(made, taken, where: isPossible)
        taken.insert(other)
        remarks.append("The model calls it \(name), which is not a valid name here.")
        return other
    }

    private func field(
        _ element: AttributeDescription, of definition: Int, name: String, remarks: [String]
    ) -> SwiftProperty {
        var field: SwiftProperty
        if element.type == .composite {
            guard let inner = index(of: element, .element(definition, element.name)) else {
                return SwiftProperty(
                    remarks: [
                        "\(element.name): a composite without elements, which cannot be a struct."
                    ],
                    name: name, type: "", isLeftOut: true)
            }
            field = SwiftProperty(
                name: name, type: definitions[inner].name + (element.isOptional ? "?" : ""))
        } else if Self.isStorable(element) {
            field = SwiftAttribute(element).property(name: name)
        } else {
            return SwiftProperty(
                remarks: ["\(element.name): untyped, which a struct cannot have."],
                name: name, type: "", isLeftOut: true)
        }
        // An element has a name, a type and a default; it cannot have a mark.
        if field.mark != nil {
            let said = field.arguments.joined(separator: ", ")
            field.remarks.append("Options in the model that an element cannot have: \(said)")
            field.mark = nil
            field.arguments = []
        }
        field.remarks = remarks + field.remarks
        return field
    }

    /// Returns the stored elements of an attribute; nil if there are none.
    func stored(of attribute: AttributeDescription, in entity: EntityDescription)
        -> [AttributeDescription]?
    {
        index(of: attribute, .attribute(entity.name, attribute.name)).map {
            stored($0, inOptional: attribute.isOptional)
        }
    }

    /// Leaves of an optional value have no defaults; otherwise it would never be nil.
    private func stored(_ index: Int, inOptional: Bool) -> [AttributeDescription] {
        let definition = definitions[index]
        let declared = zip(definition.elements, definition.fields).filter { !$1.isLeftOut }
        return declared.map { element, field in
            let name = SwiftIdentifier.plain(field.name)
            guard element.type == .composite,
                let inner = self.index(of: element, .element(index, element.name))
            else {
                var said = SwiftAttribute(element).stored(name: name)
                if inOptional { said.defaultValue = .null }
                return said
            }
            var said = AttributeDescription(name, .composite, optional: element.isOptional)
            said.elements = stored(inner, inOptional: inOptional || element.isOptional)
            return said
        }
    }

    // MARK: Text

    /// Returns the lines of the structs, in the order of the model's composites.
    func blocks(of model: ManagedObjectModel, isPublic: Bool) -> [[String]] {
        let order = model.composites.map(\.name)
        let sorted = definitions.indices.sorted { left, right in
            let places = [left, right].map { index in
                definitions[index].modelName.flatMap { order.firstIndex(of: $0) } ?? order.count
            }
            return (places[0], left) < (places[1], right)
        }
        return sorted.map { Self.lines(of: definitions[$0], isPublic: isPublic) }
    }

    private static func lines(of definition: Definition, isPublic: Bool) -> [String] {
        let name = definition.modelName ?? definition.name
        let argument = name == definition.name ? "" : "(\(SwiftLiteral.text(name)))"
        let access = isPublic ? "public " : ""
        var lines = ["@Composite\(argument)"]
        lines.append("\(access)struct \(definition.name): Hashable, Sendable {")
        lines += definition.fields.flatMap { $0.lines(isPublic: isPublic) }
        if isPublic {
            // The initializer that Swift synthesizes is not available to other modules.
            let fields = definition.fields.filter { !$0.isLeftOut }
            let parameters = fields.map { field in
                let value = field.value ?? (field.type.hasSuffix("?") ? "nil" : nil)
                return "\(field.name): \(field.type)" + (value.map { " = \($0)" } ?? "")
            }
            lines += [""]
            lines += SwiftText.call("public init", parameters, tail: " {", indent: 4)
            lines += fields.map { "        self.\($0.name) = \($0.name)" } + ["    }"]
        }
        return lines + ["}"]
    }
}
