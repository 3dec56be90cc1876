// `@Composite`: reading and writing a struct whose properties are leaves of a composite attribute.

public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// Expands `@Composite`.
open class CompositeExpansion: ExtensionMacro {
    private struct Element {
        let name: TokenSyntax
        let type: TypeSyntax
        let defaultValue: ExprSyntax?

        var arguments: String {
            var arguments = "Cairn.TypedKind.of((\(type)).self)"
            if let defaultValue, !defaultValue.isNil {
                arguments += ", default: { \(defaultValue) }"
            }
            return arguments
        }
    }

    open class func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            context.report(.notAStruct, at: node)
            return []
        }
        if let clause = structure.genericParameterClause {
            context.report(.genericStruct, at: clause)
            return []
        }
        guard let elements = elements(structure, context) else { return [] }
        guard !elements.isEmpty else {
            context.report(.emptyComposite, at: structure.name)
            return []
        }
        var access = structure.modifiers.access()
        if access.hasSuffix("private ") { access = "" }
        let name =
            node.list.first { $0.label == nil && !$0.expression.isNil }?.expression
            .trimmedDescription ?? "\"\(structure.name.plainText)\""
        let descriptions = elements.map { element in
            let computed =
                element.defaultValue.map(DefaultValue.isComputed) == true ? ", computed: true" : ""
            return
                "            Cairn.CompositeElement(\"\(element.name.plainText)\", \(element.arguments)\(computed)),\n"
        }
        let checks = elements.compactMap { element in
            PropertyPlan.emptyValueCheck(element.type, element.defaultValue).map {
                "            \($0)\n"
            }
        }
        var list = "[\n\(descriptions.joined())        ]"
        if !checks.isEmpty {
            list = "{\n\(checks.joined())            return \(list)\n        }()"
        }
        let reads = elements.enumerated().map { number, element in
            "        let value\(number) = reader.next(\(element.arguments))\n"
        }
        let unwraps = elements.indices.map { "let value\($0)" }.joined(separator: ", ")
        let sets = elements.enumerated().map { "        self.\($1.name) = value\($0)\n" }
        let writes = elements.map { element in
            "        writer.put(Cairn.TypedKind.of((\(element.type)).self), self.\(element.name))\n"
        }
        let keys = elements.map { element in
            "        case \\\(type.trimmed).\(element.name): return \"\(element.name.plainText)\"\n"
        }
        // Behind a dotted type, `?.?` would be read as an operator.
        let paths = elements.map { element in
            "            Cairn.PropertyPaths(\\\(type.trimmed).\(element.name), \\Self?.?.\(element.name)),\n"
        }
        let conformance: DeclSyntax = """
            extension \(type.trimmed): Cairn.CompositeValue {
                \(raw: access)static var _compositeName: String { \(raw: name) }
                \(raw: access)static let _elements: [Cairn.CompositeElement] = \(raw: list)
                \(raw: access)static var _paths: [Cairn.PropertyPaths] {
                    [
            \(raw: paths.joined())        ]
                }
                \(raw: access)init?(_from reader: inout Cairn.CompositeReader) {
            \(raw: reads.joined())        guard \(raw: unwraps) else { return nil }
            \(raw: sets.joined())    }
                \(raw: access)func _write(to writer: inout Cairn.CompositeWriter) {
            \(raw: writes.joined())    }
                \(raw: access)static func _key(for path: AnyKeyPath) -> String? {
                    switch path as? PartialKeyPath<\(type.trimmed)> {
            \(raw: keys.joined())        default: return nil
                    }
                }
            }
            """
        return conformance.as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }

    /// The stored properties; nil if one of them cannot be an element.
    private static func elements(
        _ structure: StructDeclSyntax, _ context: some MacroExpansionContext
    ) -> [Element]? {
        var elements: [Element] = []
        var isWhole = true
        for member in structure.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self),
                !variable.modifiers.contains(.static, .lazy)
            else { continue }
            for binding in variable.bindings where !binding.isComputed {
                let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
                guard let name, let type = binding.typeAnnotation?.type else {
                    context.report(.noElementType, at: binding)
                    isWhole = false
                    continue
                }
                guard !variable.isConstant else {
                    context.report(.constantElement, at: variable.bindingSpecifier)
                    isWhole = false
                    continue
                }
                elements.append(
                    Element(
                        name: name, type: type.trimmed,
                        defaultValue: binding.initializer?.value.trimmed))
            }
        }
        return isWhole ? elements : nil
    }
}
