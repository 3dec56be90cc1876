// (c) lookups, (d) filters and all rows, (e) groups, (i) opening, (k) walking along relationships.

extension Workload {
    static let reading = [
        Workload(
            "lookup-one", "lookup by unique key to a struct, a request for each key",
            metrics: [.time("key")]
        ) { job in
            let keys = lookupKeys(job.rows)
            return try read(job, keys.count) { peer, tally in
                for key in keys { if let row = try peer.find(key) { tally.add(row) } }
            }
        },
        Workload(
            "lookup-predicate", "the same, each request made of a #Predicate",
            metrics: [.time("key")]
        ) { job in
            let keys = lookupKeys(job.rows)
            return try read(job, keys.count) { peer, tally in
                for key in keys { if let row = try peer.findByPredicate(key) { tally.add(row) } }
            }
        },
        Workload(
            "lookup-batch", "lookup by unique key to a struct, as many keys as rows in one go",
            metrics: [.time("key")]
        ) { job in
            let keys = lookupKeys(job.rows)
            return try read(job, keys.count) { peer, tally in
                try peer.lookup(keys) { tally.add($0) }
            }
        },
        Workload(
            "lookup-first", "the first 10,000 of these keys after opening",
            metrics: [.time("key")]
        ) { job in
            let keys = lookupKeys(job.rows, count: 10_000)
            return try read(job, keys.count) { peer, tally in
                try peer.lookup(keys) { tally.add($0) }
            }
        },
        Workload("count", "count of 1 % by two conditions") { job in
            try warm(job) { peer in "\(try peer.countMatches())" }
        },
        Workload("filter", "1 % of the rows by two conditions to structs") { job in
            try warm(job) { peer in
                var tally = Tally()
                try peer.matches { tally.add($0) }
                return tally.text
            }
        },
        Workload("all", "every row to a struct", metrics: [.time("row"), .readingMemory]) { job in
            try warm(job) { peer in
                var tally = Tally()
                try peer.every { tally.add($0) }
                return tally.text
            }
        },
    ]

    static let grouping = ProductText.allCases.map { text in
        Workload("group-\(text.rawValue)", "groups of at least two rows by \(text.rawValue)") {
            job in
            try warm(job) { peer in try peer.groups(by: text).text }
        }
    }

    static let opening = [
        Workload(
            "open-cold", "opening and one row by key, files not in memory",
            metrics: [.time("opening")]
        ) { job in
            let key = lookupKeys(job.rows, count: 1)
            Folder.dropFromMemory(job.folder)
            return try open(job, key)
        },
        Workload(
            "open-warm",
            "opening and one row by key, files in memory: the mean of 20 openings after one",
            metrics: [.time("opening")]
        ) { job in
            let key = lookupKeys(job.rows, count: 1)
            _ = try open(job, key)
            // One alone would mostly show which memory the one before it left.
            var outcome = try open(job, key)
            for _ in 1..<20 {
                let next = try open(job, key)
                outcome.operations += next.operations
                outcome.seconds += next.seconds
            }
            return outcome
        },
    ]

    static let walking = [
        Workload(
            "traverse", "10 children of each parent, parents in random order", start: .families,
            most: 10_000_000, metrics: [.time("child")]
        ) { job in
            let parents = job.rows / Family.childrenPerParent
            var random = SplitMix64(state: 3)
            let order = (0..<parents).shuffled(using: &random)
            return try warm(
                job, parents * Family.childrenPerParent, after: { try $0.findParents() }
            ) { peer in
                var tally = Tally()
                try peer.children(of: order) { tally.add($0) }
                return tally.text
            }
        }
    ]

    /// Serial codes in random order, as many as there are rows, and at most 1,000,000.
    static func lookupKeys(_ rows: Int, count: Int = 1_000_000) -> [String] {
        var random = SplitMix64(state: 7)
        return (0..<min(rows, count)).map { _ in
            Product.serialCode(of: Int(random.next() % UInt64(rows)))
        }
    }

    static func read(
        _ job: Job, _ operations: Int, _ work: (any Peer, inout Tally) throws -> Void
    ) throws -> Outcome {
        let peer = try job.open()
        var tally = Tally()
        var outcome = try job.measure(operations) { try work(peer, &tally) }
        outcome.check = tally.text
        try peer.close()
        return outcome
    }

    /// Reads twice: the time is that of the second, when what is read lies in memory as far as it goes there,
    /// the memory that of the first.
    static func warm(
        _ job: Job, _ operations: Int? = nil, after prepare: (any Peer) throws -> Void = { _ in },
        _ work: (any Peer) throws -> String
    ) throws -> Outcome {
        let peer = try job.open()
        try prepare(peer)
        var found = ""
        var outcome = try job.measure(operations ?? job.rows) { found = try work(peer) }
        outcome.seconds = try job.seconds { outcome.check = try work(peer) }
        precondition(outcome.check == found, "reading twice finds the same")
        try peer.close()
        return outcome
    }

    private static func open(_ job: Job, _ keys: [String]) throws -> Outcome {
        var peer: (any Peer)?
        var tally = Tally()
        var outcome = try job.measure(1) {
            let opened = try job.open(.full)
            for key in keys { if let row = try opened.find(key) { tally.add(row) } }
            peer = opened
        }
        outcome.check = tally.text
        try peer?.close()
        return outcome
    }
}
