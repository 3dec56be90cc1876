// Batches in short words.

import CairnModel
import CairnStore
import Testing

extension Subject {
    /// Inserts or updates rows.
    @discardableResult
    func batch(
        _ entity: String, _ rows: [[String: Any]], _ policy: MergePolicyKind? = nil,
        _ change: (inout BatchInsertRequest) -> Void = { _ in }
    ) throws -> BatchInsertResult {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = policy
        change(&request)
        return try store.execute(request)
    }

    /// Updates what a condition finds.
    @discardableResult
    func batchUpdate(
        _ entity: String, _ format: String? = nil, _ values: [String: UpdatedValue],
        _ change: (inout BatchUpdateRequest) -> Void = { _ in }
    ) throws -> BatchUpdateResult {
        var request = BatchUpdateRequest(
            entityName: entity, propertiesToUpdate: values,
            predicate: try format.map { try PredicateNode(format: $0) })
        change(&request)
        return try store.execute(request)
    }

    /// Deletes what a condition finds.
    @discardableResult
    func batchDelete(
        _ entity: String, _ format: String? = nil,
        _ change: (inout BatchDeleteRequest) -> Void = { _ in }
    ) throws -> BatchDeleteResult {
        var request = BatchDeleteRequest(
            entityName: entity, predicate: try format.map { try PredicateNode(format: $0) })
        change(&request)
        return try store.execute(request)
    }

    /// The error of a request that is refused; checks that the store is as it was.
    func refusal(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws
        -> StoreError?
    {
        let (content, commit) = (try content(), try store.snapshot().commit)
        let error = storeError(location, body)
        #expect(error != nil, sourceLocation: location)
        #expect(try self.content() == content, sourceLocation: location)
        #expect(try store.snapshot().commit == commit, sourceLocation: location)
        return error
    }
}

extension UpdatedValue {
    /// What an expression gives, by its format.
    static func format(_ text: String) throws -> UpdatedValue {
        .expression(try ExpressionNode(format: text))
    }
}

extension StoreError {
    /// The rows that it is about: its own, or those of the single errors.
    var rows: [Int] { context.row.map { [$0] } ?? details.compactMap(\.context.row) }
}
