// The methods of an entity class that validate a property: identified by their name and their parameter, as in Core Data.
// `func validateName(_ value: inout String) throws` is about `name`.

import SwiftSyntax

extension FunctionDeclSyntax {
    /// The name of the method if it takes one value to change, and so may be what validates a property; else nil.
    var validatedName: String? {
        let parameters = signature.parameterClause.parameters
        guard name.text.hasPrefix("validate"), genericParameterClause == nil,
            !modifiers.contains(.static, .class), !modifiers.contains(.override),
            signature.returnClause == nil, signature.effectSpecifiers?.asyncSpecifier == nil,
            parameters.count == 1, let parameter = parameters.first,
            parameter.firstName.tokenKind == .wildcard,
            let type = parameter.type.as(AttributedTypeSyntax.self),
            type.specifiers.contains(where: { $0.isInout })
        else { return nil }
        return name.text
    }
}

extension TypeSpecifierListSyntax.Element {
    fileprivate var isInout: Bool {
        if case .simpleTypeSpecifier(let specifier) = self {
            specifier.specifier.tokenKind == .keyword(.inout)
        } else {
            false
        }
    }
}

extension PropertyPlan {
    /// The name of the method that validates the property's value.
    var validatorName: String {
        "validate\(modelName.prefix(1).uppercased())\(modelName.dropFirst())"
    }
}
