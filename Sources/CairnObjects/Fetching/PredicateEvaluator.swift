// Answers a predicate for one object in memory, as a store answers it for a row.
//
//   1. Keys become columns and values are brought to the columns' types, once: what does not fit is an
//      error, as it is in a store.
//   2. A comparison is looked up by column. Logic is two-valued: nil equals nil and nothing else, every other
//      comparison with nil is false, and "not equal" is the negation of "equal".

import CairnModel
import CairnStore

/// A predicate that has been checked against an entity.
struct PredicateEvaluator {
    /// The predicate with its values brought to the columns' types.
    let predicate: PredicateNode
    private let entity: SchemaEntity

    /// Checks a predicate.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the key.
    init(_ predicate: PredicateNode, entity: SchemaEntity) throws(StoreError) {
        self.entity = entity
        self.predicate = try PredicateEvaluator.fit(predicate, entity)
    }

    /// Whether an object matches, given its values by column.
    func matches(_ id: ObjectID, _ value: (Int) -> Value) -> Bool {
        matches(predicate, id, value)
    }

    // MARK: Checking

    private static func fit(_ node: PredicateNode, _ entity: SchemaEntity) throws(StoreError)
        -> PredicateNode
    {
        switch node {
        case .constant: return node
        case .not(let node): return .not(try fit(node, entity))
        case .and(let nodes): return .and(try fit(nodes, entity))
        case .or(let nodes): return .or(try fit(nodes, entity))
        case .comparison(var comparison):
            comparison.values = try fit(comparison, entity)
            return .comparison(comparison)
        }
    }

    private static func fit(_ nodes: [PredicateNode], _ entity: SchemaEntity) throws(StoreError)
        -> [PredicateNode]
    {
        var fitted: [PredicateNode] = []
        for node in nodes { fitted.append(try fit(node, entity)) }
        return fitted
    }

    private static func fit(_ comparison: PredicateNode.Comparison, _ entity: SchemaEntity)
        throws(StoreError) -> [Value]
    {
        let key: String
        var type: AttributeType?
        switch comparison.subject {
        case .objectID: key = "SELF"
        case .key(let name):
            key = name
            guard let column = entity.columnIndex(named: name) else {
                throw invalid("the entity has no stored property of this name", entity, name)
            }
            if case .attribute(let attribute) = entity.columns[column].kind { type = attribute }
        }
        switch comparison.operator {
        case .in: break
        case .between where comparison.values.count != 2:
            throw invalid("BETWEEN takes two values", entity, key)
        case .between: break
        default:
            if comparison.values.count != 1 {
                throw invalid("the comparison takes one value", entity, key)
            }
        }
        var values: [Value] = []
        for value in comparison.values {
            guard let type else {
                let isOrder = ![.equal, .notEqual, .in].contains(comparison.operator)
                guard !isOrder, value.isNull || value.reference != nil else {
                    throw invalid("it is compared with object ids, by == != and IN", entity, key)
                }
                values.append(value)
                continue
            }
            guard let exact = value.converted(to: type) ?? outOfRange(value, type) else {
                throw invalid("\(value) cannot be compared with it", entity, key)
            }
            values.append(exact)
        }
        return values
    }

    /// An integer outside an attribute's range is a fair question; nothing equals it.
    private static func outOfRange(_ value: Value, _ type: AttributeType) -> Value? {
        guard case .integer = value, type == .integer16 || type == .integer32 else { return nil }
        return value
    }

    private static func invalid(_ message: String, _ entity: SchemaEntity, _ key: String)
        -> StoreError
    {
        StoreError(.invalidRequest, message, context: .init(entity: entity.name, key: key))
    }

    // MARK: Answering

    private func matches(_ node: PredicateNode, _ id: ObjectID, _ value: (Int) -> Value) -> Bool {
        switch node {
        case .constant(let answer): return answer
        case .not(let node): return !matches(node, id, value)
        case .and(let nodes): return nodes.allSatisfy { matches($0, id, value) }
        case .or(let nodes): return nodes.contains { matches($0, id, value) }
        case .comparison(let comparison):
            switch comparison.subject {
            case .objectID: return compare(.objectID(id), comparison)
            case .key(let key):
                guard let column = entity.columnIndex(named: key) else { return false }
                return compare(value(column), comparison)
            }
        }
    }

    private func compare(_ value: Value, _ comparison: PredicateNode.Comparison) -> Bool {
        switch comparison.operator {
        case .equal: return equals(value, comparison.values[0])
        case .notEqual: return !equals(value, comparison.values[0])
        case .less: return order(value, comparison.values[0]).map { $0 < 0 } ?? false
        case .lessOrEqual: return order(value, comparison.values[0]).map { $0 <= 0 } ?? false
        case .greater: return order(value, comparison.values[0]).map { $0 > 0 } ?? false
        case .greaterOrEqual: return order(value, comparison.values[0]).map { $0 >= 0 } ?? false
        case .in: return comparison.values.contains { !$0.isNull && equals(value, $0) }
        case .between:
            guard let low = order(value, comparison.values[0]),
                let high = order(value, comparison.values[1])
            else { return false }
            return low >= 0 && high <= 0
        }
    }

    private func equals(_ left: Value, _ right: Value) -> Bool {
        if left.isNull || right.isNull { return left.isNull && right.isNull }
        if let a = left.reference, let b = right.reference { return a == b }
        if ValueOrder.isNotANumber(left) || ValueOrder.isNotANumber(right) { return false }
        return ValueOrder.compare(left, right) == 0
    }

    /// Nil if one of them is nil, or no number.
    private func order(_ left: Value, _ right: Value) -> Int? {
        if left.isNull || right.isNull { return nil }
        if ValueOrder.isNotANumber(left) || ValueOrder.isNotANumber(right) { return nil }
        return ValueOrder.compare(left, right)
    }
}
