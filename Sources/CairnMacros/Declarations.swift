// Properties of declarations.

import SwiftParser
package import SwiftSyntax

extension AttributeListSyntax {
    /// The attribute of that name, with or without a module's name before it.
    func named(_ name: String) -> AttributeSyntax? {
        for element in self {
            if case .attribute(let attribute) = element, attribute.name == name { return attribute }
        }
        return nil
    }
}

extension AttributeSyntax {
    /// The attribute's name without a module's.
    var name: String { attributeName.lastName }

    /// The arguments, if there are any.
    var list: [LabeledExprSyntax] {
        if case .argumentList(let list) = arguments { Array(list) } else { [] }
    }
}

extension TypeSyntax {
    /// The last name of a (dotted) type, without generic arguments.
    package var lastName: String {
        if let member = self.as(MemberTypeSyntax.self) { return member.name.text }
        if let plain = self.as(IdentifierTypeSyntax.self) { return plain.name.text }
        return trimmedDescription
    }
}

extension DeclModifierListSyntax {
    package func contains(_ keywords: Keyword...) -> Bool {
        contains { modifier in keywords.contains { modifier.name.tokenKind == .keyword($0) } }
    }

    /// The access level, as it is written before generated members.
    func access(atMost limit: String = "public ") -> String {
        for modifier in self where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.open), .keyword(.public): return limit
            case .keyword(.package): return limit.isEmpty ? "" : "package "
            case .keyword(.fileprivate): return "fileprivate "
            case .keyword(.private): return "private "
            default: break
            }
        }
        return ""
    }
}

extension TokenSyntax {
    /// The name without backticks.
    package var plainText: String {
        let text = self.text
        return text.hasPrefix("`") && text.hasSuffix("`") && text.count > 2
            ? String(text.dropFirst().dropLast()) : text
    }
}

extension VariableDeclSyntax {
    /// Whether it is `let`.
    var isConstant: Bool { bindingSpecifier.tokenKind == .keyword(.let) }
}

extension PatternBindingSyntax {
    /// Whether it has a getter: nothing is stored.
    var isComputed: Bool {
        guard let block = accessorBlock else { return false }
        guard case .accessors(let accessors) = block.accessors else { return true }
        return !accessors.allSatisfy(\.isObserver)
    }

    /// The first `willSet` or `didSet`.
    var observer: AccessorDeclSyntax? {
        guard case .accessors(let accessors) = accessorBlock?.accessors else { return nil }
        return accessors.first(where: \.isObserver)
    }
}

extension AccessorDeclSyntax {
    fileprivate var isObserver: Bool {
        switch accessorSpecifier.tokenKind {
        case .keyword(.willSet), .keyword(.didSet): true
        default: false
        }
    }
}

extension ExprSyntax {
    /// The text of a string literal without interpolations.
    var literalText: String? {
        self.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    }

    var isNil: Bool { self.is(NilLiteralExprSyntax.self) }

    /// The name of an option: `.unique`, `.transformable(by: X.self)`.
    var optionName: String? {
        if let call = self.as(FunctionCallExprSyntax.self) {
            return transformer == nil ? nil : call.calledExpression.optionName
        }
        return self.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    }

    /// The transformer in `.transformable(by: X.self)`.
    var transformer: String? {
        guard let call = self.as(FunctionCallExprSyntax.self),
            call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
                == "transformable",
            call.arguments.count == 1, let argument = call.arguments.first,
            argument.label?.text == "by"
        else { return nil }
        return argument.expression.trimmedDescription
    }

    /// The names of a key path's components, dotted; nil if it is no key path, or has other components.
    var keyPathName: String? {
        guard let path = self.as(KeyPathExprSyntax.self) else { return nil }
        var names: [String] = []
        for component in path.components {
            switch component.component {
            case .property(let property): names.append(property.declName.baseName.plainText)
            // `\.home?.city` and `\.home!.city` lead where `\.home.city` would.
            case .optional: continue
            default: return nil
            }
        }
        return names.isEmpty ? nil : names.joined(separator: ".")
    }
}
