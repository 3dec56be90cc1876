// NotificationCenter.default.addObserver(self, selector: #selector(saved(_:)), name: .NSManagedObjectContextDidSave, object: nil)
//
// A closure that calls the method is the same, as long as the observer is removed by nobody but its end: the closure holds it
// weakly. Apple's compilers keep the statement as it is. Where the method cannot be seen, or an observer is removed earlier,
// the selector is left for a person.

import CairnMacros
import SwiftSyntax

/// Observes notifications by closures where a selector is given.
struct NotificationObserverRule: Rule {
    let words = ["addObserver"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        if context.isInterface || !WordSearch(["#selector"]).finds(in: file.text) {
            return Examination()
        }
        let methods = ObserverMethods()
        methods.walk(file.tree)
        if methods.removesEarly { return Examination() }
        let visitor = Visitor(file, context)
        visitor.methods = methods
        visitor.walk(file.tree)
        return visitor.result
    }

    private final class Visitor: RuleVisitor {
        var methods = ObserverMethods()

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            if let selector = selector(of: node)?.as(MacroExpansionExprSyntax.self),
                let edits = edits(of: node, selector)
            {
                result.edits += edits
                return .skipChildren
            }
            return .visitChildren
        }

        /// A selector may have a name in front of the observers: it goes if it is used by nobody else.
        override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
            for item in Array(node) {
                guard let variable = item.item.as(VariableDeclSyntax.self),
                    variable.bindings.count == 1, let binding = variable.bindings.first,
                    let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
                    let selector = binding.initializer?.value.as(MacroExpansionExprSyntax.self)
                else { continue }
                let uses = NameUses(name)
                uses.walk(node)
                let calls = uses.references.compactMap { reference in
                    reference.parent?.parent?.parent?.as(FunctionCallExprSyntax.self)
                }
                let changes = calls.compactMap { call in
                    self.selector(of: call)?.trimmedDescription == name
                        ? edits(of: call, selector) : nil
                }
                guard !changes.isEmpty, changes.count == uses.references.count,
                    let declaration = PlatformBranches.edits(
                        of: item, [.removal(item.bytes)], file, context)
                else { continue }
                result.edits += declaration + changes.flatMap(\.self)
            }
            return .visitChildren
        }

        /// The selector of a call that observes by one.
        private func selector(of node: FunctionCallExprSyntax) -> ExprSyntax? {
            let arguments = Array(node.arguments)
            guard
                node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
                    == "addObserver",
                arguments.map({ $0.label?.text }) == [nil, "selector", "name", "object"],
                arguments[0].expression.trimmedDescription == "self"
            else { return nil }
            return arguments[1].expression
        }

        /// What makes a closure of a selector; nil if that is a person's business.
        private func edits(
            of node: FunctionCallExprSyntax, _ selector: MacroExpansionExprSyntax
        ) -> [SourceEdit]? {
            let arguments = Array(node.arguments)
            guard selector.macroName.text == "selector", selector.arguments.count == 1,
                let method = selector.arguments.first, method.label == nil,
                let call = call(of: method.expression), !isOfType(node),
                let base = node.calledExpression.as(MemberAccessExprSyntax.self)?.base,
                let statement = node.parent?.as(CodeBlockItemSyntax.self)
            else { return nil }
            let text =
                "_ = \(base.trimmedDescription).addObserver(forName: \(arguments[2].expression.trimmedDescription), object: \(arguments[3].expression.trimmedDescription), queue: nil) { [weak self] \(call.isUsed ? "notification" : "_") in self?.\(call.text) }"
            return PlatformBranches.edits(
                of: statement, [SourceEdit(node.bytes, text)], file, context)
        }

        /// How the method is called with the notification; nil if it is not to be seen.
        private func call(of method: ExprSyntax) -> (text: String, isUsed: Bool)? {
            let reference =
                method.as(DeclReferenceExprSyntax.self)
                ?? method.as(MemberAccessExprSyntax.self)?.declName
            guard let reference else { return nil }
            let name = reference.baseName.text
            let labels =
                reference.argumentNames?.arguments.map(\.name.text)
                ?? methods.labels[reference.baseName.plainText]
            switch labels?.count {
            case 0: return ("\(name)()", false)
            case 1:
                let label = labels?.first ?? "_"
                return ("\(name)(\(label == "_" ? "" : "\(label): ")notification)", true)
            default: return nil
            }
        }

        /// Whether `self` is a type here.
        private func isOfType(_ node: FunctionCallExprSyntax) -> Bool {
            node.ancestors.contains {
                $0.as(FunctionDeclSyntax.self)?.modifiers.contains(.static, .class) == true
            }
        }
    }
}

/// The methods of a file, and whether it removes observers before they end.
private final class ObserverMethods: LinuxVisitor {
    /// The labels of methods that have one declaration here.
    private(set) var labels: [String: [String]] = [:]
    private(set) var removesEarly = false
    private var seen: Set<String> = []

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        let name = node.name.plainText
        labels[name] =
            seen.insert(name).inserted
            ? node.signature.parameterClause.parameters.map(\.firstName.text) : nil
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if node.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            == "removeObserver", node.arguments.first?.expression.trimmedDescription == "self",
            !node.ancestors.contains(where: { $0.is(DeinitializerDeclSyntax.self) })
        {
            removesEarly = true
        }
        return .visitChildren
    }
}

/// Where a name is used.
private final class NameUses: LinuxVisitor {
    private let name: String
    private(set) var references: [DeclReferenceExprSyntax] = []

    init(_ name: String) {
        self.name = name
        super.init()
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        // A member of that name is something else.
        let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName == node
        if node.baseName.text == name, !isMember { references.append(node) }
        return .visitChildren
    }
}
