// Whether a declared default value is the same for every object, and so a part of the model, or has to be computed for each
// one, like `Date()` and `UUID()`.
//
//   1. Literals, names and their members are the same; so are arrays of these.
//   2. A call is not, unless it is known to make a constant of its literal arguments.
//   3. `now` is not, although it is written like a constant.

import SwiftSyntax

enum DefaultValue {
    /// Whether the expression has to be evaluated for each object.
    static func isComputed(_ expression: ExprSyntax) -> Bool {
        let finder = ChangingFinder(viewMode: .sourceAccurate)
        finder.walk(expression)
        return finder.isFound
    }
}

/// Looks for a part whose value can differ from one time to the next.
private final class ChangingFinder: SyntaxVisitor {
    var isFound = false

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if !isConstant(node) { isFound = true }
        return isFound ? .skipChildren : .visitChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        isFound = true
        return .skipChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        isFound = true
        return .skipChildren
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        if node.declName.baseName.text == "now" { isFound = true }
        return .visitChildren
    }

    /// Calls whose result depends on their arguments alone, by type and labels.
    private func isConstant(_ call: FunctionCallExprSyntax) -> Bool {
        guard call.trailingClosure == nil else { return false }
        let labels = call.arguments.map { $0.label?.text ?? "_" }
        if call.calledExpression.is(ArrayExprSyntax.self)
            || call.calledExpression.is(DictionaryExprSyntax.self)
        {
            return labels.isEmpty
        }
        var called = call.calledExpression
        if let generic = called.as(GenericSpecializationExprSyntax.self) {
            called = generic.expression
        }
        guard let name = called.as(DeclReferenceExprSyntax.self)?.baseName.text else {
            return false
        }
        switch (name, labels) {
        case ("Data", []), ("String", []), ("Set", []), ("Array", []), ("Dictionary", []),
            ("Decimal", []), ("Decimal", ["_"]), ("Decimal", ["string"]), ("URL", ["string"]),
            ("UUID", ["uuidString"]), ("Date", ["timeIntervalSinceReferenceDate"]),
            ("Date", ["timeIntervalSince1970"]):
            return true
        default: return false
        }
    }
}
