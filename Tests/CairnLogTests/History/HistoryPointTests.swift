// Points of the history that are not what they seem: still to come, of another course of it, or of nobody.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Points of the history")
struct HistoryPointTests {
    private static func open(
        _ disk: any FileSystem, tracks: Bool? = true, clock: ManualClock = ManualClock(800_000_000)
    ) throws -> LogStore {
        var options = HistoryTests.options(on: disk, tracks: tracks)
        options.clock = clock
        return try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
    }

    // MARK: Still to come

    @Test(
        "Who deletes up to a commit that is still to come deletes what there is, and nothing of what comes",
        arguments: [0, 1000, UInt64.max - 1_000_000], [true, false])
    func beyond(_ ahead: UInt64, _ isRegistered: Bool) throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(disk)
        try SampleStore.firstObjects(store)
        try SampleStore.manyRows(store)
        let last = try #require(try store.historyBounds()).last
        if isRegistered {
            try store.setHistoryConsumer("search", seen: last, mustExist: false)
        }
        #expect(try store.deleteHistory(through: last + ahead) == 2)
        let bounds = try #require(try store.historyBounds())
        #expect(bounds.horizon <= bounds.last && bounds.horizon >= last)
        for round in 0..<2 {
            try CompactionTests.update(store, 0..<3, round)
            try store.close()
            store = try Self.open(disk)
        }
        #expect(try HistoryText.lines(store).count == 2)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("No consumer has seen a commit that is still to come, and none is registered by the way")
    func unseen() throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(disk)
        try SampleStore.firstObjects(store)
        let last = try #require(try store.historyBounds()).last
        for number in [last + 1, last + 2, 1 << 62, .max] {
            for name in ["search", "other"] {
                #expect(
                    storeErrorCode {
                        try store.setHistoryConsumer(name, seen: number, mustExist: false)
                    } == .invalidRequest)
            }
            try store.registerHistoryConsumer("search")
        }
        // Somebody has removed it meanwhile.
        #expect(
            storeErrorCode { try store.setHistoryConsumer("gone", seen: 1, mustExist: true) }
                == .invalidRequest)
        #expect(try store.historyConsumerNumbers().keys.sorted() == ["search"])
        try store.close()
        store = try Self.open(disk)
        #expect(try store.historyConsumerNumbers().keys.sorted() == ["search"])
        try store.close()
    }

    @Test(
        "A check finds a history that is purged, or was seen, beyond its commits (F-778)",
        arguments: ["horizon", "search"])
    func checked(_ key: String) throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        for step in SampleStore.steps.prefix(3) { try step(store) }
        try store.setHistoryConsumer("search", seen: 2, mustExist: false)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        var image = try DiskImage(of: disk)
        var sealed = try SealedStore(image, image.segments)
        let index = try #require(sealed.frames.lastIndex { $0.header.kind == .metadata })
        let text = String(decoding: sealed.frames[index].payload[8...], as: UTF8.self)
        let changed = text.replacing("\"\(key)\":2", with: "\"\(key)\":9")
        try #require(text != changed)
        sealed.frames[index].payload.replaceSubrange(8..., with: changed.utf8)
        sealed.frames[index].isChanged = true
        image.files.merge(try sealed.sealed()) { $1 }
        image.files["lock"] = []
        let other = try Self.open(try image.disk(), tracks: nil)
        #expect(try other.check().findings.contains { $0.description.contains("F-778") })
        try other.close()
    }

    @Test("What is asked of a history that a store does not keep leaves its files as they are")
    func untouched() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk, tracks: nil)
        try SampleStore.firstObjects(store)
        let before = try DiskImage(of: disk)
        #expect(storeErrorCode { try store.removeHistoryConsumer("a") } == .invalidRequest)
        #expect(
            storeErrorCode { try store.setHistoryConsumer("a", seen: 1, mustExist: false) }
                == .invalidRequest)
        #expect(storeErrorCode { _ = try store.deleteHistory(through: 1) } == .invalidRequest)
        #expect(
            storeErrorCode { _ = try store.historyTransaction(before: Date()) } == .invalidRequest)
        #expect(try DiskImage(of: disk) == before)
        // Not even the next commit says that there may be one.
        try SampleStore.manyRows(store)
        let image = try DiskImage(of: disk)
        #expect(image.segments == before.segments)
        #expect(image.files[image.segments.last!]![72] & 4 == 0)
        try store.close()
    }

    // MARK: Another course

    /// A token of a course that a store has left: of its state after two commits was a copy, which took the place of the
    /// store after three more. `later` commits have followed since.
    private static func replaced(later: Int) throws -> (
        store: LogStore, token: PersistentHistoryToken, kept: PersistentHistoryToken
    ) {
        let (disk, clock) = (MemoryFileSystem(), ManualClock(800_000_000))
        var store = try open(disk, clock: clock)
        try SampleStore.firstObjects(store)
        try SampleStore.manyRows(store)
        let kept = try #require(try store.currentHistoryToken())
        try store.close()
        let copy = try DiskImage(of: disk)
        store = try open(disk, clock: clock)
        for round in 0..<3 {
            clock.advance(by: 0.001)
            try CompactionTests.update(store, 0..<9, round)
        }
        let token = try #require(try store.currentHistoryToken())
        #expect(try store.execute(.fetchHistory(after: token)).transactions.isEmpty)
        #expect(try store.execute(.fetchHistory(after: nil)).transactions.last?.token == token)
        try store.close()
        store = try open(try copy.disk(), clock: clock)
        for round in 0..<later {
            clock.advance(by: 0.001)
            try CompactionTests.update(store, 0..<9, 100 + round)
        }
        // As it is kept in a file.
        let json = try JSONEncoder().encode(token)
        return (store, try JSONDecoder().decode(PersistentHistoryToken.self, from: json), kept)
    }

    @Test(
        "A token of a course that the store has left has expired, however far it has gone on",
        arguments: [0, 1, 3, 4, 20])
    func replaced(_ later: Int) throws {
        let (store, token, kept) = try Self.replaced(later: later)
        #expect(
            storeErrorCode { _ = try store.fetchHistory(.fetchHistory(after: token)) }
                == .historyTokenExpired)
        try store.registerHistoryConsumer("search")
        #expect(storeErrorCode { try store.advance("search", to: token) } == .historyTokenExpired)
        if later > 3 {
            #expect(
                storeErrorCode { try store.execute(.deleteHistory(before: token)) }
                    == .historyTokenExpired)
        }
        // What it had before is still its own, wherever compaction has put it.
        for _ in 0..<2 {
            #expect(try store.execute(.fetchHistory(after: kept)).transactions.count == later)
            _ = try store.compact()
        }
        try store.advance("search", to: kept)
        try store.close()
    }

    @Test("So it has where the store has a commit of that number that changed no object")
    func replacedByMetadata() throws {
        let (store, token, _) = try Self.replaced(later: 2)
        let number = try #require(token.numbers[store.identity.identifier])
        var round = 0
        while try #require(try store.historyBounds()).last < number {
            try store.setMetadata(["round": .integer(Int64(round))])
            try store.writeMetadata()
            round += 1
        }
        #expect(round > 0)
        #expect(
            storeErrorCode { _ = try store.fetchHistory(.fetchHistory(after: token)) }
                == .historyTokenExpired)
        try store.close()
    }

    @Test("Of a transaction that was deleted it is not asked when it was")
    func deleted() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        for step in SampleStore.steps.prefix(4) { try step(store) }
        let all = try store.execute(.fetchHistory(after: nil)).transactions
        _ = try store.deleteHistory(through: all[1].transactionNumber)
        #expect(try store.execute(.fetchHistory(after: all[1].token)).transactions.count == 2)
        #expect(
            storeErrorCode { _ = try store.fetchHistory(.fetchHistory(after: all[0].token)) }
                == .historyTokenExpired)
        // Nobody goes back, so nothing is lost by a consumer that is late.
        try store.registerHistoryConsumer("search")
        try store.advance("search", to: all[0].token)
        #expect(
            try store.historyConsumerNumbers() == ["search": all[1].transactionNumber])
        try store.close()
    }

    @Test("Tokens of the same point are equal, and the one that says more is kept")
    func merging() throws {
        let (one, two) = (UUID(), UUID())
        let marked = PersistentHistoryToken(
            store: one, number: 7, mark: .init(transaction: 6, time: -0.5))
        let plain = PersistentHistoryToken(store: one, number: 7)
        #expect(marked == plain && marked.hashValue == plain.hashValue)
        #expect(marked.merging(plain).marks == marked.marks)
        #expect(plain.merging(marked).marks == marked.marks)
        let later = PersistentHistoryToken(store: one, number: 8)
        #expect(marked.merging(later).marks.isEmpty && later.merging(marked).marks.isEmpty)
        let both = marked.merging(PersistentHistoryToken(store: two, number: 3))
        let kept = try JSONDecoder().decode(
            PersistentHistoryToken.self, from: try JSONEncoder().encode(both))
        #expect(kept == both && kept.marks == both.marks)
        for text in ["[7,8,0]", "[7,0,0]", "[7,7]", "[]", "\"7\"", "[4611686018427387904,1,1]"] {
            #expect(throws: DecodingError.self) {
                _ = try JSONDecoder().decode(
                    PersistentHistoryToken.self, from: Data("{\"\(one.uuidString)\":\(text)}".utf8))
            }
        }
    }

    // MARK: Moments

    @Test("What was written before a moment goes, whatever a clock that was wrong has said")
    func moments() throws {
        let clock = ManualClock(800_000_000)
        let store = try Self.open(MemoryFileSystem(), clock: clock)
        for (round, time) in [800_000_010, 900_000_000, 800_000_020, 800_000_030.0].enumerated() {
            clock.set(time)
            try CompactionTests.update(store, 0..<3, round)
        }
        func delete(before time: Double) throws -> Int {
            try store.execute(
                .deleteHistory(before: Date(timeIntervalSinceReferenceDate: time))
            ).deletedTransactionCount
        }
        #expect(try delete(before: 800_000_010) == 0)
        #expect(try delete(before: 800_000_011) == 1)
        // The one from the future was written before one that goes.
        #expect(try delete(before: 800_000_025) == 2)
        #expect(try delete(before: 800_000_030) == 0)
        #expect(try delete(before: 800_000_031) == 1)
        #expect(try HistoryText.lines(store).isEmpty)
        try store.close()
    }

    @Test(
        "The last commit with changes up to another one is found, and all that is dropped is gone")
    func index() {
        var random = RandomSource()
        for _ in 0..<60 {
            let pool = PagePool()
            var pages = PageTransaction(epoch: 1, pool: pool)
            let origin = UInt64.random(in: 0...3000, using: &random)
            var index = HistoryIndex(behind: origin)
            var known: [UInt64] = []
            var commit = origin
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                commit += UInt64.random(in: 1...(random.oneIn(2) ? 3 : 900), using: &random)
                let frame = HistoryFrame(
                    place: Place(segment: 1, byteOffset: 8 * known.count + 8), length: 8)
                #expect(index.set(commit, frame, in: &pages))
                known.append(commit)
            }
            for _ in 0..<20 {
                let asked = UInt64.random(in: 0...commit + 5, using: &random)
                #expect(index.last(through: asked)?.commit == known.last { $0 <= asked })
            }
            var horizon = origin
            while !known.isEmpty {
                horizon += UInt64.random(in: 0...commit - origin + 1, using: &random)
                let gone = known.count { $0 <= horizon }
                #expect(index.drop(through: horizon, in: &pages) == gone)
                known.removeFirst(gone)
                #expect(index.changes.keys.sorted() == known)
                #expect(index.count == known.count && index.bytes == UInt64(8 * known.count))
                #expect(index.last(through: commit)?.commit == known.last)
            }
            #expect(index.drop(through: horizon, in: &pages) == 0)
            pages.abandon()
        }
    }
}
