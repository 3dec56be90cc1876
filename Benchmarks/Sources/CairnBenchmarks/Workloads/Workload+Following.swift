// A list that follows: what it costs to be told of one change.

extension Workload {
    static let following = [
        Workload(
            "follow", "a sorted list of all rows in sections, told of one unsaved change",
            changes: true,
            metrics: [
                .time("change"),
                .extra("merged", "of one that another context has committed", .seconds),
            ]
        ) { job in
            let peer = try job.open()
            let count = min(job.rows, 1_000)
            var outcome = Outcome()
            try peer.follow { list in
                // The first change finds caches cold.
                try list.edit(0)
                outcome = try job.measure(count) {
                    for number in 0..<count { try list.edit(number &* 7919 % job.rows) }
                }
                try list.save()
                var merging = Duration.zero
                for number in 0..<count {
                    try list.commitElsewhere(number &* 104_729 % job.rows)
                    merging += try ContinuousClock().measure { try list.merge() }
                }
                outcome.extra["merged"] = merging / .seconds(1) / Double(count)
                outcome.check = "\(try list.isInOrder())"
            }
            try peer.close()
            return outcome
        }
    ]
}

/// A list that follows what happens, and those who change its rows.
protocol FollowingList {
    /// Changes what the n-th row is sorted by, so that it stands elsewhere, and waits until the list has followed.
    func edit(_ number: Int) throws
    /// Saves the changes.
    func save() throws
    /// Changes the n-th row elsewhere, and commits.
    func commitElsewhere(_ number: Int) throws
    /// Has the list follow what was committed.
    func merge() throws
    /// Whether the list is what is stored.
    func isInOrder() throws -> Bool
}
