// Airports that are folded into others, and where their ids lead then, worked out by hand.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

/// A store of airports, and what is known of those that were folded.
struct FoldedAirports {
    /// Where each id of a folded airport was led, the last time.
    private(set) var led: [ObjectID: ObjectID] = [:]
    /// By code: the airports that are there.
    private(set) var alive: [String: ObjectID] = [:]
    /// Those that were there and are not.
    private(set) var gone: [ObjectID] = []

    /// What an id leads to, as it is to be.
    func meant(_ id: ObjectID) -> ObjectID? {
        let there = Set(alive.values)
        if there.contains(id) { return nil }
        var next = led[id]
        while let id = next, !there.contains(id) { next = led[id] }
        return next
    }

    static func id(_ code: String, in store: LogStore) throws -> ObjectID {
        let entity = try #require(store.schema.entity(named: "Airport"))
        let fetch = StoreFetch(
            entity: entity.index, predicate: .compare("code", .equal, .string(code)))
        return try #require(try store.snapshot().fetch(fetch).ids.first, "\(code)")
    }

    /// Makes airports of these codes.
    mutating func make(_ codes: [String], in store: LogStore) throws {
        _ = try store.execute(
            BatchInsertRequest(entityName: "Airport", objects: codes.map { ["code": $0] }))
        for code in codes { alive[code] = try Self.id(code, in: store) }
    }

    /// Takes it that an airport was made.
    mutating func make(_ code: String, _ id: ObjectID) { alive[code] = id }

    /// The request that deletes airports in favour of others.
    func request(_ pairs: [(loser: String, winner: String)], in store: LogStore) throws
        -> SaveRequest
    {
        let entity = try #require(store.schema.entity(named: "Airport"))
        var request = SaveRequest()
        for (loser, winner) in pairs {
            let id = try #require(alive[loser])
            request.deleted.append(.init(id: id, entity: entity.index, version: nil))
            request.redirects.append(.init(id: id, survivor: try #require(alive[winner])))
        }
        return request
    }

    /// Deletes airports in favour of others.
    mutating func fold(_ pairs: [(loser: String, winner: String)], in store: LogStore) throws {
        _ = try store.save(try self.request(pairs, in: store))
        note(pairs)
    }

    /// Gives an airport the code of another one.
    func rename(_ code: String, to other: String, _ policy: MergePolicyKind, _ store: LogStore)
        throws
    {
        let airport = try #require(store.schema.entity(named: "Airport"))
        let id = try #require(alive[code])
        let row = try #require(try store.snapshot().rows([id])[0])
        var request = SaveRequest()
        request.updated.append(
            .init(
                id: id, entity: airport.index, base: row,
                changes: [(column: try SampleStore.column("code", airport), value: .string(other))]
            ))
        request.resolution = .policy(policy)
        _ = try store.save(request)
    }

    /// Takes it that they were folded.
    mutating func note(_ pairs: [(loser: String, winner: String)]) {
        let before = alive
        let winners = Dictionary(pairs.map { ($0.loser, $0.winner) }) { first, _ in first }
        for (loser, winner) in pairs {
            guard let id = alive.removeValue(forKey: loser) else { continue }
            var last = winner
            while let next = winners[last] { last = next }
            led[id] = before[last]
            gone.append(id)
        }
    }

    /// Deletes airports in favour of nobody.
    mutating func delete(_ codes: [String], in store: LogStore) throws {
        let entity = try #require(store.schema.entity(named: "Airport"))
        var request = SaveRequest()
        for code in codes {
            let id = try #require(alive[code])
            alive[code] = nil
            gone.append(id)
            request.deleted.append(.init(id: id, entity: entity.index, version: nil))
        }
        _ = try store.save(request)
    }

    /// Creates an airport again under its id.
    mutating func revive(_ id: ObjectID, _ code: String, in store: LogStore) throws {
        let entity = try #require(store.schema.entity(named: "Airport"))
        var values = Array(repeating: Value.null, count: entity.columns.count)
        values[try SampleStore.column("code", entity)] = .string(code)
        var request = SaveRequest()
        request.inserted.append(
            .init(id: id, entity: entity.index, values: values, assigned: [], version: 1))
        _ = try store.save(request)
        alive[code] = id
        gone.removeAll { $0 == id }
        led[id] = nil
    }

    /// Everything in a store fits together, and all ids lead where they are to.
    func look(_ store: LogStore, _ what: String = "") throws {
        let snapshot = try store.snapshot()
        for id in gone + Array(alive.values) {
            #expect(try snapshot.redirectedObjectID(for: id) == meant(id), "\(what)")
        }
        #expect(store.hasRedirects || led.isEmpty, "\(what)")
        let findings = try store.check().findings
        #expect(findings.isEmpty, "\(what): \(findings)")
    }

    /// The same of what is on a disk, whoever opens it next, and of its files.
    func look(on disk: any FileSystem, _ what: String = "") throws {
        let reader = try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
        try look(reader, what)
        try reader.close()
        let audit = try LogStore.check(
            at: "/store", depth: .all, options: FollowingStores.reading(disk))
        #expect(audit.findings.isEmpty, "\(what): \(audit.findings)")
    }
}

extension FoldedAirports {
    /// What the golden store holds: chains, an object that is there again, a winner that is gone; the first in a side segment.
    static func fillGolden(_ store: LogStore) throws {
        var airports = FoldedAirports()
        try airports.make((0..<40).map { "A\($0)" }, in: store)
        try airports.fold([("A1", "A0"), ("A2", "A0"), ("A10", "A11")], in: store)
        try airports.fold([("A0", "A3")], in: store)
        try airports.revive(airports.gone[2], "BACK", in: store)
        try airports.fold([("A20", "A21")], in: store)
        try airports.delete(["A21"], in: store)
        try store.engine.rollSegment()
        for round in 0..<3 { try CompactionTests.update(store, 30..<40, round) }
        _ = try store.compact()
        try airports.fold([("A3", "A4"), ("A5", "A6")], in: store)
        try airports.look(store)
    }

    /// Where the payload of the first redirects frame of a segment begins.
    static func place(ofRedirectsIn bytes: [UInt8]) -> Int? {
        stride(from: SegmentHeader.size, to: bytes.count - FrameHeader.size, by: 8).first { at in
            Array(bytes[at..<at + 5]) == Array("CFRM".utf8) + [14]
        }.map { $0 + FrameHeader.size }
    }

    /// What `reader.py --redirects` prints of a state.
    static func text(_ state: EngineState) -> String {
        guard let redirects = state.redirects else { return "" }
        return redirects.entries.keys.sorted().map { key in
            let tree = state.catalog.treeIndex(id: key.tree)
            let target = tree.flatMap { state.redirected(key.number, tree: $0) }
            return
                "{\"tree\":\(key.tree),\"id\":\(key.number),\"leads\":\(target.map { "\($0)" } ?? "null")}\n"
        }.joined()
    }
}
