// One attempt to execute a request.
//
// Threads: owned by one call.

import CairnLog
import CairnModel
import CairnStore
import Synchronization

/// The queries of a transaction that writes.
final class WriteQuestions: CursorQuestions {
    let commit: UInt64 = 0
    let cursors = Mutex(CursorNames())
    private let connection: PostgresConnection
    private let bound: CallBound

    init(_ connection: PostgresConnection, _ bound: CallBound) {
        self.connection = connection
        self.bound = bound
    }

    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        let closing = cursors.withLock { $0.closing() }
        return try StoreCore.sql { () throws(SQLFailure) in
            Array(
                try connection.pipeline(closing + statements, bound: bound)
                    .dropFirst(closing.count))
        }
    }
}

struct Attempt {
    let core: StoreCore
    let blocks: NumberBlocks
    let connection: PostgresConnection
    let questions: WriteQuestions
    let origin: SaveRun.Origin
    /// Whether nobody is to come in between: others commit so often that they always would.
    let isPatient: Bool
    /// Whether rows that a request has seen are taken for those of the server.
    let trustsSeen: Bool
    /// Told of a commit, in the order of commits.
    let tell: (PartialStore.Changes, UInt64) -> Void

    init(
        core: StoreCore, blocks: NumberBlocks, connection: PostgresConnection,
        origin: SaveRun.Origin, isPatient: Bool, trustsSeen: Bool,
        tell: @escaping (PartialStore.Changes, UInt64) -> Void
    ) {
        self.core = core
        self.blocks = blocks
        self.connection = connection
        self.origin = origin
        self.isPatient = isPatient
        self.trustsSeen = trustsSeen
        self.tell = tell
        questions = WriteQuestions(connection, core.bound)
    }

    func run<R>(
        _ metadata: [Statement], _ fetch: StoreFetch?, _ more: [Int: Int],
        _ plan: (Catalog, [ObjectID]) throws(StoreError) -> SaveRun.Plan<R>
    ) throws -> SaveRun.Written<R> {
        let part = try PartialStore(core.encodedCatalog(), identifier: core.identity.identifier)
        defer { part.close() }
        let catalog = part.catalog
        // Known as soon as the transaction has begun.
        var lastCommit: UInt64?
        var found: [ObjectID] = []
        if let fetch {
            lastCommit = try begin(isPatient ? .committed : .repeatable)
            found = try find(fetch)
        }
        var asked = try plan(catalog, found)
        if trustsSeen, let seen = asked.seen {
            return try run(asked, on: seen, metadata, part)
        }
        var needs = asked.needs
        let counts = needs.numbers.merging(more) { max($0, $1) }
        needs.numbers = [:]
        let numbers = try takeNumbers(counts, catalog, isBegun: lastCommit != nil)
        var unused = numbers
        defer { blocks.giveBack(unused) }
        try load(needs, numbers, part, lastCommit, begins: lastCommit == nil)
        if asked.needsAll { try loadAll(part, waits: true) }
        var end = Ending(part: part, metadata: metadata, counts: counts, numbers: numbers)
        guard let fetch, isPatient else {
            try asked.parts?.carryOut(self, numbers, part, waits: true)
            return try complete(asked, end, &unused)
        }
        end.isInLine = true
        var written: SaveRun.Written<R>?
        // Who commits in this process waits here: at the server nobody would see who waits for whom.
        try core.committing.withLock { _ in
            if try lockStore(fetch, &found) {
                asked = try plan(catalog, found)
                needs = asked.needs
                needs.numbers = [:]
                try load(needs, [:], part, nil, begins: false, waits: false)
            }
            if asked.needsAll { try loadAll(part, waits: false) }
            try asked.parts?.carryOut(self, numbers, part, waits: false)
            written = try complete(asked, end, &unused)
        }
        guard let written else { preconditionFailure("a completed attempt has a result") }
        return written
    }

    /// What the end of a request needs to know of its begin.
    private struct Ending {
        let part: PartialStore
        let metadata: [Statement]
        let counts: [Int: Int]
        let numbers: [UInt32: [UInt32]]
        /// Whether nobody else commits any more.
        var isInLine = false
    }

    /// Has the engine carry the request out, and commits what it has changed.
    private func complete<R>(
        _ asked: SaveRun.Plan<R>, _ end: Ending, _ unused: inout [UInt32: [UInt32]]
    ) throws -> SaveRun.Written<R> {
        let catalog = end.part.catalog
        while true {
            switch try end.part.perform(asked.body) {
            case .lacking(let needs):
                if !needs.numbers.isEmpty {
                    throw MoreNumbers(counts: end.counts.merging(needs.numbers) { $0 + $1 })
                }
                try load(needs, [:], end.part, nil, begins: false, waits: !end.isInLine)
            case .done(let result, var changes):
                try asked.parts?.join(&changes)
                if changes.isEmpty, end.metadata.isEmpty || !asked.isDone(result) {
                    return SaveRun.Written(result: result, changes: changes, commit: nil)
                }
                let number: UInt64
                do {
                    number = try commit(
                        changes, statements(changes, end.metadata, catalog), end.isInLine)
                } catch let error as StoreError {
                    // They may be those of objects: nobody else gets them.
                    if error.code == .commitUnknown { unused = [:] }
                    throw error
                }
                unused = asked.parts?.unused ?? Self.unused(end.numbers, changes, catalog)
                return SaveRun.Written(result: result, changes: changes, commit: number)
            }
        }
    }

    /// Carries a request out on the rows that it has seen.
    ///
    /// - Throws: `OtherRows` if the server has others, or if it needs more: nothing is written then.
    private func run<R>(
        _ asked: SaveRun.Plan<R>, on seen: [PartialStore.PlacedRow], _ metadata: [Statement],
        _ part: PartialStore
    ) throws -> SaveRun.Written<R> {
        var brought = PartialStore.Brought()
        brought.rows = seen
        brought.known = asked.needs
        brought.lastCommit = core.noted
        try part.bring(brought)
        // What is wrong with it may be another thing on other rows.
        guard case .done(let result, let changes)? = try? part.perform(asked.body),
            asked.isDone(result), changes.areValues(of: seen.count)
        else { throw OtherRows() }
        let begin = [Statement("BEGIN"), core.stateQuestion]
        let writing = try ChangeWriter(changes, core.layout, core.keys, checksVersions: true)
            .begin(connection, core.bound)
        let results = try connection.pipeline(begin + writing, bound: core.bound)
        _ = try core.noteState(results[1])
        let written = results.dropFirst(begin.count).reduce(0) { $0 + $1.affectedRows }
        guard written == seen.count else { throw OtherRows() }
        let number = try commit(changes, metadata, false)
        return SaveRun.Written(result: result, changes: changes, commit: number)
    }

    /// Commits and tells it, in the order of commits.
    ///
    /// - Parameters:
    ///   - statements: what is still to be written.
    ///   - isInLine: whether nobody else commits any more.
    /// - Throws: `StoreError`, or `SQLFailure` if it has not come to the end.
    private func commit(
        _ changes: PartialStore.Changes, _ statements: [Statement], _ isInLine: Bool
    ) throws -> UInt64 {
        var told = try HistoryWriter(
            layout: core.layout, author: origin.author, contextName: origin.contextName
        ).statements(changes.history)
        if core.notifies { told.append(Statement("NOTIFY \(core.channel.quoted)")) }
        let history = told
        let transaction = TransactionEnd(core: core, connection: connection)
        func commitNext() throws(StoreError) -> UInt64 {
            let number = try transaction.commit(statements, history: history)
            tell(changes, number)
            return number
        }
        if isInLine { return try commitNext() }
        return try core.committing.withLock { _ throws(StoreError) in try commitNext() }
    }

    // MARK: Finding

    private enum Isolation: String {
        case committed = "BEGIN ISOLATION LEVEL READ COMMITTED"
        case repeatable = "BEGIN ISOLATION LEVEL REPEATABLE READ"
    }

    /// Begins the transaction of a request that finds its objects by a condition; gives the last commit.
    private func begin(_ isolation: Isolation) throws -> UInt64 {
        let results = try connection.pipeline(
            [Statement(isolation.rawValue), core.stateQuestion], bound: core.bound)
        return try core.noteState(results[1])
    }

    /// What a condition finds. In one state whatever of it others have changed meanwhile is an error when it is locked.
    private func find(_ fetch: StoreFetch) throws(StoreError) -> [ObjectID] {
        try PostgresSnapshot(core, questions).fetch(fetch).ids
    }

    /// Has all commits wait for this one, once the rows that were found are locked, as every save locks the store behind its
    /// rows; then finds again. From here on nothing of it changes any more.
    ///
    /// - Returns: whether other objects are found now.
    private func lockStore(_ fetch: StoreFetch, _ found: inout [ObjectID]) throws -> Bool {
        try connection.run(core.layout.storeLock, bound: core.bound)
        let before = found
        found = try find(fetch)
        return found != before
    }

    // MARK: Numbers

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

    // MARK: Rows

    /// Brings what is needed to an engine, and gives it.
    @discardableResult
    func load(
        _ needs: PartialKnowledge.Needs, _ numbers: [UInt32: [UInt32]], _ part: PartialStore,
        _ lastCommit: UInt64?, begins: Bool, waits: Bool = true
    ) throws -> PartialStore.Brought {
        let loader = try NeedsLoader(
            needs, core.layout, core.keys, core.identity, part.catalog, waits: waits)
        let begin = begins ? [Statement("BEGIN"), core.stateQuestion] : []
        let results = try connection.pipeline(begin + loader.statements, bound: core.bound)
        let lastCommit = begins ? try core.noteState(results[1]) : lastCommit
        let brought = try loader.brought(Array(results.dropFirst(begin.count)))
        try bring(brought, numbers, part, lastCommit)
        return brought
    }

    /// Brings what was loaded to an engine, with numbers for new objects.
    func bring(
        _ brought: PartialStore.Brought, _ numbers: [UInt32: [UInt32]], _ part: PartialStore,
        _ lastCommit: UInt64?
    ) throws(StoreError) {
        var brought = brought
        brought.lastCommit = lastCommit
        for (hierarchy, numbers) in numbers {
            guard let tree = part.catalog.treeIndex(id: hierarchy) else { continue }
            brought.numbers[tree] = numbers
        }
        try part.bring(brought)
    }

    /// Loads everything, and locks it.
    private func loadAll(_ part: PartialStore, waits: Bool) throws {
        var statements: [Statement] = []
        let layout = core.layout
        for table in layout.tables.indices {
            let selection = core.selection(table)
            statements.append(
                Statement(
                    """
                    SELECT \(selection.list("r")) FROM \(layout.sql(layout.tables[table].name)) AS r \
                    ORDER BY r.\(TableLayout.Fixed.id.quoted) \
                    FOR UPDATE OF r\(NeedsLoader.patience(waits))
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
        try ChangeWriter(changes, core.layout, core.keys).begin(connection, core.bound)
            + RedirectWriter(layout: core.layout).statements(changes.redirects, catalog) + metadata
    }
}
