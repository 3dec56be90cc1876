// The six mixes of the Yahoo! Cloud Serving Benchmark on the rows, one thread, each operation a request or
// a commit of its own that is not durable at its return.
//
//   A  half reads, half updates                    B  95 % reads, 5 % updates       C  reads
//   D  95 % reads of what is new, 5 % inserts      E  95 % ranges of 1 to 100 rows in the order of the keys,
//   F  half reads, half read-change-write             5 % inserts
//
// Keys of A, B, C, E and F are zipfian (constant 0.99) and scattered over all rows; those of D are zipfian
// from the newest row on. An update writes the whole row with other numbers. E ends after some seconds if a
// peer has no order to read from: what is compared is the time of an operation.

extension Workload {
    private enum Operation {
        case read(Int), update(Int), insert(Int), range(Int, Int), change(Int)
    }

    static let serving = [
        ycsb("A", "half reads, half updates", .scattered) { share, key in
            share < 0.5 ? .read(key) : .update(key)
        },
        ycsb("B", "95 % reads, 5 % updates", .scattered) { share, key in
            share < 0.95 ? .read(key) : .update(key)
        },
        ycsb("C", "reads", .scattered) { _, key in .read(key) },
        ycsb("D", "95 % reads of what is new, 5 % inserts", .newest) { share, key in
            share < 0.95 ? .read(key) : .insert(0)
        },
        ycsb("E", "95 % ranges of up to 100 rows, 5 % inserts", .scattered, most: 2000) {
            share, key in
            share < 0.95 ? .range(key, 1 + Int(share * 1e6) % 100) : .insert(0)
        },
        ycsb("F", "half reads, half read-change-write", .scattered) { share, key in
            share < 0.5 ? .read(key) : .change(key)
        },
    ]

    private enum Keys {
        case scattered, newest
    }

    private static func ycsb(
        _ letter: String, _ title: String, _ keys: Keys, most: Int = 100_000,
        _ operation: @escaping @Sendable (Double, Int) -> Operation
    ) -> Workload {
        Workload(
            "ycsb-\(letter.lowercased())", "YCSB \(letter): \(title)",
            start: letter == "E" ? .orderedRows : .rows, changes: true,
            metrics: [.time("operation")]
        ) { job in
            let operations = plan(job.rows, min(job.rows, most), keys, operation)
            let rows = Product.rows(job.rows + operations.count)
            let peer = try job.open()
            var (tally, first, done) = (Tally(), Tally(), 0)
            // What a peer that is slow gets through in any case, and what is compared then.
            let least = 16
            var outcome = try job.measure(operations.count) {
                let end = ContinuousClock.now + .seconds(letter == "E" ? 4 : 600)
                for operation in operations {
                    try run(operation, rows, peer, &tally)
                    done += 1
                    if done == least { first = tally }
                    if done >= least && letter == "E" && ContinuousClock.now > end { break }
                }
            }
            outcome.operations = done
            if letter == "E" {
                outcome.check = first.text
                try peer.close()
            } else {
                outcome.check = tally.text
                try outcome.finish(peer, job)
            }
            return outcome
        }
    }

    private static func plan(
        _ rows: Int, _ count: Int, _ keys: Keys, _ operation: (Double, Int) -> Operation
    ) -> [Operation] {
        var random = SplitMix64(state: 11)
        let zipfian = Zipfian(rows)
        var stored = rows
        return (0..<count).map { _ in
            let share = random.unit()
            let key =
                switch keys {
                case .scattered: zipfian.scattered(&random)
                case .newest: stored - 1 - zipfian.next(&random)
                }
            let next = operation(share, key)
            guard case .insert = next else { return next }
            defer { stored += 1 }
            return .insert(stored)
        }
    }

    private static func run(
        _ operation: Operation, _ rows: [Product], _ peer: any Peer, _ tally: inout Tally
    ) throws {
        switch operation {
        case .read(let index):
            if let row = try peer.find(rows[index].serialCode) { tally.add(row) }
        case .update(let index):
            let changed = rows[index].changed
            try peer.upsert([changed][...])
        case .insert(let index): try peer.insert(rows[index...index])
        case .range(let index, let limit):
            try peer.range(from: rows[index].serialCode, limit: limit) { tally.add($0) }
        case .change(let index):
            guard let row = try peer.find(rows[index].serialCode) else { return }
            tally.add(row)
            try peer.upsert([row.changed][...])
        }
    }
}
