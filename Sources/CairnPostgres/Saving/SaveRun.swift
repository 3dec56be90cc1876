// One request that writes, as one transaction.
//
//   1. Numbers for new objects are there before the transaction begins.
//   2. What the request is sure to need is read and locked in the round trip that begins the transaction.
//   3. The request is carried out by an engine in memory that has this (PartialStore). What else it needs is read, until
//      nothing is missing: mostly nothing is.
//   4. What it has changed is written in one round trip, with the number of the commit and its end.
//
// A save that has seen all that it needs begins with 3 instead: see SeenRows.
//
// If somebody else was in the way, or the connection was lost, all is done again, a little later each time.
//
// Threads: owned by one call.

import CairnLog
import CairnModel
import CairnStore

struct SaveRun {
    let core: StoreCore
    let blocks: NumberBlocks
    let origin: Origin
    /// Called with each commit, in the order of commits.
    let tell: (PartialStore.Changes, UInt64) -> Void

    /// Who writes.
    struct Origin {
        var author: String?
        var contextName: String?
    }

    /// How a request is carried out.
    struct Plan<R> {
        /// What it is sure to need, by the numbers of a catalog.
        var needs = PartialKnowledge.Needs()
        /// The rows of all that it needs as it has seen them, if these are enough.
        var seen: [PartialStore.PlacedRow]?
        /// Whether it has to see everything there is.
        var needsAll = false
        /// What is done first, part by part.
        var parts: BulkInsert?
        /// Whether a result is one of a request that was carried out: else nothing is written.
        var isDone: (R) -> Bool = { _ in true }
        let body: (LogStore) throws(StoreError) -> R
    }

    /// What became of it.
    struct Written<R> {
        let result: R
        let changes: PartialStore.Changes
        /// The number of the commit; nil if nothing was changed.
        let commit: UInt64?
    }

    /// Carries a request out.
    ///
    /// - Parameters:
    ///   - metadata: statements that are part of it.
    ///   - fetch: finds objects that it is about, in the state that it is carried out in.
    ///   - plan: how it is carried out, once these are known.
    func run<R>(
        with metadata: [Statement] = [], fetching fetch: StoreFetch? = nil,
        _ plan: (Catalog, [ObjectID]) throws(StoreError) -> Plan<R>
    ) throws(StoreError) -> Written<R> {
        var more: [Int: Int] = [:]
        var trustsSeen = true
        return try Retries(core.options.attempts).run { attempt throws(StoreError) in
            while true {
                let connection = try core.borrow()
                defer { core.pool.giveBack(connection) }
                let attempt = Attempt(
                    core: core, blocks: blocks, connection: connection, origin: origin,
                    isPatient: attempt >= Self.hastyAttempts,
                    trustsSeen: trustsSeen && attempt == 0, tell: tell)
                do {
                    return try attempt.run(metadata, fetch, more, plan)
                } catch let needed as MoreNumbers {
                    // They are taken before the transaction begins.
                    more = needed.counts
                } catch is OtherRows {
                    trustsSeen = false
                } catch let failure as SQLFailure {
                    throw StoreError(core.explained(failure, connection))
                } catch let error as StoreError {
                    guard let failure = error.cause as? SQLFailure else { throw error }
                    let explained = core.explained(failure, connection)
                    if explained.isModelChanged { throw StoreError(explained) }
                    throw error
                } catch {
                    preconditionFailure(
                        "a save only throws store and server errors: \(error)")
                }
            }
        }
    }

    /// How many attempts do not make others wait.
    private static let hastyAttempts = 2
}

/// A request that has more new objects than it was given numbers for.
struct MoreNumbers: Error {
    /// By tree of the catalog.
    let counts: [Int: Int]
}
