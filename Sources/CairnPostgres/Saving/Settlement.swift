// Determines the outcome of a transaction whose end is unknown: its connection was lost while it committed, or the server
// has warned that no standby has confirmed it.
//
//   1. Whoever commits puts a token of its own into the table of tokens, with the number of the commit.
//   2. Who asks puts the same token there as that of a transaction that was given up, unless there is one. That waits for the
//      other transaction if it is still under way; if that comes too late, it finds the token and fails.
//   3. So the row says either that it has committed, or that it never will. It is written in any case: if the server waits for
//      standbys, what they confirm comes behind the commit that is asked for, and that is safe as well.
//
// It asks whoever takes writes now, which may be another server than before, and gives up after as long as a request may take.
//
// Threads: owned by one call. It has a connection of its own, since all of the pool's may wait for this one to be done.

import CairnStore
import FoundationEssentials

struct Settlement {
    let core: StoreCore
    let token: UUID

    /// The number of the commit; nil if the transaction never commits.
    ///
    /// - Parameter failure: why the outcome is unknown.
    /// - Throws: `.commitUnknown` if the server could not be queried.
    func settle(_ failure: SQLFailure) throws(StoreError) -> UInt64? {
        let bound = core.bound
        var last = failure
        repeat {
            do throws(SQLFailure) {
                let connection = try core.pool.openApart(bound)
                let warnings = connection.warnings
                let result = try connection.run(
                    """
                    INSERT INTO \(core.layout.sql(.tokens)) AS t (token, commit, made) \
                    VALUES ($1, 0, now()) ON CONFLICT (token) DO UPDATE SET commit = t.commit \
                    RETURNING commit
                    """, [.uuid(token)], bound: bound)
                let number = UInt64(clamping: try result.int64(0, 0))
                if number == 0 { return nil }
                // A warning says that the standbys are still to confirm it.
                if connection.warnings == warnings { return number }
            } catch {
                last = error
            }
            ServerLink.pause(Deadline.after(Self.pause).earlier(bound.deadline))
        } while bound.end == nil
        throw StoreError(
            .commitUnknown,
            "it is unknown whether the changes are committed: the server lost its standbys, or the connection to it was lost, during the commit, and no server could be reached for \(core.options.timeout) seconds",
            cause: last)
    }

    private static let pause = Duration.milliseconds(20)
}
