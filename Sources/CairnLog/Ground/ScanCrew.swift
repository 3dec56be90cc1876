// Threads that help to scan many blocks.
//
// They start when they are first needed, wait a while for more work, and end. One scan at a time uses them:
// another that comes in the meantime runs alone, on its own thread, which occupies another core.
//
// The crew is free again as soon as its helpers have nothing to do, even if the scan that used it is still
// running.
//
// Invariants: a closure is called only while its caller waits.
// Threads: any.

/// Helper threads for scans.
final class ScanCrew: Sendable {
    private struct Job: @unchecked Sendable {
        // Called by several threads at once, as its declaration states; none uses it once `together` returns.
        let body: () -> Void
    }

    private struct Contents {
        /// The current work, as long as more helpers may start it.
        var job: Job?
        /// Counts the jobs.
        var turn = 0
        /// The number of helpers at work.
        var working = 0
        var threads = 0
        var isTaken = false
    }

    /// The maximum number of helpers.
    let helpers: Int
    private let contents = Monitor(Contents())
    /// Seconds that a helper waits for more work.
    private static let patience = 5.0

    init(helpers: Int) { self.helpers = max(0, helpers) }

    /// Calls a closure in this thread and, concurrently, in all free helpers; returns when all calls have
    /// returned. The work must be complete whether one thread calls the closure or many.
    func together(_ body: () -> Void) { together(body, helping: body) }

    /// Calls a closure in this thread and, concurrently, another one in all free helpers; returns when all
    /// calls have returned. The work must be complete even if no helper runs, and helpers must finish when
    /// the first closure has. Once one of them has finished, no other helper starts.
    func together(_ body: () -> Void, helping: () -> Void) {
        if helpers == 0 { return body() }
        withoutActuallyEscaping(helping) { helping in
            let taken = contents.update { contents -> (missing: Int, turn: Int)? in
                if contents.isTaken { return nil }
                contents.isTaken = true
                contents.job = Job(body: helping)
                contents.turn += 1
                let missing = helpers - contents.threads
                contents.threads = helpers
                return (missing, contents.turn)
            }
            guard let (missing, turn) = taken else { return body() }
            for _ in 0..<missing where !SystemThread.start({ self.help() }) {
                contents.update { $0.threads -= 1 }
            }
            body()
            // Another scan may have the crew by now.
            contents.update { if $0.turn == turn { $0.job = nil } }
            contents.wait { $0.turn != turn || $0.working == 0 ? () : nil }
            contents.withLock { if $0.turn == turn { $0.isTaken = false } }
        }
    }

    private func help() {
        var seen = 0
        while work(&seen) {
            contents.update { contents in
                contents.working -= 1
                contents.job = nil
                if contents.working == 0 { contents.isTaken = false }
            }
        }
    }

    /// Runs one job; returns false if none came.
    private func work(_ seen: inout Int) -> Bool {
        func take(_ contents: inout Contents) -> Job? {
            guard let job = contents.job, contents.turn != seen else { return nil }
            seen = contents.turn
            contents.working += 1
            return job
        }
        let job =
            contents.wait(until: .now + Self.patience) { take(&$0) }
            ?? contents.withLock { contents in
                let job = take(&contents)
                if job == nil { contents.threads -= 1 }
                return job
            }
        guard let job else { return false }
        job.body()
        return true
    }
}
