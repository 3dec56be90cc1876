// One attempt to carry a request out.
//
// Threads: owned by one call.

import CairnLog
import CairnModel
import CairnStore
import Synchronization

/// The questions of a transaction that writes.
final class WriteQuestions: Questions, @unchecked Sendable {
    // Only the thread of the request asks.
    let commit: UInt64 = 0
    private let connection: PostgresConnection
    private let bound: CallBound
    /// What the server said when a question failed.
    private(set) var failure: SQLFailure?

    init(_ connection: PostgresConnection, _ bound: CallBound) {
        self.connection = connection
        self.bound = bound
    }

    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        do throws(SQLFailure) {
            return try connection.pipeline(statements, bound: bound)
        } catch {
            failure = error
            throw StoreError(error)
        }
    }
}

struct Attempt {
    let core: StoreCore
    let blocks: NumberBlocks
    let connection: PostgresConnection
    let questions: WriteQuestions
    let origin: SaveRun.Origin
    /// Told of a commit, in the order of commits.
    let tell: (PartialStore.Changes, UInt64) -> Void

    init(
        core: StoreCore, blocks: NumberBlocks, connection: PostgresConnection,
        origin: SaveRun.Origin, tell: @escaping (PartialStore.Changes, UInt64) -> Void
    ) {
        self.core = core
        self.blocks = blocks
        self.connection = connection
        self.origin = origin
        self.tell = tell
        questions = WriteQuestions(connection, core.bound)
    }

    func run<R>(
        _ metadata: [Statement], _ fetch: StoreFetch?, _ more: [Int: Int],
        _ plan: (Catalog, [ObjectID]) throws(StoreError) -> SaveRun.Plan<R>
    ) throws -> SaveRun.Written<R> {
        let part = try PartialStore(
            core.schema, identifier: core.identity.identifier, tracksHistory: true)
        defer { part.close() }
        let catalog = part.catalog
        // Known as soon as the transaction has begun.
        var lastCommit: UInt64?
        var found: [ObjectID] = []
        if let fetch {
            // Whatever of what it finds is changed by others meanwhile, or has been, is an error when it is locked.
            let results = try connection.pipeline(
                [Statement("BEGIN ISOLATION LEVEL REPEATABLE READ"), core.stateQuestion],
                bound: core.bound)
            lastCommit = try core.noteState(results[1])
            found = try PostgresSnapshot(core, questions).fetch(fetch).ids
        }
        let plan = try plan(catalog, found)
        var needs = plan.needs
        let counts = needs.numbers.merging(more) { max($0, $1) }
        needs.numbers = [:]
        let numbers = try takeNumbers(counts, catalog, isBegun: lastCommit != nil)
        var unused = numbers
        defer { blocks.giveBack(unused) }
        try load(needs, numbers, part, lastCommit, begins: lastCommit == nil)
        if plan.needsAll { try loadAll(part) }
        try plan.parts?.carryOut(self, numbers, part)
        while true {
            switch try part.perform(plan.body) {
            case .lacking(let needs):
                if !needs.numbers.isEmpty {
                    throw MoreNumbers(counts: counts.merging(needs.numbers) { $0 + $1 })
                }
                try load(needs, [:], part, nil, begins: false)
            case .done(let result, var changes):
                try plan.parts?.join(&changes)
                if changes.isEmpty, metadata.isEmpty || !plan.isDone(result) {
                    try connection.run("ROLLBACK", bound: core.bound)
                    return SaveRun.Written(result: result, changes: changes, commit: nil)
                }
                let statements = try self.statements(changes, metadata, catalog)
                // Whatever becomes of the commit now, they may be those of objects: nobody else gets them.
                unused = [:]
                let commit = try core.committing.withLock { _ in
                    let number = try end(statements)
                    tell(changes, number)
                    return number
                }
                unused = plan.parts?.unused ?? Self.unused(numbers, changes, catalog)
                return SaveRun.Written(result: result, changes: changes, commit: commit)
            }
        }
    }

    /// The numbers that no new object has got.
    private static func unused(
        _ numbers: [UInt32: [UInt32]], _ changes: PartialStore.Changes, _ catalog: Catalog
    ) -> [UInt32: [UInt32]] {
        var used: [UInt32: Set<UInt32>] = [:]
        for row in changes.inserted {
            used[catalog.trees[catalog.entities[row.entity].tree].id, default: []].insert(
                row.number)
        }
        return numbers.reduce(into: [:]) { left, entry in
            let gone = used[entry.key] ?? []
            left[entry.key] = entry.value.filter { !gone.contains($0) }
        }
    }

    /// Takes numbers; with a transaction open, by another connection, so that nobody waits for its end.
    func takeNumbers(_ counts: [Int: Int], _ catalog: Catalog, isBegun: Bool) throws
        -> [UInt32: [UInt32]]
    {
        let wanted = Dictionary(
            uniqueKeysWithValues: counts.map { (catalog.trees[$0.key].id, $0.value) })
        guard isBegun else { return try blocks.take(wanted, connection, core) }
        if counts.isEmpty { return [:] }
        let other = try core.borrow()
        defer { core.pool.giveBack(other) }
        return try blocks.take(wanted, other, core)
    }

    /// Brings what is needed to an engine, and gives it.
    @discardableResult
    func load(
        _ needs: PartialKnowledge.Needs, _ numbers: [UInt32: [UInt32]], _ part: PartialStore,
        _ lastCommit: UInt64?, begins: Bool
    ) throws -> PartialStore.Brought {
        let loader = try NeedsLoader(
            needs, core.layout, core.keys, core.identity, part.catalog)
        let begin = begins ? [Statement("BEGIN"), core.stateQuestion] : []
        let results = try connection.pipeline(begin + loader.statements, bound: core.bound)
        var brought = try loader.brought(Array(results.dropFirst(begin.count)))
        brought.lastCommit = begins ? try core.noteState(results[1]) : lastCommit
        for (hierarchy, numbers) in numbers {
            guard let tree = part.catalog.treeIndex(id: hierarchy) else { continue }
            brought.numbers[tree] = numbers
        }
        try part.bring(brought)
        return brought
    }

    /// Loads everything, and locks it.
    private func loadAll(_ part: PartialStore) throws {
        var statements: [Statement] = []
        let layout = core.layout
        for table in layout.tables.indices {
            let selection = core.selection(table)
            statements.append(
                Statement(
                    """
                    SELECT \(selection.list("r")) FROM \(layout.sql(layout.tables[table].name)) AS r \
                    ORDER BY r.\(TableLayout.Fixed.id.quoted) FOR UPDATE OF r
                    """))
        }
        for pairs in layout.pairs.indices {
            let selection = PairSelection(layout: layout, pairs: pairs)
            statements.append(
                Statement(
                    "SELECT \(selection.list("r")) FROM \(layout.sql(layout.pairs[pairs].name)) AS r"
                ))
        }
        let results = try connection.pipeline(statements, bound: core.bound)
        var brought = PartialStore.Brought()
        for (index, result) in results.enumerated() {
            for row in 0..<result.rowCount {
                if index < layout.tables.count {
                    brought.rows.append(try core.selection(index).placedRow(result, row))
                } else {
                    let pairs = PairSelection(layout: layout, pairs: index - layout.tables.count)
                    brought.pairs.append(try pairs.pair(result, row))
                }
            }
        }
        try part.bring(brought)
    }

    /// What writes all of it. What is copied is there already.
    private func statements(
        _ changes: PartialStore.Changes, _ metadata: [Statement], _ catalog: Catalog
    ) throws -> [Statement] {
        let history = HistoryWriter(
            layout: core.layout, author: origin.author, contextName: origin.contextName)
        var statements = try ChangeWriter(changes, core.layout, core.keys)
            .begin(connection, core.bound)
        statements += RedirectWriter(layout: core.layout).statements(changes.redirects, catalog)
        statements += metadata
        // From here on to the end of the transaction commits stand in line.
        statements.append(
            Statement(
                """
                UPDATE \(core.layout.sql(.store)) SET last_commit = last_commit + 1 \
                RETURNING last_commit
                """))
        statements += try history.statements(changes.history)
        if core.notifies { statements.append(Statement("NOTIFY \(core.channel.quoted)")) }
        return statements
    }

    /// Ends the transaction, and gives the number of the commit.
    private func end(_ statements: [Statement]) throws -> UInt64 {
        let all = statements + [Statement("COMMIT")]
        let results = try connection.pipeline(all, bound: core.bound)
        guard let number = results.last(where: { $0.rowCount == 1 && $0.columnCount == 1 }) else {
            throw SQLFailure(.unreadable, "the store does not count its commits")
        }
        return UInt64(clamping: try number.int64(0, 0))
    }
}
