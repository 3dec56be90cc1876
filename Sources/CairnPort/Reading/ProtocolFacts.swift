// What has to be known before a protocol of Objective-C becomes one of Swift alone.
//
//   1. Requirements that a type may leave out become requirements with default implementations. Only one that returns nothing,
//      or an optional, has an answer to give by default: a call of one that is left out gives nil.
//   2. What is exposed to Objective-C can name no protocol of Swift alone.

import CairnMacros
import SwiftSyntax

/// A protocol that is marked with `@objc`, or has requirements that a type may leave out.
struct ProtocolFacts: Sendable {
    let name: String
    let inherited: [String]
    let isObjectiveC: Bool
    /// The requirements that a type may leave out, by their names with labels.
    private(set) var optional: Set<String> = []
    /// Whether each of those can have a default implementation.
    private(set) var hasDefaults = true
    /// The types that the requirements name.
    private(set) var named: Set<String> = []

    init(_ node: ProtocolDeclSyntax) {
        name = node.name.plainText
        inherited = node.inheritanceClause?.inheritedTypes.map(\.type.lastName) ?? []
        isObjectiveC = AppleAttributes.isObjectiveC(node.attributes)
        for member in node.memberBlock.members.onLinux {
            named.formUnion(TypeNames.of(member))
            guard member.isOptionalRequirement else { continue }
            guard let function = member.as(FunctionDeclSyntax.self), function.hasDefaultAnswer
            else {
                hasDefaults = false
                continue
            }
            optional.insert(function.fullName)
        }
    }
}

/// The types that code names.
final class TypeNames: SyntaxVisitor {
    private var names: Set<String> = []

    static func of(_ node: some SyntaxProtocol) -> Set<String> {
        let visitor = TypeNames(viewMode: .sourceAccurate)
        visitor.walk(node)
        return visitor.names
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        names.insert(node.name.plainText)
        return .visitChildren
    }
}

extension DeclSyntax {
    /// Whether a type may leave it out.
    var isOptionalRequirement: Bool {
        asProtocol((any WithModifiersSyntax).self)?.modifiers.contains(.optional) ?? false
    }
}

extension FunctionDeclSyntax {
    /// The name with the labels: `controller(_:didChange:)`.
    var fullName: String {
        let labels = signature.parameterClause.parameters.map { "\($0.firstName.plainText):" }
        return "\(name.plainText)(\(labels.joined()))"
    }

    /// What a default implementation of it does; nil if there is no answer that means nothing.
    var defaultBody: String? {
        guard !modifiers.contains(.static, .class), genericParameterClause == nil else {
            return nil
        }
        guard let type = signature.returnClause?.type else { return "{}" }
        if ["Void", "()"].contains(type.trimmedDescription) { return "{}" }
        return type.is(OptionalTypeSyntax.self) ? "{ nil }" : nil
    }

    fileprivate var hasDefaultAnswer: Bool { defaultBody != nil }
}
