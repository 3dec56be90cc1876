// A predicate of Foundation as the tree that stores and objects are asked with, and back.

package import CairnModel
import CairnObjects
import CairnStore
package import Foundation

extension NSPredicate {
    /// The tree.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if part of it is a closure, which only objects in memory can be asked.
    package var node: PredicateNode {
        get throws(StoreError) {
            switch self {
            case let comparison as NSComparisonPredicate: return try comparison.comparisonNode
            case let compound as NSCompoundPredicate: return try compound.compoundNode
            case let compound as Foundation.NSCompoundPredicate:
                return try .joining(compound.compoundPredicateType, compound.subpredicates)
            default: break
            }
            if let truth { return .constant(truth) }
            throw StoreError(
                .invalidRequest,
                "a predicate that is a closure cannot be asked of a store: fetch without it, and filter what was fetched"
            )
        }
    }

    /// The tree for objects of an entity that are stored.
    func node(
        for entityName: String, in context: NSManagedObjectContext
    ) throws(StoreError) -> PredicateNode {
        let schema = context.core.schema
        // That there is no such entity the request says.
        guard let entity = schema.entity(named: entityName) else { return try node }
        return try node.withNumbersAsTexts(of: entity, in: schema)
            .withoutAnyOfOneValue(of: entity, in: schema)
    }

    /// What a predicate that is a truth value is; nil for one that is a closure.
    private var truth: Bool? {
        // Only these two are equal to others.
        if isEqual(NSPredicate(value: true)) { return true }
        return isEqual(NSPredicate(value: false)) ? false : nil
    }

    /// How it is written in the format language, as Core Data writes it. Foundation has this for truth values alone.
    var format: String {
        switch self {
        case let comparison as NSComparisonPredicate: return comparison.predicateFormat
        case let compound as Foundation.NSCompoundPredicate:
            return PredicateNode.format(
                compound.compoundPredicateType.combination,
                compound.subpredicates.map {
                    (text: $0.format, isJoin: $0 is Foundation.NSCompoundPredicate)
                })
        default: return truth.map(PredicateNode.format) ?? "BLOCKPREDICATE"
        }
    }

    /// The predicate of a tree: of the class that says what it is made of.
    package static func predicate(for node: PredicateNode) -> NSPredicate {
        predicate(for: node, UnsavedObjects())
    }

    /// The same with objects that it names, whose ids will change.
    static func predicate(for node: PredicateNode, _ unsaved: UnsavedObjects) -> NSPredicate {
        switch node {
        case .constant(let truth): NSPredicate(value: truth)
        case .comparison(let comparison): NSComparisonPredicate(comparison, unsaved)
        case .and(let parts): NSCompoundPredicate(node, unsaved, .and, parts)
        case .or(let parts): NSCompoundPredicate(node, unsaved, .or, parts)
        case .not(let part): NSCompoundPredicate(node, unsaved, .not, [part])
        }
    }

    /// The objects that it names whose ids will change, or have changed since.
    var unsaved: UnsavedObjects {
        switch self {
        case let comparison as NSComparisonPredicate: return comparison.unsavedObjects
        case let compound as NSCompoundPredicate: return compound.unsavedObjects
        case let compound as Foundation.NSCompoundPredicate:
            var unsaved = UnsavedObjects()
            for part in compound.subpredicates { unsaved.add(part.unsaved) }
            return unsaved
        default: return UnsavedObjects()
        }
    }
}

extension PredicateNode {
    /// The tree of a combination.
    static func joining(
        _ type: Foundation.NSCompoundPredicate.LogicalType, _ given: [NSPredicate]
    ) throws(StoreError) -> PredicateNode {
        var parts: [PredicateNode] = []
        for part in given { parts.append(try part.node) }
        return switch type {
        case .and: .and(parts)
        case .or: .or(parts)
        // Foundation refuses one of nothing.
        case .not: .not(parts.first ?? .constant(true))
        }
    }
}

extension Foundation.NSCompoundPredicate.LogicalType {
    fileprivate var combination: PredicateNode.Combination {
        switch self {
        case .and: .and
        case .or: .or
        case .not: .not
        }
    }
}
