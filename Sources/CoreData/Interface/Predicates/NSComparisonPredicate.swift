// A comparison with Core Data's names. Foundation on Linux has a class of that name, of which nothing can be made.
//
// Threads: predicates do not change; any.

import CairnModel
import CairnStore
public import Foundation

/// A predicate that compares two expressions.
open class NSComparisonPredicate: NSPredicate {
    /// How it compares.
    public let predicateOperatorType: Operator
    /// For how many members of a collection on the left side the comparison must hold.
    public let comparisonPredicateModifier: Modifier
    /// What is compared.
    public let leftExpression: NSExpression
    /// With what.
    public let rightExpression: NSExpression
    /// How texts are compared.
    public let options: Options
    /// Asks objects; an error if it has a part that is a closure.
    private let answers: Result<PredicateAnswers, StoreError>

    /// Compares two expressions.
    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier,
        type: Operator, options: Options = []
    ) {
        leftExpression = lhs
        rightExpression = rhs
        comparisonPredicateModifier = modifier
        predicateOperatorType = type
        self.options = options
        var unsaved = lhs.unsaved
        unsaved.add(rhs.unsaved)
        answers = Result { () throws(StoreError) in
            let comparison = PredicateNode.Comparison(
                try lhs.node, type.node, try rhs.node, modifier: modifier.node,
                options: options.node)
            return PredicateAnswers(.comparison(comparison), unsaved)
        }
        super.init(value: false)
    }

    /// Comparing by a selector needs Objective-C.
    @available(
        *, unavailable,
        message: "comparing by a selector needs Objective-C: give the operator and its options"
    )
    public convenience init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression,
        customSelector selector: Selector
    ) { fatalError("comparing by a selector needs Objective-C") }

    init(_ comparison: PredicateNode.Comparison, _ unsaved: UnsavedObjects) {
        leftExpression = NSExpression(comparison.left, unsaved)
        rightExpression = NSExpression(comparison.right, unsaved)
        comparisonPredicateModifier = Modifier(comparison.modifier)
        predicateOperatorType = Operator(comparison.operator)
        options = Options(rawValue: UInt(comparison.options.rawValue))
        answers = .success(PredicateAnswers(.comparison(comparison), unsaved))
        super.init(value: false)
    }

    var unsavedObjects: UnsavedObjects {
        if case .success(let answers) = answers { answers.unsaved } else { UnsavedObjects() }
    }

    var comparisonNode: PredicateNode {
        get throws(StoreError) { try answers.get().node }
    }

    /// The comparison in the format language.
    open override var predicateFormat: String {
        PredicateNode.Comparison.format(
            "\(leftExpression)", predicateOperatorType.node, "\(rightExpression)",
            modifier: comparisonPredicateModifier.node, options: options.node)
    }

    open override var description: String { predicateFormat }

    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSPredicate else { return false }
        guard let node = try? comparisonNode else { return other === self }
        return (try? other.node) == node
    }

    open override var hash: Int {
        guard let node = try? comparisonNode else { return ObjectIdentifier(self).hashValue }
        return node.hashValue
    }

    /// Whether it is true of an object, with the values of its variables.
    open override func evaluate(
        with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        if case .success(let answers) = answers {
            return answers.answer(for: object, variables: bindings)
        }
        // What a closure gives is a value that can be compared.
        let context = NSMutableDictionary(dictionary: bindings ?? [:])
        return NSComparisonPredicate(
            leftExpression: leftExpression.evaluated(with: object, context),
            rightExpression: rightExpression.evaluated(with: object, context),
            modifier: comparisonPredicateModifier, type: predicateOperatorType, options: options
        ).evaluate(with: object, substitutionVariables: bindings)
    }
}

extension NSComparisonPredicate {
    /// For how many members of a collection a comparison must hold.
    public enum Modifier: UInt, Sendable {
        /// There is no collection, or it is compared as a whole.
        case direct = 0
        /// For all of them.
        case all = 1
        /// For one of them or more.
        case any = 2

        fileprivate init(_ node: PredicateNode.Comparison.Modifier) {
            self =
                switch node {
                case .direct: .direct
                case .all: .all
                case .any: .any
                }
        }

        fileprivate var node: PredicateNode.Comparison.Modifier {
            switch self {
            case .direct: .direct
            case .all: .all
            case .any: .any
            }
        }
    }

    /// How two expressions are compared.
    public enum Operator: UInt, Sendable, CaseIterable {
        /// Less.
        case lessThan = 0
        /// Less or equal.
        case lessThanOrEqualTo = 1
        /// Greater.
        case greaterThan = 2
        /// Greater or equal.
        case greaterThanOrEqualTo = 3
        /// Equal.
        case equalTo = 4
        /// Not equal.
        case notEqualTo = 5
        /// A text matches a regular expression from end to end.
        case matches = 6
        /// A text is like a pattern of `*` and `?`.
        case like = 7
        /// A text begins so.
        case beginsWith = 8
        /// A text ends so.
        case endsWith = 9
        /// One of a collection, or part of a text.
        case `in` = 10
        /// The left side has the right one in it.
        case contains = 99
        /// Between two values, both included.
        case between = 100

        fileprivate init(_ node: PredicateNode.Comparison.Operator) {
            guard let known = Self.allCases.first(where: { $0.node == node }) else {
                preconditionFailure("every operator has its name")
            }
            self = known
        }

        fileprivate var node: PredicateNode.Comparison.Operator {
            switch self {
            case .lessThan: .less
            case .lessThanOrEqualTo: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqualTo: .greaterOrEqual
            case .equalTo: .equal
            case .notEqualTo: .notEqual
            case .matches: .matches
            case .like: .like
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .in: .in
            case .contains: .contains
            case .between: .between
            }
        }
    }

    /// How texts are compared.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// The options of these bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Without regard to case.
        public static let caseInsensitive = Options(rawValue: 1)
        /// Without regard to accents and the like.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// Both sides have been normalised already.
        public static let normalized = Options(rawValue: 4)

        fileprivate var node: PredicateNode.Comparison.Options {
            PredicateNode.Comparison.Options(rawValue: UInt8(truncatingIfNeeded: rawValue))
        }
    }
}
