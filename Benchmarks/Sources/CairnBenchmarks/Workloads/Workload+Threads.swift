// (h) commits of one row from one and four threads, and readers beside a writer.

import Synchronization

extension Workload {
    static let committing = [
        commit("commit-full-1", "commit of one row, durable at return, 1 thread", 1, .full, 2000),
        commit("commit-full-4", "commit of one row, durable at return, 4 threads", 4, .full, 2000),
        commit(
            "commit-relaxed-1", "commit of one row, not durable at return, 1 thread", 1, .relaxed,
            5000),
        commit(
            "commit-relaxed-4", "commit of one row, not durable at return, 4 threads", 4, .relaxed,
            5000),
    ]

    private static func commit(
        _ name: String, _ title: String, _ threads: Int, _ durability: Durability, _ most: Int
    ) -> Workload {
        Workload(name, title, start: .nothing, metrics: [.time("commit")]) { job in
            let rows = Product.rows(min(job.rows, most))
            let peer = try job.open(durability)
            let handles = try [peer] + (1..<threads).map { _ in try peer.another() }
            var outcome = job.measure(rows.count) {
                Threads.run(threads) { thread in
                    for index in stride(from: thread, to: rows.count, by: threads) {
                        attempt { try handles[thread].insert(rows[index...index]) }
                    }
                }
            }
            try outcome.finish(peer, job, writing: rows)
            return outcome
        }
    }

    static let beside = [
        Workload(
            "beside", "lookups in one thread while another upserts 100 rows a commit",
            changes: true,
            metrics: [
                .time("lookup"), .extra("perWrittenRow", "the writer, per row", .seconds),
            ]
        ) { job in
            let rows = Product.rows(job.rows)
            let keys = lookupKeys(job.rows, count: 10_000)
            let length = job.rows > 50_000 ? 1.0 : 0.25
            let peer = try job.open()
            let writer = try peer.another()
            let isDone = Atomic(false)
            let written = Atomic(0)
            var found = 0
            var outcome = Outcome()
            try Threads.beside({
                var start = 0
                while !isDone.load(ordering: .relaxed) {
                    let part = rows[start..<min(start + 100, rows.count)].map(\.changed)
                    attempt { try writer.upsert(part[...]) }
                    written.wrappingAdd(part.count, ordering: .relaxed)
                    start = start + 100 < rows.count ? start + 100 : 0
                }
            }) {
                defer { isDone.store(true, ordering: .relaxed) }
                outcome = try job.measure(1) {
                    let end = ContinuousClock.now + .seconds(length)
                    while ContinuousClock.now < end {
                        for _ in 0..<100 {
                            let key = keys[found % keys.count]
                            guard try peer.find(key) != nil else {
                                preconditionFailure("every key is stored")
                            }
                            found += 1
                        }
                    }
                }
            }
            outcome.operations = found
            let rowsWritten = written.load(ordering: .relaxed)
            outcome.extra["perWrittenRow"] = outcome.seconds / Double(max(1, rowsWritten))
            try peer.close()
            return outcome
        }
    ]

    /// What runs in a thread has nobody to throw to.
    static func attempt(_ body: () throws -> Void) {
        do { try body() } catch { preconditionFailure("\(error)") }
    }
}
