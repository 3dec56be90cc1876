// Short questions about syntax.

import SwiftSyntax

extension SyntaxProtocol {
    /// The bytes of a node without what surrounds it.
    var bytes: Range<Int> {
        positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
    }

    /// The nodes around this one, the nearest first.
    var ancestors: [Syntax] {
        var ancestors: [Syntax] = []
        var next = parent
        while let node = next {
            ancestors.append(node)
            next = node.parent
        }
        return ancestors
    }
}

extension TypeSyntax {
    /// The type that an optional wraps; the type itself if it is none.
    var unwrapped: TypeSyntax {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        return self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType ?? self
    }
}

extension MemberBlockItemListSyntax {
    /// The members that Linux may compile, also those in an `#if`.
    var onLinux: [DeclSyntax] {
        flatMap { item -> [DeclSyntax] in
            guard let node = item.decl.as(IfConfigDeclSyntax.self) else { return [item.decl] }
            return LinuxCondition.clauses(of: node).flatMap { clause -> [DeclSyntax] in
                guard case .decls(let members)? = clause.elements else { return [] }
                return members.onLinux
            }
        }
    }
}
