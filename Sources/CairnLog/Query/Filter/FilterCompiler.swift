// Compiles predicates.
//
//   1. A predicate of columns and constants only is compiled as it is: the caller has bound it. Any other
//      predicate is bound again here, so that a part that a store cannot evaluate is rejected by name and
//      does not turn up later.
//   2. Each comparison becomes the cheapest possible test: on a column, on the objects across a relationship,
//      or on a row.
//   3. If an expression binds a variable, the parts are not separated: each depends on those before it.
//
// Threads: a value, used in one call.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

struct FilterCompiler {
    let catalog: Catalog
    let identity: StoreIdentity
    /// The fetched entity; its columns have the same index in all its descendants.
    let entity: Int
    /// The hash seed of the queried state.
    let seed: UInt64
    /// The value of `now()`, the same in all parts.
    private let now: Date

    init(_ state: EngineState, _ identity: StoreIdentity, entity: Int) {
        self.init(state.catalog, identity, entity, seed: state.hashSeed, now: Date())
    }

    private init(
        _ catalog: Catalog, _ identity: StoreIdentity, _ entity: Int, seed: UInt64, now: Date
    ) {
        self.catalog = catalog
        self.identity = identity
        self.entity = entity
        self.seed = seed
        self.now = now
    }

    /// Returns a compiler for another entity.
    func compiler(of entity: Int) -> FilterCompiler {
        FilterCompiler(catalog, identity, entity, seed: seed, now: now)
    }

    var description: SchemaEntity { catalog.description(of: entity) }

    /// Compiles a predicate into an equivalent condition.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the entity, the key and the part that a store
    ///   cannot evaluate.
    func compile(_ predicate: PredicateNode) throws(StoreError) -> Filter {
        var bound = predicate
        do throws(PredicateFormatError) {
            bound = try predicate.walkable()
            if !isPlain(bound) {
                bound = try bound.boundForStore(to: description, in: catalog.schema)
            }
        } catch {
            throw self.error(error)
        }
        return bound.hasAssignment ? try rowByRow(bound) : try filter(bound)
    }

    /// Whether the predicate only compares columns of the entity, or the object itself, with constants.
    private func isPlain(_ node: PredicateNode) -> Bool {
        switch node {
        case .constant: return true
        case .and(let nodes), .or(let nodes): return nodes.allSatisfy(isPlain)
        case .not(let node): return isPlain(node)
        case .comparison(let comparison):
            guard let simple = comparison.simple else { return comparison.constantTruth != nil }
            guard !simple.ordersNil else { return false }
            guard case .key(let key) = simple.subject else { return true }
            return description.columnIndex(named: key) != nil
        }
    }

    /// Compiles a predicate that is bound.
    func filter(_ node: PredicateNode) throws(StoreError) -> Filter {
        switch node {
        case .constant(let value): return .constant(value)
        case .and(let nodes): return .all(try filters(nodes))
        case .or(let nodes): return .any(try filters(nodes))
        case .not(let node): return .not(try filter(node))
        case .comparison(let comparison):
            if let truth = comparison.constantTruth { return .constant(truth) }
            if let filter = try columnFilter(comparison) { return filter }
            if let filter = try relatedFilter(comparison) { return filter }
            return try rowByRow(node)
        }
    }

    private func filters(_ nodes: [PredicateNode]) throws(StoreError) -> [Filter] {
        var filters: [Filter] = []
        for node in nodes { filters.append(try filter(node)) }
        return filters
    }

    /// Evaluates the predicate on each row.
    private func rowByRow(_ node: PredicateNode) throws(StoreError) -> Filter {
        .row(RowTest(try evaluator(node)))
    }

    func evaluator(_ node: PredicateNode) throws(StoreError) -> PredicateEvaluator {
        do throws(PredicateFormatError) {
            return try PredicateEvaluator(node, now: now)
        } catch {
            throw self.error(error)
        }
    }

    func error(_ error: PredicateFormatError) -> StoreError {
        StoreError(error, entity: catalog.entities[entity].name)
    }

    // MARK: The object itself

    /// Compiles a comparison of properties that every object has without a column; nil for other comparisons.
    func selfFilter(_ simple: PredicateNode.Comparison.Simple) throws(StoreError) -> Filter? {
        switch simple.subject {
        case .objectID: return try identityFilter(simple)
        case .key(let key):
            guard description.relationshipIndex(named: key) == nil,
                description.attributeIndex(named: key) == nil
            else { return nil }
            switch key {
            case "objectID", "self", "SELF": return try identityFilter(simple)
            case "entity", "entity.name": return try entityFilter(simple)
            default: return nil
            }
        }
    }

    private func identityFilter(_ simple: PredicateNode.Comparison.Simple) throws(StoreError)
        -> Filter
    {
        var numbers: Set<UInt32> = []
        for value in simple.values {
            // No object equals nil.
            if value.isNull { continue }
            guard case .objectID(let id) = value else {
                throw StoreError(
                    .invalidRequest,
                    "an object can only be compared with an object id, not with a value",
                    context: .init(
                        entity: catalog.entities[entity].name, key: "SELF", value: value,
                        detail:
                            "an object can only be compared with an object id, not with \(value)"))
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
                .invalidRequest, "objects can only be compared by == != and IN",
                context: .init(entity: catalog.entities[entity].name, key: "SELF"))
        }
    }

    /// Compiles a comparison of the entity's name.
    private func entityFilter(_ simple: PredicateNode.Comparison.Simple) throws(StoreError)
        -> Filter
    {
        let right: ExpressionNode =
            switch simple.operand {
            case .value(let value): .constant(value)
            case .list(let values): .list(values)
            }
        let test = try evaluator(
            .compare(.evaluatedObject, simple.operator, right, options: simple.options))
        return .entity(
            Set(
                catalog.family(of: entity).filter {
                    test.matches(.value(.string(catalog.description(of: $0).name)))
                }))
    }
}

extension PredicateNode.Comparison.Simple {
    /// Whether nil is an operand of an ordering comparison: the value nil does not show that some properties
    /// have no order.
    fileprivate var ordersNil: Bool {
        switch self.operator {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: values.contains(.null)
        default: false
        }
    }
}
