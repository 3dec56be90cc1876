// `@_Persisted`: the accessors of one persistent property.

public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// Expands `@_Persisted`, which `@Entity` puts before persistent properties.
open class PersistedExpansion: AccessorMacro {
    /// What is written has its spaces.
    open class var formatMode: FormatMode { .disabled }

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
        let getter = AccessorDeclSyntax(.get, "_read(\(number)\(transformer))")
        let setter = AccessorDeclSyntax(.set, "_write(\(number), newValue\(transformer))")
        return isReadOnly ? [getter] : [getter, setter]
    }
}

extension AccessorDeclSyntax {
    /// An accessor with a call in it, which nobody here reads: the compiler gets its text.
    init(_ keyword: Keyword, _ call: String) {
        self.init(
            accessorSpecifier: .keyword(keyword, trailingTrivia: .space),
            body: CodeBlockSyntax(statements: [CodeBlockItemSyntax(call: call)]))
    }
}

extension CodeBlockItemSyntax {
    /// A statement that is a call.
    init(call: String) {
        self.init(
            item: .expr(ExprSyntax(MissingExprSyntax(placeholder: .identifier(" \(call) ")))))
    }
}
