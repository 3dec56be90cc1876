// Lookups by key in stores of many sizes, and what the process takes for them.

import ArgumentParser
import Foundation

/// How often which keys are asked for.
enum KeySpread: String, Codable, CaseIterable, ExpressibleByArgument {
    /// Each as often as another.
    case uniform
    /// A few very often, as YCSB has it, spread over the whole store.
    case zipfian

    /// Keys of a store of so many rows.
    func keys(_ count: Int, rows: Int) -> [String] {
        var random = SplitMix64(state: 11)
        switch self {
        case .uniform:
            return (0..<count).map { _ in
                Product.serialCode(of: Int(random.next() % UInt64(rows)))
            }
        case .zipfian:
            let zipfian = Zipfian(rows)
            return (0..<count).map { _ in Product.serialCode(of: zipfian.scattered(&random)) }
        }
    }
}

/// What lookups by one peer cost.
struct PointReadFigures: Codable {
    var seconds = 0.0
    var lookups = 0
    /// Pages that the process had to be given meanwhile, and those of them that came from a disk.
    var faults = 0
    var diskFaults = 0
    /// Resident memory at the end, in KiB, and how much of it is not of mapped files.
    var residentKiB = 0
    var anonymousKiB = 0
}

enum PointReads {
    /// So many rows are inserted in one transaction.
    private static let unit = 1_000_000

    /// Fills a store of a peer.
    static func fill(_ peer: PeerEntry, _ folder: String, rows: Int) throws {
        let store = try peer.type.init(at: folder, durability: .relaxed, indexes: .keys)
        for start in stride(from: 0, to: rows, by: unit) {
            try store.insert(Product.rows(start..<min(rows, start + unit))[...])
        }
        try store.close()
    }

    /// Looks rows up, one request each, after as many others that the peer gets warm by.
    static func measure(
        _ peer: PeerEntry, _ folder: String, rows: Int, lookups: Int, spread: KeySpread,
        cacheMiB: Int?
    ) throws -> PointReadFigures {
        let keys = spread.keys(lookups * 2, rows: rows)
        let store = try open(peer, folder, cacheMiB)
        var figures = PointReadFigures(lookups: lookups)
        try find(keys[..<lookups], store)
        let before = faults
        let start = ContinuousClock.now
        try find(keys[lookups...], store)
        figures.seconds = (ContinuousClock.now - start).seconds
        figures.faults = faults.all - before.all
        figures.diskFaults = faults.fromDisk - before.fromDisk
        figures.residentKiB = ProcessFigures.resident
        figures.anonymousKiB = ProcessFigures.anonymous
        try store.close()
        return figures
    }

    private static func open(_ peer: PeerEntry, _ folder: String, _ cacheMiB: Int?) throws
        -> any Peer
    {
        guard let cacheMiB else {
            return try peer.type.init(at: folder, durability: .relaxed, indexes: .keys)
        }
        precondition(peer.hasCacheSetting, "the cache of \(peer.name) is set")
        return try CairnPeer(CairnPeer.open(folder, .relaxed, cacheBytes: cacheMiB << 20))
    }

    private static func find(_ keys: ArraySlice<String>, _ store: any Peer) throws {
        var tally = Tally()
        for key in keys { if let row = try store.find(key) { tally.add(row) } }
        precondition(tally.count == keys.count, "all keys are there")
    }

    /// How many pages the process was given so far.
    private static var faults: (all: Int, fromDisk: Int) {
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        return (usage.ru_minflt + usage.ru_majflt, usage.ru_majflt)
    }
}
