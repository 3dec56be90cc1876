// What a store costs beside its requests: opening after a kill and without any checkpoint, space after updates,
// memory for each object, what a reader beside a writer takes for what that wrote, and what compaction does to a writer
// beside it. Cairn alone; each part says what it did.
//
//   CairnBenchmarks upkeep [rows]

import Cairn
import Foundation
import Synchronization

enum Upkeep {
    static func run(rows count: Int) throws {
        try Folder.temporary(in: Folder.usual) { try run(rows: count, in: URL(filePath: $0)) }
    }

    private static func run(rows count: Int, in folder: URL) throws {
        var rows = Product.rows(count)
        let path = folder.appending(path: "store").path
        try loaded(rows, path)
        let fresh = Folder.size(path)
        print(
            "upkeep: \(count) rows, freshly loaded and closed: \(perRow(fresh, count)) bytes a row")
        try opening(path, rows[count / 2].serialCode, count, folder)
        try memory(path, count)
        try following(folder.appending(path: "followed").path, rows)
        try updates(path, &rows, fresh: fresh)
        try latency(folder.appending(path: "latency").path, Array(rows.prefix(min(count, 200_000))))
    }

    private static func perRow(_ bytes: Int, _ count: Int) -> String {
        String(format: "%.1f", Double(bytes) / Double(count))
    }

    /// Loads a store and closes it.
    private static func loaded(_ rows: [Product], _ path: String) throws {
        let peer = try made(path, .full)
        try peer.insert(rows[...])
        try peer.close()
    }

    /// An empty store in a new folder.
    private static func made(_ path: String, _ durability: Durability) throws -> CairnPeer {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return try CairnPeer(at: path, durability: durability, indexes: .keys)
    }

    // MARK: Opening

    /// Opens a store and finds one row; seconds for both.
    private static func open(_ key: String, _ path: String) throws -> Double {
        let start = ContinuousClock.now
        let peer = try CairnPeer(at: path, durability: .full, indexes: .keys)
        let row = try peer.find(key)
        let seconds = (ContinuousClock.now - start).seconds
        precondition(row != nil, "the row is there")
        try peer.close()
        return seconds
    }

    /// Opens the store without its checkpoint, and one whose writer was killed.
    private static func opening(_ path: String, _ key: String, _ count: Int, _ folder: URL) throws {
        var seconds: [Double] = []
        let copy = folder.appending(path: "copy").path
        for _ in 0..<5 {
            try? FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            for file in Folder.files(copy) where file.contains("/checkpoint") {
                try FileManager.default.removeItem(atPath: file)
            }
            Folder.dropFromMemory(copy)
            seconds.append(try open(key, copy))
        }
        report("opening without a checkpoint, files not in memory", seconds, count)
        // A store that is open looks like one whose writer was killed at that moment.
        let victim = folder.appending(path: "victim").path
        let store = try made(victim, .full)
        try Workload.inUnits(Product.rows(count), store.upsert)
        seconds = []
        for _ in 0..<5 {
            try? FileManager.default.removeItem(atPath: copy)
            try FileManager.default.copyItem(atPath: victim, toPath: copy)
            Folder.dropFromMemory(copy)
            seconds.append(try open(key, copy))
        }
        report("opening after a kill, files not in memory", seconds, count)
        try store.close()
        try FileManager.default.removeItem(atPath: victim)
        try FileManager.default.removeItem(atPath: copy)
    }

    private static func report(_ what: String, _ seconds: [Double], _ count: Int) {
        let median = seconds.sorted()[seconds.count / 2]
        print(
            "\(what): \(String(format: "%.1f ms, %.0f ns a row", median * 1e3, median * 1e9 / Double(count)))"
        )
    }

    // MARK: Memory

    private static func memory(_ path: String, _ count: Int) throws {
        let store = try CairnPeer.open(path, .full)
        // Everything of the state is asked for once.
        _ = try store.check()
        let statistics = try store.statistics()
        print(
            "row directory, one unique index and block table in memory: \(perRow(statistics.stateBytes, count)) bytes a row"
        )
        try store.close()
    }

    // MARK: Following

    /// Writes many rows at once, and lets a reader follow, as one in another process does.
    private static func following(_ path: String, _ rows: [Product]) throws {
        let peer = try made(path, .full)
        var options = LogStoreOptions()
        options.isReadOnly = true
        options.followsWriter = false
        let reader = try LogStore.open(at: "\(path)/store", options: options)
        print("time of a writer, and then of a reader that follows it:")
        func measure(_ what: String, _ write: () throws -> Void) throws {
            let start = ContinuousClock.now
            try write()
            let written = ContinuousClock.now
            _ = try reader.refresh()
            tell(what, (written - start).seconds, (ContinuousClock.now - written).seconds)
        }
        try measure("insert") { try peer.insert(rows[...]) }
        try measure("update of a column") { try peer.multiplyPrices(by: 1.01) }
        try measure("the same again") { try peer.multiplyPrices(by: 1.01) }
        try measure("delete of half") { _ = try peer.deleteFlagged() }
        try reader.close()
        try peer.close()
        try FileManager.default.removeItem(atPath: path)
    }

    private static func tell(_ what: String, _ writer: Double, _ reader: Double) {
        print(
            String(
                format: "  %@: %.1f ms, %.1f ms",
                what.padding(toLength: 18, withPad: " ", startingAt: 0),
                writer * 1e3, reader * 1e3))
    }

    // MARK: Space

    /// Updates every row three times, and lets compaction in the background do what it does.
    private static func updates(_ path: String, _ rows: inout [Product], fresh: Int) throws {
        let peer = try CairnPeer(at: path, durability: .full, indexes: .keys)
        let store = peer.store
        for round in 1...3 {
            for index in rows.indices { rows[index].quantity += Int64(round) }
            try Workload.inUnits(rows, peer.upsert)
        }
        // The background is idle when nothing has moved for a while.
        var before = (bytes: 0, moved: UInt64(0))
        var quiet = 0
        while quiet < 20 {
            Thread.sleep(forTimeInterval: 0.1)
            let now = (bytes: Folder.size(path), moved: try store.statistics().written.compacted)
            quiet = now == before ? quiet + 1 : 0
            before = now
        }
        let total = try store.statistics().written
        try store.close()
        let after = Folder.size(path)
        print(
            String(
                format:
                    "after updating every row three times, compaction in the background, and closing: %.2f times the fresh folder (%@ bytes a row); commits wrote %.1f MiB, compaction %.1f, checkpoints %.1f: %.2f bytes for each one needed",
                Double(after) / Double(fresh), perRow(after, rows.count),
                Double(total.commits) / 1048576,
                Double(total.compacted) / 1048576, Double(total.checkpoints) / 1048576,
                total.amplification ?? 0))
        let again = try CairnPeer.open(path, .full)
        _ = try again.compact()
        try again.close()
        print(
            String(
                format: "and after compaction on request: %.2f times",
                Double(Folder.size(path)) / Double(fresh)))
    }

    // MARK: Latency

    /// Commits one row at a time, alone and beside compaction, and tells how long commits took.
    private static func latency(_ path: String, _ rows: [Product]) throws {
        let peer = try made(path, .relaxed)
        let store = peer.store
        var rows = rows
        for _ in 0..<2 {
            for index in rows.indices { rows[index].quantity += 1 }
            try Workload.inUnits(rows, peer.upsert)
        }
        let alone = try times(peer, &rows, while: { $0 < 100_000 })
        let isDone = Atomic(false)
        var beside: [Double] = []
        try withExtendedLifetime(isDone) {
            let group = DispatchGroup()
            group.enter()
            Thread.detachNewThread {
                do {
                    for _ in 0..<3 { _ = try store.compact() }
                } catch {
                    preconditionFailure("what is measured is compaction: \(error)")
                }
                isDone.store(true, ordering: .releasing)
                group.leave()
            }
            beside = try times(peer, &rows, while: { _ in !isDone.load(ordering: .acquiring) })
            group.wait()
        }
        try store.close()
        print("commits of one row, not durable on return:")
        tell("alone", alone)
        tell("beside compaction", beside)
    }

    private static func times(
        _ peer: CairnPeer, _ rows: inout [Product], while goesOn: (Int) -> Bool
    ) throws -> [Double] {
        var times: [Double] = []
        var index = 0
        while goesOn(times.count) {
            rows[index].quantity += 1
            let start = ContinuousClock.now
            try peer.upsert(rows[index...index])
            times.append((ContinuousClock.now - start).seconds)
            index = (index + 7919) % rows.count
        }
        return times.sorted()
    }

    private static func tell(_ what: String, _ times: [Double]) {
        func at(_ share: Double) -> Double {
            times[min(times.count - 1, Int(Double(times.count) * share))] * 1e6
        }
        guard !times.isEmpty else { return }
        print(
            String(
                format:
                    "  %@: %d commits, median %.1f us, p99 %.1f us, p99.9 %.1f us, longest %.0f us",
                what.padding(toLength: 18, withPad: " ", startingAt: 0), times.count, at(0.5),
                at(0.99),
                at(0.999), at(1)))
    }
}
