// What is held in memory, and the real list.

extension Workload {
    static let holding = [
        hold("memory-realised", "memory of each row held with its values", withValues: true),
        hold("memory-fault", "memory of each row held as a fault", withValues: false),
    ]

    private static func hold(_ name: String, _ title: String, withValues: Bool) -> Workload {
        Workload(name, title, metrics: [.extra("held", "", .bytes)]) { job in
            let peer = try job.open()
            let other = try peer.another()
            var (before, held) = (0, 0)
            var outcome = Outcome()
            // Held twice, and the second time counts: what reading leaves in caches is no part of the rows,
            // and there is nothing left over from the first time that they could take.
            try peer.hold(withValues: withValues) {
                before = ProcessFigures.anonymous
                outcome = try job.measure(job.rows) {
                    try other.hold(withValues: withValues) {
                        held = ProcessFigures.anonymous - before
                    }
                }
            }
            outcome.extra["held"] = Double(max(0, held)) * 1024 / Double(job.rows)
            try peer.close()
            return outcome
        }
    }

    static let realData = [
        Workload(
            "airports", "airports (a real list, repeated), insert, 10,000 a transaction",
            start: .nothing, metrics: [.time("row"), .size]
        ) { job in
            let rows = Airports.first(job.rows)
            let peer = try job.open()
            var outcome = try job.measure(rows.count) { try inUnits(rows, peer.insert) }
            try outcome.finish(peer, job, writing: rows)
            return outcome
        },
        Workload(
            "airports-again", "airports, the list 14 years later, two thirds equal, upsert",
            start: .nothing
        ) { job in
            let peer = try job.open()
            try inUnits(Airports.first(job.rows), peer.upsert)
            let rows = Airports.second(job.rows)
            var outcome = try job.measure(rows.count) { try inUnits(rows, peer.upsert) }
            try outcome.finish(peer, job, writing: rows)
            return outcome
        },
    ]
}
