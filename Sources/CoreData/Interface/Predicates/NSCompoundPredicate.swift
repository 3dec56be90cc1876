// A combination of predicates, with Core Data's names. Foundation on Linux has the class, but all of its objects are equal, and
// none knows its format. Those of a program that sees Foundation's class alone work as well, but for that.
//
// Threads: predicates do not change; any.

import CairnModel
import CairnStore
public import Foundation

/// A predicate that combines others by AND or OR, or negates one.
open class NSCompoundPredicate: Foundation.NSCompoundPredicate {
    /// Asks objects; an error if it has a part that is a closure.
    private let answers: Result<PredicateAnswers, StoreError>

    /// Combines predicates.
    public override init(type: LogicalType, subpredicates: [NSPredicate]) {
        var unsaved = UnsavedObjects()
        for part in subpredicates { unsaved.add(part.unsaved) }
        answers = Result { () throws(StoreError) in
            PredicateAnswers(try .joining(type, subpredicates), unsaved)
        }
        super.init(type: type, subpredicates: subpredicates)
    }

    /// True where all of the predicates are.
    public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .and, subpredicates: subpredicates)
    }

    /// True where one of the predicates is, or more.
    public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .or, subpredicates: subpredicates)
    }

    /// True where the predicate is not.
    public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
        self.init(type: .not, subpredicates: [predicate])
    }

    init(
        _ node: PredicateNode, _ unsaved: UnsavedObjects, _ type: LogicalType,
        _ parts: [PredicateNode]
    ) {
        answers = .success(PredicateAnswers(node, unsaved))
        super.init(
            type: type, subpredicates: parts.map { NSPredicate.predicate(for: $0, unsaved) })
    }

    var unsavedObjects: UnsavedObjects {
        if case .success(let answers) = answers { answers.unsaved } else { UnsavedObjects() }
    }

    var compoundNode: PredicateNode {
        get throws(StoreError) { try answers.get().node }
    }

    /// What it combines.
    open override var subpredicates: [NSPredicate] {
        didSet { preconditionFailure("a predicate cannot be changed") }
    }

    /// How it combines them.
    open override var compoundPredicateType: LogicalType {
        didSet { preconditionFailure("a predicate cannot be changed") }
    }

    /// The predicate in the format language.
    open override var predicateFormat: String { format }

    open override var description: String { predicateFormat }

    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ other: Any?) -> Bool {
        if let node = try? compoundNode { return (try? (other as? NSPredicate)?.node) == node }
        // Closures are equal to themselves alone.
        guard let other = other as? Foundation.NSCompoundPredicate else { return false }
        return other.compoundPredicateType == compoundPredicateType
            && other.subpredicates == subpredicates
    }

    open override var hash: Int {
        (try? compoundNode)?.hashValue ?? subpredicates.hashValue
    }

    /// Whether it is true of an object, with the values of its variables.
    open override func evaluate(
        with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        guard case .success(let answers) = answers else {
            return super.evaluate(with: object, substitutionVariables: bindings)
        }
        return answers.answer(for: object, variables: bindings)
    }
}
