// All workloads, in the order of the report.

extension Workload {
    static let all: [Workload] =
        inserting + upserting + reading + indexed + grouping + changing + committing + opening
        + walking + serving + beside + holding + following + realData + limits

    /// What fills a store that other workloads start from; not measured.
    static func preparation(of start: Start) -> Workload? {
        switch start {
        case .nothing: nil
        case .rows: Workload("prepare", "", start: .nothing, work: fill)
        case .orderedRows: filling("prepare-ordered", .orderedKeys)
        case .indexedRows: filling("prepare-indexed", .columns)
        case .families:
            Workload("prepare-families", "", start: .nothing) { job in
                let peer = try job.open()
                let parents = job.rows / Family.childrenPerParent
                let outcome = try job.measure(job.rows) { try peer.insertFamilies(parents) }
                try peer.close()
                return outcome
            }
        }
    }

    private static func filling(_ name: String, _ indexes: Indexes) -> Workload {
        var workload = Workload(name, "", start: .nothing, work: fill)
        workload.indexes = indexes
        return workload
    }

    @Sendable private static func fill(_ job: Job) throws -> Outcome {
        let peer = try job.open()
        let rows = Product.rows(job.rows)
        let outcome = try job.measure(rows.count) { try inUnits(rows) { try peer.insert($0) } }
        try peer.close()
        return outcome
    }

    /// Every workload there is, by name.
    static func named(_ name: String) -> Workload? {
        let preparations = [Start.rows, .orderedRows, .indexedRows, .families].compactMap(
            preparation)
        return (all + preparations).first { $0.name == name }
    }

    /// Calls a closure with ten thousand rows at a time.
    static func inUnits(
        _ rows: [Product], of size: Int = 10_000, _ body: (ArraySlice<Product>) throws -> Void
    ) rethrows {
        for start in stride(from: 0, to: rows.count, by: size) {
            try body(rows[start..<min(start + size, rows.count)])
        }
    }
}
