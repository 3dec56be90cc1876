// Tokens in conditions on the history.
//
// A token has a number for each store. What is compared with it is the number of a transaction: so the comparison becomes one
// for each store of the token. Of a store that it does not name all that is there came after it.

public import CairnModel
public import CairnStore
import FoundationEssentials

extension PersistentHistoryToken: PredicateArgument {
    /// The token of one store as the number of its last transaction. Conditions on the history take those of several, too.
    public var _predicateArgument: PredicateParser.Argument {
        .value(.integer(Int64(clamping: numbers.values.max() ?? 0)))
    }
}

/// Puts tokens into a condition.
struct HistoryTokens {
    /// By what stands for them while the format is read.
    private var tokens: [UUID: PersistentHistoryToken] = [:]
    /// What stands for those that are in the condition by now.
    private var replacedMarks: Set<UUID> = []

    /// A condition on the history whose arguments may be tokens.
    static func predicate(_ format: String, _ arguments: [(any PredicateArgument)?])
        throws(PredicateFormatError) -> PredicateNode
    {
        var tokens = HistoryTokens()
        let values = arguments.map { tokens.argument($0) }
        let node = try PredicateNode(format: format, arguments: values)
        if tokens.tokens.isEmpty { return node }
        let replaced = try tokens.replaced(node)
        // Such as one in braces: what stands for it would be compared as it is.
        if tokens.replacedMarks.count < tokens.tokens.count { throw misplaced }
        return replaced
    }

    private static var misplaced: PredicateFormatError {
        PredicateFormatError(
            "a token can only be compared with the key token, by == != < <= > or >=", key: "token")
    }

    private mutating func argument(_ argument: (any PredicateArgument)?)
        -> PredicateParser.Argument
    {
        guard let token = argument as? PersistentHistoryToken else {
            return argument?._predicateArgument ?? .value(.null)
        }
        let mark = UUID()
        tokens[mark] = token
        return .value(.uuid(mark))
    }

    private mutating func token(_ node: ExpressionNode) -> PersistentHistoryToken? {
        guard case .constant(.uuid(let mark)) = node, let token = tokens[mark] else { return nil }
        replacedMarks.insert(mark)
        return token
    }

    private mutating func replaced(_ node: PredicateNode) throws(PredicateFormatError)
        -> PredicateNode
    {
        switch node {
        case .constant: return node
        case .not(let part): return .not(try replaced(part))
        case .and(let parts):
            return .and(
                try parts.map { part throws(PredicateFormatError) in try replaced(part) })
        case .or(let parts):
            return .or(try parts.map { part throws(PredicateFormatError) in try replaced(part) })
        case .comparison(let comparison): return try replaced(comparison)
        }
    }

    private mutating func replaced(_ comparison: PredicateNode.Comparison)
        throws(PredicateFormatError) -> PredicateNode
    {
        let sides: (ExpressionNode, PersistentHistoryToken, PredicateNode.Comparison.Operator?)
        if let token = token(comparison.right) {
            sides = (comparison.left, token, comparison.operator)
        } else if let token = token(comparison.left) {
            sides = (comparison.right, token, comparison.operator.turned)
        } else {
            return .comparison(comparison)
        }
        let (side, token, relation) = sides
        guard case .keyPath(let path) = side, path == "token" || path.hasSuffix(".token"),
            comparison.modifier == .direct, let relation, relation.isEqualityOrOrder
        else { throw Self.misplaced }
        let store = ExpressionNode.keyPath(String(path.dropLast("token".count)) + "storeID")
        func isOf(_ identifier: UUID) -> PredicateNode {
            .compare(store, .equal, .constant(.uuid(identifier)))
        }
        var parts = token.numbers.sorted { $0.key.uuidString < $1.key.uuidString }.map {
            isOf($0.key) && .compare(side, relation, .constant(.integer(Int64(clamping: $0.value))))
        }
        switch relation {
        case .greater, .greaterOrEqual, .notEqual:
            parts.append(.not(.or(token.numbers.keys.map(isOf))))
        default: break
        }
        return .or(parts)
    }
}

extension PredicateNode.Comparison.Operator {
    fileprivate var isEqualityOrOrder: Bool {
        self == .equal || self == .notEqual || (isOfOrder && self != .between)
    }
}
