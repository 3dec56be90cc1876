// A condition on the history, ready for evaluation.
//
//   1. Transactions and changes are entities of a model of their own, so that a predicate is checked and answered as
//      any other one.
//   2. Of a transaction's changes each is asked; those that match stay in the runs that they come in.
//
// Invariant: one transaction is in memory, whatever is asked.
// Threads: one stream.

import CairnModel
import FoundationEssentials

/// Evaluates the predicate of a history request, and computes the sort keys of the results.
struct HistoryFilter {
    private let request: PersistentHistoryFetchRequest
    private let evaluator: PredicateEvaluator?
    private let sort: [SortPath]
    private let record = HistoryRecord()

    /// - Throws: `StoreError` with `.invalidRequest` naming the key that transactions or changes do not have.
    init(_ request: PersistentHistoryFetchRequest, _ resultType: PersistentHistoryResultType)
        throws(StoreError)
    {
        self.request = request
        let schema = HistoryRecord.schema
        let entity = schema.entities[
            request.subject == .transactions ? HistoryRecord.transaction : HistoryRecord.change]
        do throws(PredicateFormatError) {
            evaluator = try request.predicate.map { predicate throws(PredicateFormatError) in
                try PredicateEvaluator(
                    predicate.bound(
                        to: entity, in: schema, nullSemantics: request.nullSemantics))
            }
        } catch {
            throw StoreError(error, entity: entity)
        }
        sort = try [SortPath](request.sortDescriptors, of: entity, in: schema)
        let isInTransactions =
            resultType == .transactionsOnly || resultType == .transactionsAndChanges
        if request.subject == .changes, !sort.isEmpty, isInTransactions {
            throw StoreError(
                .invalidRequest,
                "changes can only be sorted on their own: request changesOnly, or omit the sort order",
                context: .init(entity: entity.name, key: request.sortDescriptors[0].key))
        }
    }

    var isSorted: Bool { !sort.isEmpty }
    var isOfChanges: Bool { request.subject == .changes }
    /// How many are wanted at most; nil: all.
    var limit: Int? { request.fetchLimit > 0 ? request.fetchLimit : nil }

    /// A transaction as far as it is wanted; nil if nothing of it is.
    func filtered(_ transaction: PersistentHistoryTransaction) -> PersistentHistoryTransaction? {
        guard isOfChanges else {
            guard let evaluator else { return transaction }
            record.set(transaction, nil)
            return evaluator.matches(record) ? transaction : nil
        }
        guard let changes = transaction.changes else { return nil }
        guard let evaluator else { return transaction }
        guard
            let wanted = changes.filtered(where: { change in
                record.set(transaction, change)
                return evaluator.matches(record)
            })
        else { return nil }
        var narrowed = transaction
        narrowed.changes = wanted
        return narrowed
    }

    /// What a transaction, or a change of it, is sorted by.
    func keys(of transaction: PersistentHistoryTransaction, _ change: PersistentHistoryChange?)
        -> [Value]
    {
        record.set(transaction, change)
        return sort.map { $0.key(of: record) }
    }

    /// Whether one comes before another by what they are sorted by.
    func precedes(_ left: [Value], _ right: [Value]) -> Bool { sort.precedes(left, right) ?? false }
}

/// The first of what comes, in an order; what is equal in it stays as it came.
struct SortedHistory<Element> {
    private let filter: HistoryFilter
    private var entries: [(keys: [Value], element: Element)] = []

    init(_ filter: HistoryFilter) { self.filter = filter }

    mutating func add(_ element: Element, _ keys: [Value]) {
        entries.append((keys, element))
        // No more is kept than twice what is wanted.
        if let limit = filter.limit, (entries.count - 64) / 2 >= limit { cut(limit) }
    }

    private mutating func cut(_ limit: Int?) {
        // The sort of the standard library is stable.
        entries.sort { filter.precedes($0.keys, $1.keys) }
        if let limit, entries.count > limit { entries.removeSubrange(limit...) }
    }

    mutating func elements() -> [Element] {
        cut(filter.limit)
        return entries.map(\.element)
    }
}

/// A transaction, or a change, as predicates ask it.
private final class HistoryRecord: EvaluatedObject {
    static let transaction = 0
    static let change = 1

    /// The model of the history.
    static let schema: Schema = {
        let transaction = EntityDescription(
            "Transaction",
            attributes: [
                .init("author", .string), .init("contextName", .string), .init("bundleID", .string),
                .init("processID", .integer64), .init("storeID", .uuid), .init("timestamp", .date),
                .init("transactionNumber", .integer64), .init("token", .integer64),
            ])
        let change = EntityDescription(
            "Change",
            attributes: [
                .init("changeID", .integer64), .init("changeType", .integer64),
                .init("changedEntity", .string), .init("entityName", .string),
                .init("transactionNumber", .integer64),
            ],
            relationships: [
                .init("transaction", to: "Transaction"), .init("changedObjectID", to: "Object"),
            ])
        let model = ManagedObjectModel(entities: [transaction, change, EntityDescription("Object")])
        guard let schema = try? Schema(model) else {
            preconditionFailure("the entities of the history are a model")
        }
        return schema
    }()

    /// What stands in a column.
    private enum Column: String {
        case author, contextName, bundleID, processID, storeID, timestamp, transactionNumber, token
        case changeID, changeType, changedEntity, entityName, changedObjectID
    }

    /// By entity and column: looked up once, as each change is asked for several of them. A relationship to the transaction is
    /// none of these.
    private static let columns: [[Column?]] = schema.entities.map { entity in
        entity.columns.map { Column(rawValue: $0.name) }
    }
    /// Where a change leads to its transaction.
    private static let owner = schema.entities[change].relationshipIndex(named: "transaction")

    private var transaction: PersistentHistoryTransaction?
    private var change: PersistentHistoryChange?
    /// What stands for the transaction of a change.
    private lazy var owner: HistoryRecord = HistoryRecord()

    init() {}

    func set(_ transaction: PersistentHistoryTransaction, _ change: PersistentHistoryChange?) {
        self.transaction = transaction
        self.change = change
    }

    var evaluatedID: ObjectID {
        if let change { return change.changedObjectID }
        return ObjectID(store: transaction?.storeID ?? UUID(), hierarchy: 0, reference: 0)
    }
    var evaluatedEntity: SchemaEntity {
        Self.schema.entities[change == nil ? Self.transaction : Self.change]
    }

    func evaluatedColumn(_ index: Int) -> Value {
        guard let transaction else { return .null }
        func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
        switch Self.columns[change == nil ? Self.transaction : Self.change][index] {
        case .author: return text(transaction.author)
        case .contextName: return text(transaction.contextName)
        case .bundleID: return text(transaction.bundleID)
        case .processID: return .integer(Int64(transaction.processID))
        case .storeID: return .uuid(transaction.storeID)
        case .timestamp: return .date(transaction.timestamp)
        case .transactionNumber, .token:
            return .integer(Int64(clamping: transaction.transactionNumber))
        case .changeID: return .integer(change?.changeID ?? 0)
        case .changeType: return .integer(Int64(change?.changeType.rawValue ?? 0))
        case .changedEntity, .entityName: return text(change?.entityName)
        case .changedObjectID: return change.map { .objectID($0.changedObjectID) } ?? .null
        case nil: return .null
        }
    }

    func evaluatedAttribute(_ index: Int) -> Value { .null }

    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? {
        guard let transaction, let change else { return nil }
        if relationship == Self.owner {
            owner.set(transaction, nil)
            return owner
        }
        return ChangedObject(change.changedObjectID)
    }

    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] { [] }
}

/// An object that was changed: nothing is known of it here but its id.
private final class ChangedObject: EvaluatedObject {
    let evaluatedID: ObjectID

    init(_ id: ObjectID) { evaluatedID = id }

    var evaluatedEntity: SchemaEntity { HistoryRecord.schema.entities[2] }
    func evaluatedColumn(_ index: Int) -> Value { .null }
    func evaluatedAttribute(_ index: Int) -> Value { .null }
    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? { nil }
    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] { [] }
}
