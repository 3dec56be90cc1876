// The lists of keys in an entity class: uniqueness constraints and fetch indexes.
//
// A list with a key that cannot be one is reported and left out whole. Key paths are looked at by their first
// name alone: what lies behind it, and what a class inherits, the compiler checks when it types them.

import SwiftSyntax
import SwiftSyntaxMacros

extension EntityPlan {
    /// The uniqueness constraints, including those of single attributes, in source order: lists of names, and those with
    /// options as expressions.
    func uniquenessConstraints(_ context: any MacroExpansionContext)
        -> (plain: [[String]], rules: [String])
    {
        var lists: [[String]] = []
        var rules: [String] = []
        for member in declaration.memberBlock.members {
            if let variable = member.decl.as(VariableDeclSyntax.self),
                let property = PropertyPlan(variable, reportingTo: nil),
                property.options.contains("unique")
            {
                lists.append([property.modelName])
            } else {
                let found = keyLists(member.decl, of: "Unique", context)
                let options = options(of: member.decl, on: found, context)
                if options.isEmpty {
                    lists += found
                } else {
                    rules += found.map { names in
                        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
                        return "Cairn.UniquenessRule([\(list)], \(options.joined(separator: ", ")))"
                    }
                }
            }
        }
        return (lists, rules)
    }

    /// The options of a constraint, as arguments of its description.
    private func options(
        of member: DeclSyntax, on lists: [[String]], _ context: any MacroExpansionContext
    ) -> [String] {
        guard let expansion = member.as(MacroExpansionDeclSyntax.self),
            expansion.macroName.text == "Unique"
        else { return [] }
        var options: [String] = []
        for argument in expansion.arguments {
            guard let label = argument.label?.text else { continue }
            let expression = argument.expression
            if label == "where" {
                if expression.isNil { continue }
                if expression.literalText == nil {
                    context.report(.literalText, at: expression)
                } else {
                    options.append("format: \(expression.trimmed)")
                }
                continue
            }
            guard let literal = expression.as(BooleanLiteralExprSyntax.self) else {
                context.report(.literalFlag, at: expression)
                continue
            }
            guard literal.literal.tokenKind == .keyword(.true) else { continue }
            if label != "nilsAreEqual", lists.contains(where: { !mayHoldText($0) }) {
                context.report(.textlessKeys(label), at: argument)
                continue
            }
            options.append("\(label): true")
        }
        return options
    }

    /// Whether one of the keys may be a text; of what is inherited or of a type of one's own it is not known here.
    private func mayHoldText(_ keys: [String]) -> Bool {
        keys.contains { key in
            guard !key.contains("."),
                let property = properties.first(where: { $0.modelName == key })
            else { return true }
            return property.relationshipMark == nil && !PropertyPlan.isNeverText(property.type)
        }
    }

    /// The indexes, in the order of the text; a key whose values descend has a `-` before it.
    func indexes(_ context: any MacroExpansionContext) -> [[String]] {
        var lists: [[String]] = []
        for member in declaration.memberBlock.members {
            for list in keyLists(member.decl, of: "Index", context) {
                if lists.contains(list) {
                    context.report(.repeatedIndex, at: member.decl)
                } else {
                    lists.append(list)
                }
            }
        }
        return lists
    }

    private func keyLists(
        _ member: DeclSyntax, of macro: String, _ context: any MacroExpansionContext
    ) -> [[String]] {
        guard let expansion = member.as(MacroExpansionDeclSyntax.self),
            expansion.macroName.text == macro
        else { return [] }
        if let argument = expansion.genericArgumentClause?.arguments.first,
            case .type(let type) = argument.argument, type.lastName != className
        {
            context.report(.foreignKeys(macro, className), at: argument)
            return []
        }
        guard expansion.arguments.contains(where: { $0.label == nil }) else {
            context.report(.emptyKeyList(macro), at: expansion)
            return []
        }
        var lists: [[String]] = []
        // What has a name is an option.
        for argument in expansion.arguments where macro != "Unique" || argument.label == nil {
            guard let array = argument.expression.as(ArrayExprSyntax.self) else {
                context.report(.keyList(macro), at: argument)
                continue
            }
            guard !array.elements.isEmpty else {
                context.report(.emptyKeyList(macro), at: array)
                continue
            }
            var keys: [String] = []
            var seen: Set<String> = []
            for element in array.elements {
                guard let key = Key(element.expression, of: macro) else {
                    context.report(.keyList(macro), at: element.expression)
                    continue
                }
                if let misuse = misuse(of: key.name, macro) {
                    context.report(misuse, at: element.expression)
                } else if !seen.insert(key.name).inserted {
                    context.report(.repeatedKey(key.name), at: element.expression)
                } else {
                    keys.append((key.isAscending ? "" : "-") + key.name)
                }
            }
            if keys.count == array.elements.count { lists.append(keys) }
        }
        return lists
    }

    /// Why a name cannot be a key; a class that inherits may have it from there.
    private func misuse(of key: String, _ macro: String) -> Misuse? {
        let first = key.prefix { $0 != "." }
        guard let property = properties.first(where: { $0.modelName == first }) else {
            return isRoot ? .unknownKey(key, className) : nil
        }
        if property.options.contains("ephemeral") { return .ephemeralKey(macro, key) }
        if property.isToMany { return .toManyKey(macro, key) }
        if property.transformer != nil || PropertyPlan.isCollection(property.type) {
            return .collectionKey(macro, key)
        }
        if property.isDerived, macro == "Unique" { return .derivedUnique }
        return nil
    }
}

/// One element of a list.
private struct Key {
    let name: String
    var isAscending = true

    /// `\.name`, in an index also `.ascending(\.name)` and `.descending(\.name)`.
    init?(_ expression: ExprSyntax, of macro: String) {
        if let name = expression.keyPathName {
            self.name = name
            return
        }
        guard macro == "Index", let call = expression.as(FunctionCallExprSyntax.self),
            let direction = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName
                .text, ["ascending", "descending"].contains(direction), call.arguments.count == 1,
            let name = call.arguments.first?.expression.keyPathName
        else { return nil }
        self.name = name
        isAscending = direction == "ascending"
    }
}
