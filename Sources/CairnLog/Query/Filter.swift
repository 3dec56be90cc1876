// A predicate compiled for the columns of one entity.
//
// Logic is two-valued: a comparison with a nil cell is false, "not equal" is the negation of "equal" and so
// true for nil, and the tests for nil are exact.
//
// Threads: immutable, so any.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// A compiled condition.
indirect enum Filter: Sendable {
    /// How a cell is compared.
    enum Order: Sendable { case equal, less, lessOrEqual, greater, greaterOrEqual }

    case constant(Bool)
    case isNull(Int)
    case integer(Int, Order, Int64)
    case double(Int, Order, Double)
    case float(Int, Order, Float)
    case bytes(Int, Order, [UInt8])
    case decimal(Int, Order, Decimal)
    case number(Set<UInt32>)
    case and([Filter])
    case or([Filter])
    case not(Filter)
}

/// Compiles predicates.
struct FilterCompiler {
    let catalog: Catalog
    let identity: StoreIdentity
    /// The entity that is asked for; its columns have the same index in all its descendants.
    let entity: Int

    func compile(_ node: PredicateNode) throws(StoreError) -> Filter {
        switch node {
        case .constant(let value): return .constant(value)
        case .and(let nodes): return .and(try compile(nodes))
        case .or(let nodes): return .or(try compile(nodes))
        case .not(let node): return .not(try compile(node))
        case .comparison(let comparison): return try compile(comparison)
        }
    }

    private func compile(_ nodes: [PredicateNode]) throws(StoreError) -> [Filter] {
        var filters: [Filter] = []
        for node in nodes { filters.append(try compile(node)) }
        return filters
    }

    private func compile(_ comparison: PredicateNode.Comparison) throws(StoreError) -> Filter {
        switch comparison.subject {
        case .objectID: return try compileIdentity(comparison)
        case .key(let key):
            guard
                let column = catalog.entities[entity].columns.firstIndex(where: { $0.name == key })
            else {
                throw StoreError(
                    .invalidRequest, "the entity has no stored property of this name",
                    context: .init(entity: catalog.entities[entity].name, key: key))
            }
            return try compile(comparison, column: column)
        }
    }

    private func compile(_ comparison: PredicateNode.Comparison, column: Int) throws(StoreError)
        -> Filter
    {
        let values = comparison.values
        switch comparison.operator {
        case .in:
            return .or(try values.map { value throws(StoreError) in try equal(column, value) })
        case .between:
            guard values.count == 2 else { throw mismatch(column, "BETWEEN takes two values") }
            return .and([
                try compare(column, .greaterOrEqual, values[0]),
                try compare(column, .lessOrEqual, values[1]),
            ])
        default: break
        }
        guard values.count == 1 else { throw mismatch(column, "the comparison takes one value") }
        switch comparison.operator {
        case .equal: return values[0].isNull ? .isNull(column) : try equal(column, values[0])
        case .notEqual:
            return .not(values[0].isNull ? .isNull(column) : try equal(column, values[0]))
        case .less: return try compare(column, .less, values[0])
        case .lessOrEqual: return try compare(column, .lessOrEqual, values[0])
        case .greater: return try compare(column, .greater, values[0])
        case .greaterOrEqual: return try compare(column, .greaterOrEqual, values[0])
        case .in, .between: preconditionFailure("lists were handled above")
        }
    }

    private func equal(_ column: Int, _ value: Value) throws(StoreError) -> Filter {
        try compare(column, .equal, value)
    }

    private func compare(_ column: Int, _ order: Filter.Order, _ value: Value) throws(StoreError)
        -> Filter
    {
        if value.isNull { return .constant(false) }
        let stored = catalog.entities[entity].columns[column]
        if let tree = stored.target {
            guard order == .equal, case .objectID(let id) = value else {
                throw mismatch(column, "a relationship is compared for equality with an object id")
            }
            let root = catalog.schemaEntity(catalog.trees[tree].root)
            guard identity.owns(id, entity: root) else { return .constant(false) }
            return .integer(column, order, Int64(bitPattern: id.reference))
        }
        let type = catalog.schema.entities[entity].columns[column].kind
        guard case .attribute(let attribute) = type,
            value.fits(attribute) || (stored.kind == .integer && isInteger(value))
        else { throw mismatch(column, "\(value) cannot be compared with the attribute") }
        switch value {
        case .integer(let value): return .integer(column, order, value)
        case .boolean(let value): return .integer(column, order, value ? 1 : 0)
        case .double(let value): return .double(column, order, value)
        case .date(let value): return .double(column, order, value.timeIntervalSinceReferenceDate)
        case .float(let value): return .float(column, order, value)
        case .string(let value): return .bytes(column, order, Array(value.utf8))
        case .uri(let value): return .bytes(column, order, Array(value.absoluteString.utf8))
        case .binary(let value): return .bytes(column, order, Array(value))
        case .uuid(let value):
            return .bytes(column, order, withUnsafeBytes(of: value.uuid) { Array($0) })
        case .decimal(let value): return .decimal(column, order, value)
        case .null, .objectID:
            throw mismatch(column, "\(value) cannot be compared with the attribute")
        }
    }

    /// An integer outside an attribute's range is a fair question; nothing equals it.
    private func isInteger(_ value: Value) -> Bool {
        if case .integer = value { true } else { false }
    }

    private func mismatch(_ column: Int, _ message: String) -> StoreError {
        StoreError(
            .invalidRequest, message,
            context: .init(
                entity: catalog.entities[entity].name,
                key: catalog.entities[entity].columns[column].name))
    }

    private func compileIdentity(_ comparison: PredicateNode.Comparison) throws(StoreError)
        -> Filter
    {
        var numbers: Set<UInt32> = []
        for value in comparison.values {
            guard case .objectID(let id) = value else {
                throw StoreError(
                    .invalidRequest, "an object is compared with an object id, not with \(value)",
                    context: .init(entity: catalog.entities[entity].name, key: "SELF"))
            }
            let root = catalog.schemaEntity(entity)
            if identity.owns(id, entity: root), let number = UInt32(exactly: id.reference) {
                numbers.insert(number)
            }
        }
        switch comparison.operator {
        case .equal, .in: return .number(numbers)
        case .notEqual: return .not(.number(numbers))
        default:
            throw StoreError(
                .invalidRequest, "objects are compared by == != and IN",
                context: .init(entity: catalog.entities[entity].name, key: "SELF"))
        }
    }
}
