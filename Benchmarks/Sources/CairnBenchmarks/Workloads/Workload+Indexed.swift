// What an index is asked for: the first rows of an order, the rows of a range, and those of many keys.
//
// What is found takes too little time to be measured once, so many requests are made; the time is that of a second
// round, when what is read lies in memory as far as it goes there.

extension Workload {
    static let indexed = [
        Workload(
            "top-10", "the first 10 rows of a sorted index, 10,000 requests", start: .indexedRows,
            metrics: [.time("request")]
        ) { job in
            let requests = 10_000
            return try warm(job, requests) { peer in
                var tally = Tally()
                for index in 0..<requests {
                    try peer.top(10, index % 2 == 0 ? .newest : .cheapest) { tally.add($0) }
                }
                return tally.text
            }
        },
        Workload(
            "top-10-scan", "the same without an index, 20 requests", metrics: [.time("request")]
        ) { job in
            let requests = 20
            return try warm(job, requests) { peer in
                var tally = Tally()
                for _ in 0..<requests { try peer.top(10, .cheapest) { tally.add($0) } }
                return tally.text
            }
        },
        Workload(
            "range", "about 1,000 rows in a range of an index to structs, 200 requests",
            start: .indexedRows
        ) { job in
            let ranges = priceRanges(job.rows, count: 200)
            var found = 0
            var outcome = try warm(job) { peer in
                var tally = Tally()
                for range in ranges { try peer.priced(range) { tally.add($0) } }
                found = tally.count
                return tally.text
            }
            outcome.operations = found
            return outcome
        },
        Workload(
            "in-10k", "10,000 unique keys in one fetch to structs, 10 requests",
            metrics: [.time("key")]
        ) { job in
            let rows = Product.rows(job.rows)
            let lists = (0..<10).map { keys(rows, seed: UInt64($0)) }
            return try warm(job, lists.reduce(0) { $0 + $1.count }) { peer in
                var tally = Tally()
                for keys in lists { try peer.among(keys) { tally.add($0) } }
                return tally.text
            }
        },
    ]

    /// Ranges of prices that have about a thousand rows each.
    private static func priceRanges(_ rows: Int, count: Int) -> [Range<Double>] {
        var random = SplitMix64(state: 13)
        let all = 10485.76
        let width = all * min(1, 1000 / Double(rows))
        return (0..<count).map { _ in
            let start = random.unit() * (all - width)
            return start..<start + width
        }
    }

    /// Ten thousand different serial codes in random order, or those of all rows if there are fewer.
    private static func keys(_ rows: [Product], seed: UInt64) -> [String] {
        var random = SplitMix64(state: seed)
        var taken: Set<Int> = []
        var keys: [String] = []
        while keys.count < min(rows.count, 10_000) {
            let index = Int(random.next() % UInt64(rows.count))
            if taken.insert(index).inserted { keys.append(rows[index].serialCode) }
        }
        return keys
    }
}
