// `@NSManagedAccessor`: the functions for members of to-many relationships that Xcode declares and Core Data writes.
//
//   1. The name says what is done and to which relationship: addToItems, removeFromItems, insertIntoItems, replaceItems.
//      Those that were written for Objective-C, addItemsObject and addItems, mean the same.
//   2. The body calls what does it; which of its forms, the compiler knows by the type of the parameter.
//   3. A type beside the function says at run time what was declared, as for properties.

public import SwiftSyntax
import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// Expands `@NSManagedAccessor` of the module CoreData.
open class ManagedAccessorExpansion: BodyMacro, PeerMacro {
    /// What is written has its spaces.
    open class var formatMode: FormatMode { .disabled }

    open class func expansion(
        of node: AttributeSyntax,
        providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        guard let function = declaration.as(FunctionDeclSyntax.self),
            let accessor = MemberAccessor(function)
        else { return [] }
        return [CodeBlockItemSyntax(call: accessor.call)]
    }

    open class func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let function = declaration.as(FunctionDeclSyntax.self) else {
            context.report(.managedFunction, at: node)
            return []
        }
        if let body = function.body {
            context.report(.managedBody, at: body)
            return []
        }
        guard let accessor = MemberAccessor(function) else {
            context.report(.managedName(function.name.text), at: function.name)
            return []
        }
        guard let owner = context.managedClass(node) else { return [] }
        return [
            context.declaration(
                "\(owner).self, \"\(accessor.key)\", function: \"\(function.name.plainText)\", (\(accessor.type)).self, isOrdered: \(accessor.isOrdered)",
                discriminator: function.signature.parameterClause.trimmedDescription)
        ]
    }
}
