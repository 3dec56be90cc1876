// How one member `var` of an entity is expanded.
//
//   1. Computed, static and lazy properties, constants with a value and @Transient ones stay as they are.
//   2. The rest is persistent; whatever keeps a property from being that is reported.
//   3. Marks are read for the model: their arguments are copied into the description.

import SwiftSyntax
import SwiftSyntaxMacros

/// A persistent property of an entity.
struct PropertyPlan {
    /// As it is written, with backticks if need be.
    let name: TokenSyntax
    let type: TypeSyntax
    let defaultValue: ExprSyntax?
    let modifiers: DeclModifierListSyntax
    let attributeMark: AttributeSyntax?
    let relationshipMark: AttributeSyntax?

    /// The name in the model.
    var modelName: String { name.plainText }

    /// Whether the store computes it.
    var isDerived: Bool { attributeMark?.list.contains { $0.label?.text == "derived" } ?? false }

    /// The options of the mark, by name.
    var options: [String] {
        (attributeMark?.list ?? []).filter { $0.label == nil }.compactMap {
            $0.expression.optionName
        }
    }

    /// The transformer that stores the values, as an expression; nil if they are stored as their type says.
    var transformer: String? {
        for option in attributeMark?.list ?? [] where option.label == nil {
            if let transformer = option.expression.transformer { return transformer }
            if option.expression.optionName == "codable" {
                return "Cairn.JSONTransformer<\(Self.wrapped(type))>.self"
            }
        }
        return nil
    }

    /// The expression that says how the values are stored.
    func kind(_ function: String) -> String {
        let transformer = transformer.map { ", by: \($0)" } ?? ""
        return "Cairn.TypedKind.\(function)((\(type)).self\(transformer))"
    }

    /// Whether a batch insert can set it.
    var hasColumn: Bool { !isDerived && !options.contains("ephemeral") }

    /// Whether it is marked as a relationship and holds several objects.
    var isToMany: Bool {
        relationshipMark != nil
            && (type.is(ArrayTypeSyntax.self) || ["Set", "Array"].contains(type.lastName))
    }

    /// The persistent property that a member declares; nil if it declares none, or none that can be. Says why
    /// if it is to report.
    init?(_ member: VariableDeclSyntax, reportingTo context: (any MacroExpansionContext)?) {
        func refuse(_ misuse: Misuse, at node: some SyntaxProtocol) {
            context?.report(misuse, at: node)
        }
        guard let binding = member.bindings.first else { return nil }
        if member.modifiers.contains(.static, .class, .lazy) { return nil }
        if member.bindings.allSatisfy(\.isComputed) { return nil }
        if member.attributes.named("Transient") != nil {
            for binding in member.bindings where binding.needsValue {
                refuse(.transientWithoutValue, at: binding)
            }
            return nil
        }
        if member.isConstant {
            for binding in member.bindings where binding.initializer == nil {
                refuse(.constant, at: member.bindingSpecifier)
            }
            return nil
        }
        guard member.bindings.count == 1 else {
            refuse(.severalNames, at: member.bindings)
            return nil
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            refuse(.pattern, at: binding.pattern)
            return nil
        }
        guard let type = binding.typeAnnotation?.type else {
            refuse(.noType(identifier.text), at: binding.pattern)
            return nil
        }
        if let observer = binding.observer {
            refuse(.observer, at: observer)
            return nil
        }
        for modifier in member.modifiers {
            switch modifier.name.tokenKind {
            case .keyword(.weak), .keyword(.unowned):
                refuse(.weak(modifier.name.text), at: modifier)
                return nil
            case .keyword(.override):
                refuse(.overriding, at: modifier)
                return nil
            default: break
            }
        }
        guard !type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) else {
            refuse(.unwrapped, at: type)
            return nil
        }
        guard !Self.reserved.contains(identifier.plainText) else {
            refuse(.reserved(identifier.plainText), at: identifier)
            return nil
        }
        name = identifier
        self.type = type.trimmed
        defaultValue = binding.initializer?.value.trimmed
        modifiers = member.modifiers
        attributeMark = member.attributes.named("Attribute")
        relationshipMark = member.attributes.named("Relationship")
        if let relationshipMark, attributeMark != nil {
            refuse(.both("@Attribute", "@Relationship"), at: relationshipMark)
            return nil
        }
        if isDerived, let defaultValue = binding.initializer {
            refuse(.derivedDefault, at: defaultValue)
            return nil
        }
    }

    /// What every managed object has by that name.
    private static let reserved: Set<String> = [
        "entity", "objectID", "managedObjectContext", "isInserted", "isUpdated", "isDeleted",
        "absorbedInto", "isFault", "hasChanges", "hasPersistentChangedValues", "description",
        "hashValue",
        // What generated code calls by these names, where a property's would stand before it.
        "Columns", "_Parent", "_base", "_count", "_entity", "_parent", "_paths", "_property",
        "_read",
        "_typedEntity", "_validate", "_write",
        // Written behind a point they mean something else.
        "self", "Self", "Type", "Protocol",
    ]

    // MARK: Code

    /// The statements that add the property to the list `properties`.
    func description(_ context: any MacroExpansionContext) -> String {
        var arguments = ["\"\(modelName)\"", "kind"]
        var function = "property"
        if let attributeMark {
            function = "attribute"
            arguments += attributeArguments(attributeMark, context)
        } else if let relationshipMark {
            function = "relationship"
            arguments += relationshipArguments(relationshipMark, context)
        } else {
            arguments += defaultArguments
        }
        var check = ""
        if let (type, key) = inverseCheck {
            check = "\n        _ = { (object: \(type)) in _ = object.\(key) }"
        }
        if relationshipMark == nil, transformer == nil,
            let statements = Self.emptyValueCheck(type, defaultValue)
        {
            check += "\n        \(statements)"
        }
        return """
                do {\(check)
                    let kind = \(kind("of"))
                    properties.append(Cairn.TypedProperty.\(function)(\(arguments.joined(separator: ", "))))
                }
            """
    }

    private var defaultArguments: [String] {
        guard let defaultValue, !defaultValue.isNil else { return [] }
        let value = "default: { \(defaultValue) }"
        return DefaultValue.isComputed(defaultValue) ? [value, "computed: true"] : [value]
    }

    private func attributeArguments(
        _ mark: AttributeSyntax, _ context: any MacroExpansionContext
    ) -> [String] {
        var options: [String] = []
        var rest: [String] = []
        let isText = !Self.isNeverText(type) && transformer == nil
        for argument in mark.list {
            let value = argument.expression.trimmed
            guard let label = argument.label?.text else {
                guard let name = value.optionName else {
                    context.report(.option, at: argument)
                    continue
                }
                if let misuse = misuse(ofOption: name) {
                    context.report(misuse, at: argument)
                } else if !["unique", "transformable", "codable"].contains(name) {
                    options.append(".\(name)")
                }
                continue
            }
            switch label {
            case "derived", "originalName", "hashModifier", "pattern":
                if !value.isNil, value.literalText == nil {
                    context.report(.literalText, at: argument.expression)
                } else if label == "pattern", !isText {
                    context.report(.textOnly(label), at: argument)
                } else {
                    rest.append("\(label): \(value)")
                }
            case "minimumLength", "maximumLength":
                if isText {
                    rest.append("\(label): \(value)")
                } else {
                    context.report(.textOnly(label), at: argument)
                }
            case "minimumValue", "maximumValue":
                if !value.isNil, transformer != nil || Self.isCollection(type) {
                    context.report(.rangeless(label), at: argument)
                } else if !value.isNil {
                    rest.append("\(label): { \(value) }")
                }
            default: rest.append("\(label): \(value)")
            }
        }
        return options + defaultArguments + rest
    }

    /// Why an option makes no sense here.
    private func misuse(ofOption name: String) -> Misuse? {
        switch name {
        case "unique":
            if options.contains("ephemeral") { return .ephemeralUnique }
            if isDerived { return .derivedUnique }
            return transformer != nil || Self.isCollection(type) ? .transformedUnique : nil
        case "externalStorage":
            return Self.isPlain(type) && transformer == nil ? .bytesOnly : nil
        case "transformable", "codable":
            if isDerived { return .transformedDerived }
            if defaultValue == nil,
                Self.wrapped(type).description == type.trimmed.description
            {
                return .transformedWithoutDefault
            }
            return options.filter { $0 == "transformable" || $0 == "codable" }.count > 1
                ? .severalTransformers : nil
        default: return nil
        }
    }

    private func relationshipArguments(
        _ mark: AttributeSyntax, _ context: any MacroExpansionContext
    ) -> [String] {
        var rest: [String] = []
        for argument in mark.list {
            guard let label = argument.label?.text else { continue }
            let value = argument.expression.trimmed
            switch label {
            case "originalName", "hashModifier":
                if !value.isNil, value.literalText == nil {
                    context.report(.literalText, at: argument.expression)
                } else {
                    rest.append("\(label): \(value)")
                }
            case "minimumModelCount", "maximumModelCount":
                if type.is(OptionalTypeSyntax.self) {
                    context.report(.countOfOne(label), at: argument)
                } else {
                    rest.append("\(label): \(value)")
                }
            case "inverse":
                if let name = value.keyPathName, !name.contains(".") {
                    rest.append("inverse: \"\(name)\"")
                } else if let name = value.literalText {
                    rest.append("inverse: \"\(name)\"")
                } else if !value.isNil {
                    context.report(.inverse, at: argument.expression)
                }
            default: rest.append("\(label): \(value)")
            }
        }
        return defaultArguments + rest
    }

    /// The class and property of an inverse that is given as a string, for the compiler to look at.
    private var inverseCheck: (String, String)? {
        guard let inverse = relationshipMark?.list.first(where: { $0.label?.text == "inverse" }),
            let key = inverse.expression.literalText, let destination = Self.destination(type)
        else { return nil }
        return (destination, key)
    }

    /// The class that a type of a relationship leads to.
    private static func destination(_ type: TypeSyntax) -> String? {
        if let optional = type.as(OptionalTypeSyntax.self) {
            return optional.wrappedType.trimmedDescription
        }
        if let array = type.as(ArrayTypeSyntax.self) { return array.element.trimmedDescription }
        if let generic = type.as(IdentifierTypeSyntax.self)?.genericArgumentClause,
            let first = generic.arguments.first
        {
            return first.argument.trimmedDescription
        }
        return nil
    }

    private static func unwrapped(_ type: TypeSyntax) -> String { wrapped(type).lastName }

    /// Statements that compile only if something can be read where nothing is stored, or what is no value of the type; nil if
    /// the default says what, or the type is written as one that is known to have an empty value.
    static func emptyValueCheck(_ type: TypeSyntax, _ defaultValue: ExprSyntax?) -> String? {
        let isOptional = wrapped(type).description != type.trimmed.description
        // `Chart.Data` may be anything.
        let isPlain =
            type.is(IdentifierTypeSyntax.self) && !isCollection(type)
            && (isNeverText(type) || unwrapped(type) == "String")
        if defaultValue != nil || isOptional || isPlain { return nil }
        return
            "do { let empty = Cairn.TypedKind.emptyValue(of: (\(type)).self); empty.exists() }"
    }

    /// The type without the optional around it.
    private static func wrapped(_ type: TypeSyntax) -> TypeSyntax {
        if let optional = type.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmed }
        if let generic = type.as(IdentifierTypeSyntax.self), generic.name.text == "Optional",
            let first = generic.genericArgumentClause?.arguments.first,
            case .type(let wrapped) = first.argument
        {
            return wrapped.trimmed
        }
        return type
    }

    /// Whether the type is written as one of several values.
    static func isCollection(_ type: TypeSyntax) -> Bool {
        let type = wrapped(type)
        return type.is(ArrayTypeSyntax.self) || type.is(DictionaryTypeSyntax.self)
            || type.as(IdentifierTypeSyntax.self)?.genericArgumentClause != nil
                && ["Set", "Array", "Dictionary"].contains(type.lastName)
    }

    /// Whether the type is one of those that hold neither text nor bytes.
    private static func isPlain(_ type: TypeSyntax) -> Bool {
        if isCollection(type) { return false }
        return isNeverText(type) && unwrapped(type) != "Data" || unwrapped(type) == "String"
    }

    static func isNeverText(_ type: TypeSyntax) -> Bool {
        if isCollection(type) { return true }
        return [
            "Int", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "Double",
            "Float",
            "Bool", "Date", "UUID", "URL", "Decimal", "Data",
        ].contains(unwrapped(type))
    }
}

extension PatternBindingSyntax {
    /// Whether a stored property would keep its class from being made without arguments.
    fileprivate var needsValue: Bool {
        guard initializer == nil, !isComputed else { return false }
        guard let type = typeAnnotation?.type else { return true }
        return !type.is(OptionalTypeSyntax.self)
            && !type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }
}
