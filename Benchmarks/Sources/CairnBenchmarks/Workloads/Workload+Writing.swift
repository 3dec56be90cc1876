// (a) inserting, (b) upserting, (f) deleting, (g) updating, (h) importing a whole list.

extension Workload {
    static let inserting = [
        Workload(
            "insert", "insert, one transaction, durable on return", start: .nothing,
            metrics: [.time("row"), .size, .memory]
        ) { try insert($0, .full) { rows, peer in try peer.insert(rows[...]) } },
        Workload(
            "insert-relaxed", "insert, one transaction, not durable on return", start: .nothing
        ) { try insert($0, .relaxed) { rows, peer in try peer.insert(rows[...]) } },
        Workload(
            "insert-10k", "insert, 10,000 rows a transaction, not durable on return",
            start: .nothing
        ) { try insert($0, .relaxed) { rows, peer in try inUnits(rows, peer.insert) } },
        Workload(
            "insert-10k-full", "insert, 10,000 rows a transaction, durable on return",
            start: .nothing, metrics: [.time("row"), .written]
        ) { try insert($0, .full) { rows, peer in try inUnits(rows, peer.insert) } },
        Workload(
            "insert-dictionary", "insert from dictionaries, one transaction, durable on return",
            start: .nothing, most: 2_000_000
        ) { job in
            let rows = Product.rows(job.rows)
            let dictionaries = rows.map(\.dictionary)
            let peer = try job.open(.full)
            var outcome = try job.measure(rows.count) {
                try peer.insert(dictionaries: dictionaries)
            }
            try outcome.finish(peer, job, writing: rows)
            return outcome
        },
    ]

    static let upserting = [
        Workload(
            "upsert-100", "upsert, all rows stored, 10,000 a transaction, not durable on return",
            changes: true, metrics: [.time("row"), .written, .size]
        ) { job in try upsert(Product.rows(job.rows).map(\.changed), job) },
        Workload(
            "upsert-50", "upsert, every second row stored, 10,000 a transaction", changes: true
        ) { job in
            let rows = Product.rows(job.rows + job.rows / 2)
            let half = job.rows / 2
            let mixed = (0..<half).flatMap { [rows[$0].changed, rows[job.rows + $0]] }
            return try upsert(mixed, job)
        },
        Workload(
            "upsert-equal", "upsert, all rows stored with equal values, 10,000 a transaction",
            changes: true
        ) { job in try upsert(Product.rows(job.rows), job) },
        Workload(
            "upsert-random", "upsert, a tenth of the rows in any order, 10,000 a transaction",
            changes: true
        ) { job in
            var random = SplitMix64(state: 12)
            let rows = Product.rows(job.rows).shuffled(using: &random)
            return try upsert(rows.prefix(max(1, job.rows / 10)).map(\.changed), job)
        },
    ]

    static let changing = [
        Workload("delete", "delete half of the rows by a predicate, one transaction", changes: true)
        {
            job in
            try change(job) { peer in
                var count = 0
                count = try peer.deleteFlagged()
                return "\(count)"
            }
        },
        Workload(
            "sync",
            "import a whole list in which 1 % changed: 3 of 400 rows updated, 1 gone for a new one; one transaction",
            changes: true
        ) { job in
            let list = Product.nextList(job.rows)
            return try change(job, writing: list) { peer in
                let changes = try peer.synchronize(list)
                return "\(changes.inserted) \(changes.updated) \(changes.deleted)"
            }
        },
        Workload("update", "update one column of all rows, one transaction", changes: true) { job in
            try change(job) { peer in
                try peer.multiplyPrices(by: 1.01)
                return ""
            }
        },
    ]

    private static func insert(
        _ job: Job, _ durability: Durability, _ work: ([Product], any Peer) throws -> Void
    ) throws -> Outcome {
        let rows = Product.rows(job.rows)
        let peer = try job.open(durability)
        var outcome = try job.measure(rows.count) { try work(rows, peer) }
        try outcome.finish(peer, job, writing: rows)
        return outcome
    }

    static func upsert(_ rows: [Product], _ job: Job) throws -> Outcome {
        let peer = try job.open()
        var outcome = try job.measure(rows.count) { try inUnits(rows, peer.upsert) }
        try outcome.finish(peer, job, writing: rows)
        return outcome
    }

    private static func change(
        _ job: Job, writing rows: [Product] = [], _ work: (any Peer) throws -> String
    ) throws -> Outcome {
        let peer = try job.open(.full)
        var found = ""
        var outcome = try job.measure(job.rows) { found = try work(peer) }
        outcome.check = found
        try outcome.finish(peer, job, writing: rows)
        return outcome
    }
}
