// A thread that reads the commits of others, as long as the store is observed.
//
//   1. It has a connection of its own, which says LISTEN: each commit ends with a NOTIFY. A server that does not take that, or
//      a pooler between that loses it, only makes the news come later: it looks by itself as well.
//   2. What was committed while it was not connected is read first.
//   3. A connection that is lost is opened again, a little later each time.
//
// Threads: one, its own.

import CairnLog
import CairnStore

struct NewsReader {
    let core: StoreCore
    let news: CommitNews

    /// If the server reports commits, the interval of its own checks is longer by this factor.
    private static let trust = 8.0
    /// The longest time between two tries to connect.
    private static let mostPatience = 5.0

    func run() {
        var patience = 0.05
        while !news.endsReading() {
            if (try? read { patience = 0.05 }) == nil {
                wait(patience)
                patience = min(patience * 2, Self.mostPatience)
            }
        }
    }

    /// Over as soon as nobody wants to know any more, or the time has passed.
    private func bound(_ seconds: Double) -> CallBound {
        CallBound(.after(.seconds(seconds)), isCancelled: { [news] in !news.isWatched })
    }

    /// Reads until nobody wants to know.
    ///
    /// - Throws: if the connection is lost.
    private func read(hasRead: () -> Void) throws {
        let connection = try PostgresConnection.open(core.pool.string, bound(core.options.timeout))
        let isTold = try listen(connection)
        let pause = core.options.newsInterval * (isTold ? Self.trust : 1)
        while news.isWatched {
            let isNew = try news.catchUp { questions throws(StoreError) in
                try StoreCore.sql { () throws(SQLFailure) in
                    let results = try connection.pipeline(
                        HistoryPage.statements(questions), bound: bound(core.options.timeout))
                    return HistoryPage.answers(results)
                }
            }
            hasRead()
            if isNew { news.deliver() }
            _ = try connection.waitForNotifications(bound(pause))
        }
    }

    /// Whether the server tells of commits.
    private func listen(_ connection: PostgresConnection) throws -> Bool {
        do throws(SQLFailure) {
            try connection.run(
                "LISTEN \(core.channel.quoted)", [], .once, bound: bound(core.options.timeout))
            return true
        } catch {
            if connection.isBroken || error.isConnectionLoss { throw error }
            return false
        }
    }

    private func wait(_ seconds: Double) {
        let end = bound(seconds)
        while end.end == nil { ServerLink.pause(end) }
    }
}
