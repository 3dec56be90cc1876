// A page of a listing.
//
//   1. The first rows are fetched directly, so that no request waits for ten million.
//   2. The listing is created in the background; it provides the total, and the seven millionth row.
//
// Threads: values.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import CairnStudio

/// Responds to `/api/rows`.
struct StudioRows: Sendable {
    let store: StudioStore
    let listings: StudioListings
    let threads: StudioThreads

    static let mostRows = 1000
    /// Rows after this are read only from the listing.
    static let deepest = 2000

    private struct Question: Sendable {
        var entity = ""
        var condition: String?
        var sqlNulls = false
        var sort: String?
        var at: String?
        var columns: String?
        var from = 0
        var count = 100
    }

    /// The result of the first attempt.
    private enum Look: Sendable {
        case answer(StudioAnswer)
        /// The response requires the listing, which is not finished yet.
        case waits(
            Task<StudioListing, any Error>, @Sendable (StudioListing) throws -> StudioAnswer)
    }

    func answer(_ request: StudioRequest) async throws -> StudioAnswer {
        let parameters = try StudioParameters(
            request,
            known: ["entity", "where", "sql-nulls", "sort", "at", "columns", "from", "count"])
        var question = Question()
        question.entity = try parameters.need("entity")
        question.condition = try parameters.text("where")
        question.sqlNulls = try parameters.flag("sql-nulls")
        question.sort = try parameters.text("sort")
        question.at = try parameters.text("at")
        question.columns = try parameters.text("columns")
        question.from = try parameters.number("from", in: 0...Int(UInt32.max), or: 0)
        question.count = try parameters.number("count", in: 0...Self.mostRows, or: 100)
        let asked = question
        let found: Look = try await threads.run { try look(asked) }
        switch found {
        case .answer(let answer): return answer
        case .waits(let task, let finish):
            let listing = try await task.value
            return try await threads.run { [store] in try store.use { try finish(listing) } }
        }
    }

    private func look(_ question: Question) throws -> Look {
        try store.session { session in
            let entity = try session.entity(question.entity)
            let moment = try MomentOptions(at: question.at)
            let which = try ConditionOptions(
                condition: question.condition, sqlNulls: question.sqlNulls)
            var fetch = try session.fetch(entity, which)
            fetch.sort = try TermList.parts(question.sort, option: "--sort").map {
                try SortKey(argument: $0)
            }
            for key in fetch.sort where !key.key.contains(".") {
                _ = try session.column(key.key, of: entity)
            }
            let columns = try RowColumns(
                try TermList.parts(question.columns, option: "--columns"), entity, session)
            let snapshot = try session.snapshot(moment)
            let key = StudioListingKey(
                entity: entity.name, condition: question.condition, sqlNulls: question.sqlNulls,
                sort: question.sort, commit: snapshot.commit, store: ObjectIdentifier(session.store)
            )
            let identity = session.store.identity
            let turn: @Sendable (StudioListing) throws -> StudioAnswer = { listing in
                let ids = listing.page(from: question.from, count: question.count, identity)
                return try page(question, snapshot, columns, ids, total: listing.count)
            }
            if let listing = listings.known(key) { return .answer(try turn(listing)) }
            let whole = fetch
            func make() -> Task<StudioListing, any Error> {
                listings.make(key) { [store] in
                    try store.use { try StudioListing(whole, entity, snapshot) }
                }
            }
            // A store in a folder lists all its objects faster than it sorts the first of them.
            let isListedFirst = key.isPlain && session.store is LogStore
            guard question.from + question.count <= Self.deepest, !isListedFirst else {
                return .waits(make(), turn)
            }
            fetch.offset = question.from
            fetch.limit = question.count
            let ids = try snapshot.fetch(fetch).ids
            var total: Int?
            if key.isPlain {
                total = try snapshot.count(whole)
            } else if ids.count < question.count, !ids.isEmpty || question.from == 0 {
                total = question.from + ids.count
            } else {
                _ = make()
            }
            return .answer(try page(question, snapshot, columns, ids, total: total))
        }
    }

    private func page(
        _ question: Question, _ snapshot: any StoreSnapshot, _ columns: RowColumns,
        _ ids: [ObjectID], total: Int?
    ) throws -> StudioAnswer {
        let rows = try snapshot.rows(ids).compactMap { $0 }
        var members: [JSONValue.Member] = [
            .init(key: "commit", value: .count(snapshot.commit)),
            .init(key: "from", value: .count(question.from)),
        ]
        if let total { members.append(.init(key: "total", value: .count(total))) }
        members.append(.init(key: "rows", value: .array(rows.map { columns.shortJSON($0) })))
        members.append(.init(key: "versions", value: .array(rows.map { .count($0.version) })))
        return StudioAnswer(.object(members))
    }
}
