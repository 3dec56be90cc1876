// Fetching from a dictionary store: filter everything, sort everything, cut.

import CairnModel
import CairnStore
import FoundationEssentials

extension DictionaryState {
    func fetch(_ request: StoreFetch, in schema: Schema) throws(StoreError) -> StoreFetchResult {
        guard schema.entities.indices.contains(request.entity) else {
            throw StoreError(.invalidRequest, "the model has no entity with this index")
        }
        let entity = schema.entities[request.entity]
        let request = try request.inTwoValues(in: schema)
        let objects = SnapshotObjects(DictionarySnapshot(state: self, schema: schema))
        var condition = request.predicate
        var evaluator: PredicateEvaluator?
        var paths: [SortPath] = []
        do throws(PredicateFormatError) {
            if let predicate = condition {
                let bound = try predicate.boundForStore(to: entity, in: schema)
                condition = bound
                if !bound.isSimple(entity) {
                    (condition, evaluator) = (nil, try PredicateEvaluator(bound))
                }
            }
            for key in request.sort {
                paths.append(try SortPath(key, of: entity, in: schema))
            }
        } catch {
            throw StoreError(error, entity: entity)
        }
        var found: [Found] = []
        for candidate in self.objects(of: entity) {
            if request.isCancelled?() == true {
                throw StoreError(.cancelled, "the fetch was cancelled")
            }
            let isOfEntity = candidate.object.entity == request.entity
            guard request.includesSubentities || isOfEntity, let row = row(candidate.id) else {
                continue
            }
            let object = objects.object(of: row)
            if let condition {
                let values = candidate.object.values
                guard try condition.holds(candidate.id, values, entity) else { continue }
            }
            guard evaluator?.matches(object) ?? true else { continue }
            found.append(Found(row: row, keys: paths.map { $0.key(of: object) }))
        }
        try objects.rethrow()
        found.sort { left, right in
            for (index, key) in request.sort.enumerated() {
                let (one, other) = (left.keys[index], right.keys[index])
                if let nulls = key.nulls, one.isNull != other.isNull {
                    return one.isNull == (nulls == .first)
                }
                let order = plainOrder(one, other)
                if order != 0 { return (order < 0) == key.isAscending }
            }
            return left.row.id.reference < right.row.id.reference
        }
        let rest = found.dropFirst(request.offset)
        let cut = request.limit.map { rest.prefix($0) } ?? rest
        return StoreFetchResult(
            ids: cut.map(\.row.id), rows: request.includesRows ? cut.map(\.row) : [],
            plan: "every object")
    }

    private struct Found {
        let row: Row
        let keys: [Value]
    }
}

extension PredicateNode {
    /// Whether only columns are compared with constants of their own kind, which is understood here. All else is asked of
    /// objects in memory.
    fileprivate func isSimple(_ entity: SchemaEntity) -> Bool {
        switch self {
        case .constant: return true
        case .not(let node): return node.isSimple(entity)
        case .and(let nodes), .or(let nodes): return nodes.allSatisfy { $0.isSimple(entity) }
        case .comparison(let comparison):
            guard let simple = comparison.simple, comparison.options.isEmpty,
                !simple.operator.isOfText, simple.operator != .contains
            else { return false }
            // A text in another one is no matter of columns.
            if simple.operator == .in, case .value = simple.operand { return false }
            guard case .key(let key) = simple.subject else { return true }
            guard let column = entity.columnIndex(named: key) else { return false }
            guard case .attribute(let type) = entity.columns[column].kind else { return true }
            return simple.values.allSatisfy { $0.isNull || $0.fits(type) }
        }
    }

    fileprivate func holds(_ id: ObjectID, _ values: [Value], _ entity: SchemaEntity)
        throws(StoreError) -> Bool
    {
        switch self {
        case .constant(let value): return value
        case .not(let node): return try !node.holds(id, values, entity)
        case .and(let nodes):
            for node in nodes where try !node.holds(id, values, entity) { return false }
            return true
        case .or(let nodes):
            for node in nodes where try node.holds(id, values, entity) { return true }
            return false
        case .comparison(let comparison):
            guard let comparison = comparison.simple, comparison.options.isEmpty else {
                throw StoreError(.invalidRequest, "only properties and constants are compared")
            }
            let value: Value
            switch comparison.subject {
            case .objectID: value = .objectID(id)
            case .key(let key):
                guard let column = entity.columnIndex(named: key) else {
                    throw StoreError(
                        .invalidRequest, "there is no such column",
                        context: .init(entity: entity.name, key: key))
                }
                value = values[column]
            }
            return try comparison.holds(value)
        }
    }
}

extension PredicateNode.Comparison.Simple {
    fileprivate func holds(_ value: Value) throws(StoreError) -> Bool {
        let other = values.first ?? .null
        let comparable = !value.isNull && !other.isNull && !value.isNoNumber && !other.isNoNumber
        switch self.operator {
        case .equal:
            return value.isNull ? other.isNull : comparable && plainOrder(value, other) == 0
        case .notEqual:
            return !(value.isNull ? other.isNull : comparable && plainOrder(value, other) == 0)
        case .less: return comparable && plainOrder(value, other) < 0
        case .lessOrEqual: return comparable && plainOrder(value, other) <= 0
        case .greater: return comparable && plainOrder(value, other) > 0
        case .greaterOrEqual: return comparable && plainOrder(value, other) >= 0
        case .in:
            return !value.isNull && !value.isNoNumber
                && values.contains { !$0.isNull && plainOrder(value, $0) == 0 }
        case .between:
            guard values.count == 2, !([value] + values).contains(where: \.isNull),
                !([value] + values).contains(where: \.isNoNumber)
            else { return false }
            return plainOrder(value, values[0]) >= 0 && plainOrder(value, values[1]) <= 0
        case .contains, .beginsWith, .endsWith, .like, .matches:
            throw StoreError(.invalidRequest, "\(self.operator.rawValue) is not known here")
        }
    }
}

/// Negative, zero or positive; nil is smallest, and what is no number comes behind all numbers. Values of different kinds are
/// not in any order: equal to nothing, greater than everything.
func plainOrder(_ left: Value, _ right: Value) -> Int {
    func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    func bytes(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
        a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
    }
    if left.isNoNumber || right.isNoNumber, !left.isNull, !right.isNull {
        return order(left.isNoNumber ? 1 : 0, right.isNoNumber ? 1 : 0)
    }
    switch (left, right) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.integer(let a), .integer(let b)): return order(a, b)
    case (.decimal(let a), .decimal(let b)): return order(a, b)
    case (.double(let a), .double(let b)): return order(a, b)
    case (.float(let a), .float(let b)): return order(a, b)
    case (.date(let a), .date(let b)): return order(a, b)
    case (.boolean(let a), .boolean(let b)): return order(a ? 1 : 0, b ? 1 : 0)
    case (.string(let a), .string(let b)): return bytes(a.utf8, b.utf8)
    case (.uri(let a), .uri(let b)): return bytes(a.absoluteString.utf8, b.absoluteString.utf8)
    case (.binary(let a), .binary(let b)): return bytes(a, b)
    case (.uuid(let a), .uuid(let b)):
        return withUnsafeBytes(of: a.uuid) { a in
            withUnsafeBytes(of: b.uuid) { b in bytes(a, b) }
        }
    case (.objectID(let a), .objectID(let b)):
        // One of another store is none that could be equal.
        return a.store == b.store
            ? order(a.reference, b.reference) : order(a.store.uuidString, b.store.uuidString)
    default: return 1
    }
}
