// `@Entity`: the code of a typed class.
//
//   member           the columns of a batch insert, with the class's description; the numbers of key paths, and key paths
//                    by number; the calls of the class's own `validate…` methods, if it has some
//   memberAttribute  each persistent property's accessors, by its number
//   extension        the conformance that marks typed classes
//
// Reports are made in the member role alone, or each would come three times.
//
// A large model has thousands of expansions, and the compiler waits for each. What is written is therefore neither parsed nor
// formatted here, as the compiler reads it anyway, and the accessors of a class's properties are found out once.

public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// Expands `@Entity`.
open class EntityExpansion: MemberMacro, MemberAttributeMacro, ExtensionMacro {
    /// What is written has its spaces and lines.
    open class var formatMode: FormatMode { .disabled }

    // MARK: Members

    open class func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let plan = EntityPlan(declaration, reportingTo: context) else { return [] }
        let texts =
            [
                columns(plan, node, context),
                "\(plan.access)override class var _typedEntity: Cairn.TypedEntity? { Columns._entity }",
                numbers(plan), paths(plan),
            ] + (plan.validated.isEmpty ? [] : [validation(plan)])
        return texts.map(DeclSyntax.init(verbatim:))
    }

    /// The columns, and the description of the class.
    private static func columns(
        _ plan: EntityPlan, _ node: AttributeSyntax, _ context: some MacroExpansionContext
    ) -> String {
        let access = plan.access
        // Numbers are constants for other modules, too.
        let constant = access == "public " ? "@inlinable public " : access
        let name = plan.className
        var tokens = ""
        var bindings = ""
        for (number, property) in plan.properties.enumerated() where property.hasColumn {
            let visible = property.modifiers.access(atMost: access)
            tokens +=
                "    \(visible)var \(property.name) = \(property.kind("column"))\n"
            bindings += "        self.\(property.name)._bind(_binding, Self._base + \(number))\n"
        }
        let properties = plan.properties.map { $0.description(context) }.joined(separator: "\n")
        let list = plan.properties.isEmpty ? "let" : "var"
        var arguments = [
            entityName(node, plan, context), "\(name).self", "parent: \(plan.superclass).self",
        ]
        arguments += entityArguments(node, context)
        arguments.append("properties: properties")
        let unique = plan.uniquenessConstraints(context)
        if !unique.plain.isEmpty { arguments.append("unique: \(text(unique.plain))") }
        if !unique.rules.isEmpty {
            arguments.append("rules: [\(unique.rules.joined(separator: ", "))]")
        }
        let indexes = plan.indexes(context)
        if !indexes.isEmpty { arguments.append("indexes: \(text(indexes))") }
        if !plan.validated.isEmpty { arguments.append("validated: \(plan.validated)") }
        if plan.overridesValidation { arguments.append("validates: true") }
        if plan.validatesObjects { arguments.append("validatesObjects: true") }
        arguments.append("paths: { \(name)._paths($0, of: \(name).self) }")
        return """
            \(access)struct Columns: Cairn.EntityColumns {
            \(tokens)    \(access)let _parent: \(plan.superclass).Columns
                \(access)static let _entity: Cairn.TypedEntity? = _description()
                \(constant)static var _base: Int { \(plan.isRoot ? "0" : "\(plan.superclass).Columns._count") }
                \(constant)static var _count: Int { _base + \(plan.properties.count) }
                \(access)init(_ _binding: Cairn.EntityBinding) {
                    self._parent = \(plan.superclass).Columns(_binding)
            \(bindings)    }
                private static func _description() -> Cairn.TypedEntity {
                    \(list) properties: [Cairn.TypedProperty] = []
            \(properties)
                    return Cairn.TypedEntity(\(arguments.joined(separator: ", "))) { path in
                        (path as? PartialKeyPath<\(name)>).flatMap { \(name)._property(for: $0) }
                    }
                }
            }
            """
    }

    /// The number of the property that a key path leads to. The path's root can be a subclass, so literals
    /// are formed for whatever class it is of. The object's id has a number of its own.
    private static func numbers(_ plan: EntityPlan) -> String {
        let cases = plan.properties.enumerated().map { number, property in
            "    case \\_Root.\(property.name): return Columns._base + \(number)\n"
        }
        return """
            \(plan.access)static func _property<_Root: \(plan.className)>(for path: PartialKeyPath<_Root>) -> Int? {
                switch path {
            \(cases.joined())    case \\_Root.objectID: return Cairn.TypedEntity._identity
                default: return \(plan.superclass)._property(for: path)
                }
            }
            """
    }

    /// The key paths of the property of a number: that of an object, and that of one that there may be. From these, paths
    /// across relationships are put together.
    private static func paths(_ plan: EntityPlan) -> String {
        let cases = plan.properties.enumerated().filter { !$1.isToMany }.map { number, property in
            "    case \(number): return Cairn.PropertyPaths(\\_Root.\(property.name), \\_Root?.?.\(property.name))\n"
        }
        let parent = "\(plan.superclass)._paths(property, of: root)"
        let body =
            cases.isEmpty
            ? "    return \(parent)\n"
            : "    switch property - Columns._base {\n\(cases.joined())    default: return \(parent)\n    }\n"
        return """
            \(plan.access)static func _paths<_Root: \(plan.className)>(_ property: Int, of root: _Root.Type) -> Cairn.PropertyPaths? {
            \(body)}
            """
    }

    /// The calls of the class's own methods that validate a property's value.
    private static func validation(_ plan: EntityPlan) -> String {
        let cases = plan.validated.map { number in
            let property = plan.properties[number]
            return """
                    case \(number):
                        let kind = \(property.kind("of"))
                        try _check(property, &value, kind, self.\(property.validatorName))

                """
        }
        return """
            \(plan.access)override func _validate(_ property: Int, _ value: inout Any?) throws {
                switch property - Columns._base {
            \(cases.joined())    default: try super._validate(property, &value)
                }
            }
            """
    }

    private static func entityName(
        _ node: AttributeSyntax, _ plan: EntityPlan, _ context: some MacroExpansionContext
    ) -> String {
        guard let argument = node.list.first(where: { $0.label == nil }),
            !argument.expression.isNil
        else { return "\"\(plan.declaration.name.plainText)\"" }
        if argument.expression.literalText == nil {
            context.report(.literalText, at: argument.expression)
        }
        return argument.expression.trimmedDescription
    }

    private static func entityArguments(
        _ node: AttributeSyntax, _ context: some MacroExpansionContext
    ) -> [String] {
        node.list.compactMap { argument in
            argument.label.map { "\($0.text): \(argument.expression.trimmed)" }
        }
    }

    private static func text(_ lists: [[String]]) -> String {
        let lists = lists.map { names in
            "[" + names.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        }
        return "[" + lists.joined(separator: ", ") + "]"
    }

    // MARK: Accessors

    open class func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let variable = member.as(VariableDeclSyntax.self),
            let mark = PersistedMarks.marks(of: declaration).mark(of: variable)
        else { return [] }
        let name = TokenSyntax.identifier(mark)
        return [AttributeSyntax(attributeName: IdentifierTypeSyntax(name: name))]
    }

    // MARK: Conformance

    open class func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // A class whose parent is an entity has the conformance already.
        guard !protocols.isEmpty, EntityPlan(declaration, reportingTo: nil) != nil else {
            return []
        }
        let conformance: DeclSyntax = "extension \(type.trimmed): Cairn.PersistentEntity {}"
        return conformance.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
}

extension DeclSyntax {
    /// A declaration as it is written, whose parts nobody asks for: the compiler gets its text.
    fileprivate init(verbatim text: String) {
        self.init(MissingDeclSyntax(placeholder: .identifier(text)))
    }
}
