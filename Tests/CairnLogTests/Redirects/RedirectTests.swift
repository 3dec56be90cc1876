// Ids of objects that were folded into others, through everything that may happen to a store.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Redirects")
struct RedirectTests {
    private static func codes(_ numbers: Range<Int>) -> [String] { numbers.map { "A\($0)" } }

    private static func made(_ count: Int, on disk: any FileSystem) throws -> (
        LogStore, FoldedAirports
    ) {
        let store = try CompactionTests.open(disk)
        var airports = FoldedAirports()
        try airports.make(codes(0..<count), in: store)
        return (store, airports)
    }

    @Test("A store in which nobody was folded has no byte more and no bit set")
    func nothing() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(3, on: disk)
        try airports.delete(["A0"], in: store)
        #expect(!store.hasRedirects && store.redirectCount == 0)
        let id = try #require(airports.gone.first)
        #expect(try store.snapshot().redirectedObjectID(for: id) == nil)
        try airports.look(store)
        try store.close()
        let image = try DiskImage(of: disk)
        #expect(image.files["0000000001.segment"]![72] & 8 == 0)
    }

    @Test("The ids of the losers lead to the winner, also when the store is opened again")
    func reopening() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(10, on: disk)
        try airports.fold([("A1", "A0"), ("A2", "A0"), ("A7", "A9")], in: store)
        #expect(store.hasRedirects && store.redirectCount == 3)
        try airports.look(store)
        // In one save and by its number alone.
        let winner = try #require(airports.alive["A0"])
        #expect(try store.snapshot().redirectedObjectID(for: winner) == nil)
        try store.close()
        try airports.look(on: disk)
        let again = try CompactionTests.open(disk)
        try airports.look(again)
        #expect(again.redirectCount == 3)
        try again.close()
    }

    @Test("Winners become losers: ids lead to the last one, be it within one save")
    func chains() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(10, on: disk)
        try airports.fold([("A1", "A0")], in: store)
        try airports.fold([("A0", "A2")], in: store)
        // A3 to A4, which goes to A5 in the same save.
        try airports.fold([("A3", "A4"), ("A4", "A5")], in: store)
        try airports.fold([("A2", "A5")], in: store)
        try airports.look(store)
        let last = try #require(airports.alive["A5"])
        for id in airports.gone {
            #expect(try store.snapshot().redirectedObjectID(for: id) == last)
        }
        try store.close()
        try airports.look(on: disk)
    }

    @Test("A winner that is deleted for good leads nowhere, and one that is back is itself")
    func deletedWinners() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(10, on: disk)
        try airports.fold([("A1", "A0"), ("A3", "A2")], in: store)
        let (loser, winner) = (airports.gone[0], try #require(airports.alive["A0"]))
        try airports.delete(["A0"], in: store)
        #expect(try store.snapshot().redirectedObjectID(for: loser) == nil)
        try airports.look(store)
        // Created again by whoever has it still.
        try airports.revive(winner, "back", in: store)
        #expect(try store.snapshot().redirectedObjectID(for: loser) == winner)
        try airports.revive(loser, "too", in: store)
        #expect(try store.snapshot().redirectedObjectID(for: loser) == nil)
        try airports.look(store)
        // No circle: each of the two was the other's winner.
        try airports.fold([("back", "too")], in: store)
        #expect(try store.snapshot().redirectedObjectID(for: winner) == loser)
        try airports.delete(["too"], in: store)
        for id in [loser, winner] {
            #expect(try store.snapshot().redirectedObjectID(for: id) == nil)
        }
        try airports.look(store)
        try store.close()
        try airports.look(on: disk)
    }

    @Test("What is asked for wrongly is refused, and what is not done leads nowhere")
    func refused() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(10, on: disk)
        var request = try airports.request([("A1", "A0")], in: store)
        request.deleted = []
        request.locked = []
        #expect(storeError { _ = try store.save(request) }?.code == .invalidRequest)
        request = try airports.request([("A1", "A2"), ("A2", "A1")], in: store)
        #expect(storeError { _ = try store.save(request) }?.code == .invalidRequest)
        request = try airports.request([("A1", "A0")], in: store)
        let country = try #require(store.schema.entity(named: "Country"))
        request.redirects[0].survivor = store.identity.id(1, entity: country.index)
        #expect(storeError { _ = try store.save(request) }?.code == .invalidRequest)
        // Deleted by somebody else before: it was led nowhere.
        request = try airports.request([("A1", "A0")], in: store)
        try airports.delete(["A1"], in: store)
        _ = try store.save(request)
        #expect(try store.snapshot().redirectedObjectID(for: request.redirects[0].id) == nil)
        // A policy takes the deletion back, as somebody else has changed the object.
        request = try airports.request([("A3", "A0")], in: store)
        request.deleted[0].version = 77
        request.resolution = .policy(.rollback)
        _ = try store.save(request)
        #expect(try store.snapshot().redirectedObjectID(for: request.redirects[0].id) == nil)
        #expect(store.redirectCount == 0)
        try airports.look(store)
        try store.close()
        try airports.look(on: disk)
    }

    @Test("What a policy gives up is led to who has its key, also in the first such save")
    func policies() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(8, on: disk)
        let airport = try #require(store.schema.entity(named: "Airport"))
        let code = try SampleStore.column("code", airport)
        try airports.rename("A1", to: "A0", .mergeByPropertyObjectTrump, store)
        airports.note([("A1", "A0")])
        #expect(store.redirectCount == 1)
        try airports.look(store)
        try airports.rename("A3", to: "A2", .overwrite, store)
        airports.note([("A2", "A3")])
        try airports.rename("A4", to: "A5", .mergeByPropertyStoreTrump, store)
        try airports.look(store)
        // A new one under an id that was obtained takes the place of one, and another comes to be it.
        for (policy, isKept) in [(MergePolicyKind.overwrite, true), (.rollback, false)] {
            let id = try store.obtainPermanentIDs(forEntities: [airport.index])[0]
            var values = Array(repeating: Value.null, count: airport.columns.count)
            values[code] = .string("A5")
            var request = SaveRequest()
            request.inserted.append(
                .init(id: id, entity: airport.index, values: values, assigned: [code]))
            request.resolution = .policy(policy)
            _ = try store.save(request)
            airports.make("\(policy)", id)
            airports.note(isKept ? [("A5", "\(policy)")] : [("\(policy)", "overwrite")])
        }
        #expect(store.redirectCount == 4)
        try airports.look(store)
        try store.close()
        try airports.look(on: disk)
    }

    @Test("References that come late lead to the winner, in saves and batches")
    func lateReferences() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try SampleStore.firstObjects(store)
        let schema = store.schema
        let airport = try #require(schema.entity(named: "Airport"))
        let country = try #require(schema.entity(named: "Country"))
        let countries = try store.snapshot().fetch(StoreFetch(entity: country.index)).ids
        var fold = SaveRequest()
        fold.deleted.append(.init(id: countries[1], entity: country.index, version: nil))
        fold.redirects.append(.init(id: countries[1], survivor: countries[0]))
        _ = try store.save(fold)
        let column = try SampleStore.column("country", airport)
        var values = Array(repeating: Value.null, count: airport.columns.count)
        values[try SampleStore.column("code", airport)] = .string("LATE")
        values[column] = .objectID(countries[1])
        var save = SaveRequest()
        let temporary = ObjectID(
            temporary: 1, hierarchy: store.identity.hierarchies[airport.index],
            context: store.identity.identifier)
        save.inserted.append(
            .init(id: temporary, entity: airport.index, values: values, assigned: [column]))
        guard case .saved(let result) = try store.save(save) else {
            Issue.record("conflicts")
            return
        }
        let id = try #require(result.permanentIDs[temporary])
        func target(_ id: ObjectID) throws -> Value? {
            try store.snapshot().rows([id])[0]?.cells.value(
                column, of: airport, in: store.identity)
        }
        let saved = result.rows[id]?.cells.value(column, of: airport, in: store.identity)
        #expect(saved == .objectID(countries[0]))
        #expect(try target(id) == .objectID(countries[0]))
        // A pair whose end was folded.
        let other = try FoldedAirports.id("NILS", in: store)
        var folding = SaveRequest()
        folding.deleted.append(.init(id: id, entity: airport.index, version: nil))
        folding.redirects.append(.init(id: id, survivor: other))
        _ = try store.save(folding)
        var pairs = SaveRequest()
        let owner = try FoldedAirports.id("LOWW", in: store)
        pairs.pairChanges.append(
            .init(pairs: 0, source: owner, destination: id, isAddition: true))
        _ = try store.save(pairs)
        let relationship = try #require(airport.relationshipIndex(named: "partners"))
        let partners = try store.snapshot().members(
            ofRelationship: relationship, entity: airport.index, owners: [owner])[0]
        #expect(partners.contains(other) && !partners.contains(id))
        // Batches: by id in a row, and as a value for all.
        var batch = BatchInsertRequest(
            entityName: "Airport", objects: [["code": "BATCH", "country": countries[1]]])
        batch.resultType = .objectIDs
        let made = try store.execute(batch).objectIDs
        #expect(try target(made[0]) == .objectID(countries[0]))
        var update = BatchUpdateRequest(entityName: "Airport")
        update.propertiesToUpdate = ["country": .value(.objectID(countries[1]))]
        update.predicate = .compare("code", .equal, .string("NILS"))
        #expect(try store.execute(update).updatedCount == 1)
        #expect(try target(other) == .objectID(countries[0]))
        // Fetches that name it mean the winner.
        func count(_ predicate: PredicateNode, _ entity: SchemaEntity) throws -> Int {
            try store.snapshot().count(StoreFetch(entity: entity.index, predicate: predicate))
        }
        let old = Value.objectID(countries[1])
        let new = Value.objectID(countries[0])
        #expect(try count(.compare(.evaluatedObject, .equal, .constant(old)), country) == 1)
        #expect(
            try count(.compare("country", .equal, old), airport)
                == count(.compare("country", .equal, new), airport))
        #expect(try count(.compare("country", .equal, old), airport) >= 3)
        #expect(
            try count(.compare(.keyPath("country"), .in, .list([old, new])), airport)
                == count(.compare("country", .equal, new), airport))
        try store.close()
        let again = try CompactionTests.open(disk)
        #expect(try again.check().findings.isEmpty)
        try again.close()
    }

    @Test("Compaction carries them on, and gives what is left of their segments back")
    func compaction() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(60, on: disk)
        for number in 1..<20 {
            try airports.fold([("A\(number)", "A\(number + 20)")], in: store)
            if number % 5 == 0 { try store.engine.rollSegment() }
        }
        for round in 0..<3 {
            try airports.fold([("A\(21 + round)", "A\(50 + round)")], in: store)
            try CompactionTests.update(store, 40..<60, round)
            _ = try store.compact()
            try airports.look(store, "round \(round)")
        }
        let redirects = try #require(store.engine.registry.published().redirects)
        let state = store.engine.registry.published()
        redirects.forEach { _, entry in #expect(state.segments[entry.segment] != nil) }
        // Some have moved with what was alive beside them.
        let sides = Set(state.segments.sides.map(\.segment.number))
        #expect(redirects.entries.values.contains { sides.contains($0.segment) })
        // Nothing is left to be done: what is in force is alive.
        let written = try store.compact()
        #expect(written.retiredSegments == 0 || written.bytesWritten < 20_000)
        try store.close()
        try airports.look(on: disk)
    }

    @Test("A checkpoint has them, with whatever else it has, and the log gives the same")
    func checkpoints() throws {
        for (hasMetadata, hasHistory) in [(false, false), (true, false), (true, true)] {
            let disk = MemoryFileSystem()
            var options = CompactionTests.options(on: disk)
            options.persistentHistoryTracking = hasHistory
            let store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
            var airports = FoldedAirports()
            try airports.make(Self.codes(0..<30), in: store)
            try airports.fold([("A1", "A0"), ("A2", "A3")], in: store)
            if hasMetadata {
                try store.setMetadata(["a": .integer(1)])
                try store.writeMetadata()
            }
            try store.engine.takeCheckpoint()
            try airports.fold([("A3", "A4"), ("A5", "A6")], in: store)
            try store.close()
            let again = try CompactionTests.open(disk)
            #expect(again.engine.recovery.checkpoint != nil)
            try airports.look(again, "\(hasMetadata) \(hasHistory)")
            #expect(try again.metadata().values.isEmpty == !hasMetadata)
            try again.engine.takeCheckpoint()
            try again.close()
            // The files: what checkpoint and log give is compared.
            try airports.look(on: disk, "\(hasMetadata) \(hasHistory)")
        }
    }

    @Test("Backups, followers and salvage have them")
    func copies() throws {
        let disk = MemoryFileSystem()
        var (store, airports) = try Self.made(30, on: disk)
        let follower = try LogStore.open(
            at: "/store", options: FollowingStores.reading(disk, follows: true))
        try airports.fold([("A1", "A0"), ("A2", "A0")], in: store)
        try airports.fold([("A0", "A5")], in: store)
        try store.synchronize()
        try follower.refresh()
        try airports.look(follower)
        try follower.close()
        let backup = MemoryFileSystem()
        _ = try store.backup(to: "/store", on: backup)
        try airports.look(on: backup)
        try store.close()
        var image = try DiskImage(of: disk)
        // A value in a block: the store does not open any more.
        let name = try #require(image.segments.first)
        let at = try #require(image.files[name]!.firstRange(of: Array("A22".utf8))?.lowerBound)
        image.files[name]![at] ^= 0x20
        let broken = try image.disk()
        var salvage = SalvageOptions()
        salvage.store = CompactionTests.options(on: broken)
        salvage.keepsIdentifier = true
        _ = try LogStore.salvage(at: "/store", to: "/salvaged", options: salvage)
        let salvaged = try LogStore.open(at: "/salvaged", options: salvage.store)
        #expect(try salvaged.check().findings.isEmpty)
        let last = try #require(airports.alive["A5"])
        if try salvaged.snapshot().rows([last])[0] != nil {
            for id in airports.gone {
                #expect(try salvaged.snapshot().redirectedObjectID(for: id) == last)
            }
        }
        #expect(salvaged.redirectCount == 3)
        try salvaged.close()
    }

    @Test("The history says to whom deleted objects were led")
    func history() throws {
        let disk = MemoryFileSystem()
        var options = CompactionTests.options(on: disk)
        options.persistentHistoryTracking = true
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        var airports = FoldedAirports()
        try airports.make(Self.codes(0..<30), in: store)
        try airports.fold([("A1", "A0"), ("A2", "A0"), ("A9", "A8")], in: store)
        try airports.delete(["A20"], in: store)
        for isCompacted in [false, true] {
            if isCompacted {
                try store.engine.rollSegment()
                _ = try store.compact()
            }
            let transactions = try store.execute(.fetchHistory(after: nil)).transactions
            let changes = transactions.flatMap { $0.changes ?? [] }.filter {
                $0.changeType == .delete
            }
            #expect(changes.count == 4)
            for change in changes {
                #expect(change.redirectedObjectID == airports.led[change.changedObjectID])
            }
            // Asked for one of them alone.
            var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
            request.changedObjectIDs = [airports.gone[1]]
            request.changeTypes = [.delete]
            let one = try store.execute(request).transactions.flatMap { $0.changes ?? [] }
            #expect(one.map(\.redirectedObjectID) == [airports.led[airports.gone[1]]])
        }
        #expect(try store.check().findings.isEmpty)
        try store.close()
        try airports.look(on: disk)
    }

    @Test("Everything at random")
    func random() throws {
        var random = RandomSource()
        func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        for round in 0..<Campaign.count(4, whole: 800) {
            let disk = MemoryFileSystem()
            var store = try CompactionTests.open(disk)
            var airports = FoldedAirports()
            var next = 0
            for step in 0..<60 {
                let what = "seed \(random.seed), round \(round), step \(step)"
                let codes = airports.alive.keys.sorted()
                switch below(12) {
                case 0...2:
                    let count = below(30) + 1
                    try airports.make(Self.codes(next..<next + count), in: store)
                    next += count
                case 3...6 where codes.count > 2:
                    var left = codes.shuffled(using: &random)
                    var pairs: [(loser: String, winner: String)] = []
                    for _ in 0...below(min(8, left.count - 1)) where left.count > 1 {
                        // The other may be a loser of the same save, later on.
                        let loser = left.removeFirst()
                        pairs.append((loser, left[below(left.count)]))
                    }
                    try airports.fold(pairs, in: store)
                case 7 where !codes.isEmpty:
                    try airports.delete([codes[below(codes.count)]], in: store)
                case 8 where !airports.gone.isEmpty:
                    let id = airports.gone[below(airports.gone.count)]
                    try airports.revive(id, "R\(step)", in: store)
                case 9: _ = try store.compact()
                case 10:
                    if random.oneIn(2) { try store.engine.takeCheckpoint() }
                    if random.oneIn(2) { try store.engine.rollSegment() }
                default:
                    try store.close()
                    store = try CompactionTests.open(disk)
                }
                if random.oneIn(4) { try airports.look(store, what) }
            }
            let what = "seed \(random.seed), round \(round)"
            try airports.look(store, what)
            try store.close()
            try airports.look(on: disk, what)
        }
    }
}
