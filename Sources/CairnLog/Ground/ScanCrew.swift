// Threads that help to scan many blocks.
//
// They are started when they are first needed, wait a while for more, and end. One scan has them at a time: another that
// comes meanwhile goes on alone, as its own thread is busy with another core.
//
// The crew is free again as soon as its helpers have nothing to do, also if whoever had it is still at work.
//
// Invariants: a closure is called only while whoever gave it waits.
// Threads: any.

/// Helper threads for scans.
final class ScanCrew: Sendable {
    private struct Job: @unchecked Sendable {
        // Called by several threads at once, as is said where it is given; none has it when `together` returns.
        let body: () -> Void
    }

    private struct Contents {
        /// What is to be done, as long as more may begin with it.
        var job: Job?
        /// Counts the jobs.
        var turn = 0
        /// How many helpers are at it.
        var working = 0
        var threads = 0
        var isTaken = false
    }

    /// How many helpers there are at most.
    let helpers: Int
    private let contents = Monitor(Contents())
    /// Seconds that a helper waits for more to do.
    private static let patience = 5.0

    init(helpers: Int) { self.helpers = max(0, helpers) }

    /// Calls a closure in this thread, and in as many others as are free, all at once; returns when all have returned. What
    /// the closure has to do must be done whether one thread calls it or many.
    func together(_ body: () -> Void) { together(body, helping: body) }

    /// Calls a closure in this thread, and meanwhile another one in as many others as are free; returns when all have
    /// returned. What there is to do must be done if nobody helps, and helpers must come to an end when the first has. When one
    /// of them has, nobody begins any more.
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
            // Somebody else may have the crew by now.
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

    /// Does one job; false if none came.
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
