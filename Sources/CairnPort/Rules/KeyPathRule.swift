// #keyPath(Note.author.name)
//
// The compiler makes a string of it only with the Objective-C runtime. The string itself is the same everywhere: the names
// behind the type. A name that @objc(name) changes is the changed one. NSStringFromSelector(#selector(getter: Note.title)) is
// such a string as well.

import CairnMacros
import SwiftSyntax

/// Writes `#keyPath` as a string.
struct KeyPathRule: Rule {
    let words = ["#keyPath", "NSStringFromSelector"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
            guard node.macroName.text == "keyPath" else { return .visitChildren }
            guard node.arguments.count == 1, let argument = node.arguments.first,
                let names = Self.names(argument.expression)
            else {
                remark(
                    node, "#keyPath",
                    "it needs the Objective-C runtime, and its argument is not a simple path",
                    "the key path as a string")
                return .skipChildren
            }
            if let key = key(names, node) {
                // "\(#keyPath(Note.title)) == %@" has the key itself in the text.
                let segment = node.parent?.parent?.parent?.as(ExpressionSegmentSyntax.self)
                let isSegment = segment?.expressions.count == 1
                result.edits.append(
                    isSegment
                        ? SourceEdit(segment?.bytes ?? node.bytes, key)
                        : SourceEdit(node.bytes, "\"\(key)\""))
            }
            return .skipChildren
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            guard node.calledExpression.trimmedDescription == "NSStringFromSelector",
                let selector = node.arguments.first?.expression.as(MacroExpansionExprSyntax.self),
                selector.macroName.text == "selector", let getter = selector.arguments.first,
                getter.label?.text == "getter", let names = Self.names(getter.expression),
                let key = key(names, selector)
            else { return .visitChildren }
            result.edits.append(SourceEdit(node.bytes, "\"\(key)\""))
            return .skipChildren
        }

        private static func names(_ expression: ExprSyntax) -> [String]? {
            if let name = expression.as(DeclReferenceExprSyntax.self) {
                return [name.baseName.plainText]
            }
            if let member = expression.as(MemberAccessExprSyntax.self) {
                guard let base = member.base else { return nil }
                return names(base).map { $0 + [member.declName.baseName.plainText] }
            }
            if let special = expression.as(GenericSpecializationExprSyntax.self) {
                return names(special.expression)
            }
            if let optional = expression.as(OptionalChainingExprSyntax.self) {
                return names(optional.expression)
            }
            if let forced = expression.as(ForceUnwrapExprSyntax.self) {
                return names(forced.expression)
            }
            return nil
        }

        /// The key path without the type that it begins at; nil if it is no business of Linux.
        private func key(_ names: [String], _ node: MacroExpansionExprSyntax) -> String? {
            let code = context.code
            let count = typeCount(names)
            let types = names.prefix(count)
            let surroundings = Surroundings(of: node)
            if context.isInterface {
                let isManaged =
                    types.isEmpty
                    ? surroundings.areManaged(in: code)
                    : types.contains(where: code.managedClasses.contains)
                guard isManaged else { return nil }
            }
            var keys = Array(names.dropFirst(count))
            let owner =
                types.last.map {
                    ["Self", "self"].contains($0) ? surroundings.types.first ?? $0 : $0
                }
                ?? surroundings.types.first
            if let owner, let name = code.objectiveCNames["\(owner).\(keys[0])"] { keys[0] = name }
            return keys.joined(separator: ".")
        }

        /// How many of the names are those of types and modules. Properties begin with small letters, and a path has one name
        /// at least.
        private func typeCount(_ names: [String]) -> Int {
            let code = context.code
            var count = 0
            while count < names.count - 1 {
                let name = names[count]
                let isType = code.types.contains(name) || code.managedClasses.contains(name)
                let looksSo =
                    name == "self" || name.unicodeScalars.first?.properties.isUppercase ?? false
                guard isType || looksSo else { break }
                // Behind a class comes a nested type or a property.
                if count > 0, !isType, code.types.contains(names[count - 1]) { break }
                count += 1
            }
            return count
        }
    }
}
