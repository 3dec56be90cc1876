// `@_Persisted`: the accessors of one persistent property.

public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// Expands `@_Persisted`, which `@Entity` puts before persistent properties.
open class PersistedExpansion: AccessorMacro {
    open class func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        var number = "0"
        var isReadOnly = false
        var transformer = ""
        for argument in node.list {
            switch argument.label?.text {
            case nil: number = argument.expression.trimmedDescription
            case "inherits": number = "Columns._base + \(number)"
            case "transformer": transformer = ", by: \(argument.expression.trimmedDescription)"
            default: isReadOnly = true
            }
        }
        let getter: AccessorDeclSyntax = "get { _read(\(raw: number)\(raw: transformer)) }"
        let setter: AccessorDeclSyntax =
            "set { _write(\(raw: number), newValue\(raw: transformer)) }"
        return isReadOnly ? [getter] : [getter, setter]
    }
}
