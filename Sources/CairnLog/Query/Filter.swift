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
        if let truth = comparison.constantTruth { return .constant(truth) }
        guard let simple = comparison.simple, simple.options.isEmpty else {
            throw unsupported(comparison)
        }
        switch simple.subject {
        case .objectID: return try compileIdentity(simple, comparison)
        case .key(let key):
            guard
                let column = catalog.entities[entity].columns.firstIndex(where: { $0.name == key })
            else {
                throw StoreError(
                    .invalidRequest, "the entity has no stored property of this name",
                    context: .init(entity: catalog.entities[entity].name, key: key))
            }
            return try compile(simple, column: column, comparison)
        }
    }

    /// What a scan cannot answer, named by its part.
    private func unsupported(_ comparison: PredicateNode.Comparison) -> StoreError {
        StoreError(
            .invalidRequest,
            "a store cannot answer '\(PredicateNode.comparison(comparison))': \(comparison.beyondColumns) is not supported",
            context: .init(entity: catalog.entities[entity].name))
    }

    private func compile(
        _ simple: PredicateNode.Comparison.Simple, column: Int,
        _ comparison: PredicateNode.Comparison
    ) throws(StoreError) -> Filter {
        switch (simple.operator, simple.operand) {
        case (.in, .list(let values)):
            return .or(try values.map { value throws(StoreError) in try equal(column, value) })
        case (.in, .value): throw unsupported(comparison)
        case (.between, _):
            guard case .list(let values) = simple.operand, values.count == 2 else {
                throw mismatch(column, "BETWEEN takes two values")
            }
            return .and([
                try compare(column, .greaterOrEqual, values[0]),
                try compare(column, .lessOrEqual, values[1]),
            ])
        case (_, .list): throw mismatch(column, "the comparison takes one value")
        case (.equal, .value(let value)):
            return value.isNull ? .isNull(column) : try equal(column, value)
        case (.notEqual, .value(let value)):
            return .not(value.isNull ? .isNull(column) : try equal(column, value))
        case (.less, .value(let value)): return try compare(column, .less, value)
        case (.lessOrEqual, .value(let value)): return try compare(column, .lessOrEqual, value)
        case (.greater, .value(let value)): return try compare(column, .greater, value)
        case (.greaterOrEqual, .value(let value)):
            return try compare(column, .greaterOrEqual, value)
        case (.contains, _), (.beginsWith, _), (.endsWith, _), (.like, _), (.matches, _):
            throw unsupported(comparison)
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

    private func compileIdentity(
        _ simple: PredicateNode.Comparison.Simple, _ comparison: PredicateNode.Comparison
    ) throws(StoreError) -> Filter {
        var numbers: Set<UInt32> = []
        for value in simple.values {
            // No object is nil.
            if value.isNull { continue }
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
        switch simple.operator {
        case .equal, .in: return .number(numbers)
        case .notEqual: return .not(.number(numbers))
        default:
            throw StoreError(
                .invalidRequest, "objects are compared by == != and IN",
                context: .init(entity: catalog.entities[entity].name, key: "SELF"))
        }
    }
}
