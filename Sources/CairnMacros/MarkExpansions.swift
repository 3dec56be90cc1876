// Attributes that expand to nothing: `@Entity` reads them. Each checks that it is in a valid place.

public import SwiftSyntax
public import SwiftSyntaxMacros

/// Expands `@Attribute`, `@Relationship` and `@Transient`: to nothing.
open class MarkExpansion: PeerMacro {
    open class func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let mark = "@\(node.name)"
        guard context.isInEntity else {
            context.report(.outside(mark), at: node)
            return []
        }
        let variable = declaration.as(VariableDeclSyntax.self)
        let isStored =
            variable.map { variable in
                !variable.modifiers.contains(.static, .class, .lazy)
                    && !variable.bindings.contains(where: \.isComputed)
            } ?? false
        if !isStored {
            context.report(.notStored(mark), at: node)
        } else if node.name != "Transient", variable?.isConstant == true {
            context.report(.notStored(mark), at: node)
        } else if node.name == "Transient" {
            for other in ["Attribute", "Relationship"]
            where variable?.attributes.named(other) != nil {
                context.report(.both("@\(other)", mark), at: node)
            }
        }
        return []
    }
}

/// Expands `#Unique` and `#Index`: to nothing.
open class KeyListExpansion: DeclarationMacro {
    open class func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if !context.isInEntity { context.report(.outsideKeys(node.macroName.text), at: node) }
        return []
    }
}

extension MacroExpansionContext {
    /// Whether the nearest type around is marked `@Entity`.
    fileprivate var isInEntity: Bool {
        for syntax in lexicalContext {
            if let group = syntax.asProtocol((any DeclGroupSyntax).self) {
                return group.attributes.named("Entity") != nil
            }
        }
        return false
    }
}
