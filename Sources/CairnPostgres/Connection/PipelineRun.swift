// One batch of statements that is sent to the server, and its results.
//
//   1. Each statement becomes one or two steps: prepare it if it is new, carry it out. A segment ends with a sync, after
//      which the server forgets that something failed. Names that are not used any more are closed before, in a
//      segment of their own, unless a transaction is open, which their failure would end.
//   2. While steps are queued, what libpq holds is sent in pieces; results that come meanwhile are taken in, so that a
//      server that waits for us to read never waits for ever.
//   3. The results come in the order of the steps. A step that fails makes the server skip the others of its segment.
//
// Invariants: `collected` steps have their result; the batch is over when all have, or when the connection is gone.
// Threads: one.

import CLibPQ

struct PipelineRun {
    private enum Step {
        case close
        case prepare(PreparedStatements.Entry, statement: Int)
        case carryOut(statement: Int)
        case sync
    }

    private let link: ServerLink
    private let batch: [Statement]
    private let encoded: EncodedBatch
    private var arrays = ParameterArrays()
    private var steps: [Step] = []
    private var collected = 0
    /// Whether the current step has had its result and only its end is pending.
    private var hasResult = false
    private var emptyAnswers = 0
    private var unsent = 0
    private(set) var outcomes: [StatementOutcome?]
    /// The first thing that failed, be it a statement or a step of ours.
    private(set) var failure: SQLFailure?

    /// About as much as libpq and the socket hold without memory growing.
    private static let pieceSize = 1 << 16
    private static let mostEmptyAnswers = 1000

    init(_ batch: [Statement], _ encoded: EncodedBatch, _ link: ServerLink) {
        self.link = link
        self.batch = batch
        self.encoded = encoded
        outcomes = Array(repeating: nil, count: batch.count)
    }

    /// Sends all and waits for all.
    mutating func run(_ prepared: inout PreparedStatements) throws(SQLFailure) {
        guard PQenterPipelineMode(link.handle) == 1 else { throw link.lost() }
        try sendCloses(&prepared)
        prepared.beginSegment()
        for (index, statement) in batch.enumerated() {
            try send(statement, index, &prepared)
            if statement.endsSegment || index == batch.count - 1 {
                try sendSync()
                prepared.beginSegment()
            }
            if unsent >= Self.pieceSize { try push(&prepared) }
        }
        while collected < steps.count { try collect(&prepared) }
        guard PQexitPipelineMode(link.handle) == 1 else { throw link.lost() }
    }

    // MARK: Sending

    private mutating func sendCloses(_ prepared: inout PreparedStatements) throws(SQLFailure) {
        guard PQtransactionStatus(link.handle) == PQTRANS_IDLE else { return }
        let names = prepared.takeUnclosed()
        for name in names {
            try check(cairn_send_close_prepared(link.handle, name))
            steps.append(.close)
        }
        if !names.isEmpty { try sendSync() }
    }

    private mutating func sendSync() throws(SQLFailure) {
        try check(PQpipelineSync(link.handle))
        steps.append(.sync)
    }

    private mutating func send(
        _ statement: Statement, _ index: Int, _ prepared: inout PreparedStatements
    ) throws(SQLFailure) {
        let types = statement.parameters.map(\.type)
        let use =
            statement.preparation == .kept ? prepared.use(statement.sql, types) : .unprepared
        let handle = link.handle
        unsent += encoded.size(of: index) + 64
        switch use {
        case .unprepared:
            let sql = statement.sql
            let sent = encoded.withValues(of: index, &arrays) { arrays in
                PQsendQueryParams(
                    handle, sql, arrays.count, types.map(\.oid), arrays.values, arrays.lengths,
                    arrays.formats, 1)
            }
            try check(sent)
            unsent += sql.utf8.count
        case .toPrepare(let entry):
            try check(
                PQsendPrepare(
                    handle, entry.name, entry.sql, CInt(entry.types.count), entry.types.map(\.oid)))
            steps.append(.prepare(entry, statement: index))
            unsent += entry.sql.utf8.count
            try sendPrepared(entry, index)
        case .prepared(let entry):
            try sendPrepared(entry, index)
        }
        steps.append(.carryOut(statement: index))
    }

    private mutating func sendPrepared(
        _ entry: PreparedStatements.Entry, _ index: Int
    ) throws(SQLFailure) {
        let handle = link.handle
        try check(
            encoded.withValues(of: index, &arrays) { arrays in
                PQsendQueryPrepared(
                    handle, entry.name, arrays.count, arrays.values, arrays.lengths,
                    arrays.formats, 1)
            })
    }

    private func check(_ sent: CInt) throws(SQLFailure) {
        guard sent == 1 else { throw link.lost() }
    }

    /// Has libpq send what it holds, and takes in what comes meanwhile.
    private mutating func push(_ prepared: inout PreparedStatements) throws(SQLFailure) {
        unsent = 0
        while link.flush(), !link.isBad {
            try link.wait(toWrite: true)
            while collected < steps.count, PQisBusy(link.handle) == 0, !link.isBad {
                try collect(&prepared)
            }
        }
    }

    // MARK: Collecting

    /// Takes one result, or the end of one, and waits for it if it has to.
    private mutating func collect(_ prepared: inout PreparedStatements) throws(SQLFailure) {
        guard let result = try link.nextResult() else {
            if hasResult {
                hasResult = false
                emptyAnswers = 0
                collected += 1
            } else {
                emptyAnswers += 1
                guard !link.isBad, emptyAnswers < Self.mostEmptyAnswers else { throw lost() }
            }
            return
        }
        emptyAnswers = 0
        let status = PQresultStatus(result)
        if case .sync = steps[collected] {
            guard status == PGRES_PIPELINE_SYNC else {
                // An error that belongs to no statement: the commit at the sync failed, or the connection did.
                let failure = link.failure(of: result)
                PQclear(result)
                note(failure)
                if link.isBroken || link.isBad { throw failure }
                return
            }
            PQclear(result)
            collected += 1
            return
        }
        hasResult = true
        switch status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: succeeded(result, prepared)
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            skipped(&prepared)
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            PQclear(result)
            // The protocol is in the middle of a copy that nobody carries out: the connection is of no more use.
            throw SQLFailure(
                .unreadable, "a statement of a batch copies rows", server: link.server)
        default:
            let failure = link.failure(of: result)
            PQclear(result)
            try failed(failure, &prepared)
        }
    }

    private mutating func succeeded(_ result: OpaquePointer, _ prepared: PreparedStatements) {
        switch steps[collected] {
        case .carryOut(let statement):
            outcomes[statement] = .finished(PostgresResult(taking: result))
        case .prepare(let entry, _):
            prepared.confirm(entry)
            PQclear(result)
        case .close, .sync: PQclear(result)
        }
    }

    private mutating func skipped(_ prepared: inout PreparedStatements) {
        switch steps[collected] {
        case .carryOut(let statement):
            if outcomes[statement] == nil { outcomes[statement] = .skipped }
        case .prepare(let entry, _): prepared.forget(entry)
        // One before it was not there any more: somebody has closed all of them.
        case .close, .sync: break
        }
    }

    private mutating func failed(
        _ failure: SQLFailure, _ prepared: inout PreparedStatements
    ) throws(SQLFailure) {
        var failure = failure
        switch steps[collected] {
        case .carryOut(let statement):
            failure.statementIndex = statement
            if outcomes[statement] == nil { outcomes[statement] = .failed(failure) }
            if failure.sqlState?.isStaleStatement == true { prepared.renew(batch[statement].sql) }
        case .prepare(let entry, let statement):
            failure.statementIndex = statement
            outcomes[statement] = .failed(failure)
            prepared.forget(entry)
        case .close, .sync:
            // Nobody's statement: what the server does not have need not be closed.
            guard link.isBroken || link.isBad else { return }
        }
        note(failure)
        if link.isBroken || link.isBad { throw failure }
    }

    private mutating func note(_ failure: SQLFailure) {
        if self.failure == nil { self.failure = failure }
    }

    /// The connection went away; the first statement without a result is the one that was under way.
    private func lost() -> SQLFailure {
        var failure = link.lost()
        failure.statementIndex = outcomes.firstIndex { $0 == nil }
        return failure
    }
}
