// Backups that break off at any call, by the end of the process or of the power.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Backups that are interrupted")
struct InterruptedBackupTests {
    /// A store, and what happens to it between its first backup and the second.
    private enum Change: CaseIterable {
        case few, manySegments, compacted
    }

    private static func source(_ change: Change) throws -> LogStore {
        let store = try BackupTests.writer(
            MemoryFileSystem(), segmentBytes: change == .few ? 1 << 30 : 16 << 10)
        if change == .compacted {
            try CompactionTests.fill(store, rounds: 2)
        } else {
            try CompactionTests.update(store, 0..<30, 0)
        }
        return store
    }

    private static func make(_ change: Change, on store: LogStore) throws {
        switch change {
        case .few:
            try CompactionTests.update(store, 0..<20, 1)
            try SampleStore.largeValue(store)
            try CompactionTests.update(store, 5..<30, 2)
        case .manySegments: try CompactionTests.fill(store, rounds: 1)
        case .compacted:
            try CompactionTests.update(store, 0..<150, 9)
            _ = try store.compact()
            try CompactionTests.update(store, 0..<4, 10)
        }
    }

    /// Looks at what an interruption left: it opens as one of some texts, to read and to write, and the backup can
    /// be made once more.
    private static func look(
        _ image: DiskImage?, _ store: LogStore, allowed: [String], canBeNothing: Bool,
        _ what: String
    ) throws {
        let expected = try SampleStore.text(store)
        func disk() throws -> MemoryFileSystem { try image?.disk() ?? MemoryFileSystem() }
        for isReadOnly in [true, false] {
            let disk = try disk()
            var options = FollowingStores.reading(disk)
            options.isReadOnly = isReadOnly
            options.createsIfMissing = false
            do {
                let copy = try LogStore.open(at: "/store", options: options)
                let text = try SampleStore.text(copy)
                #expect(allowed.contains(text), "\(what): neither the old nor the new one")
                #expect(try copy.check().findings.isEmpty, "\(what)")
                if !isReadOnly {
                    // It is a store like any other, and stays one.
                    try CompactionTests.update(copy, 0..<3, 1)
                    let changed = try SampleStore.text(copy)
                    FollowingStores.abandon(copy)
                    #expect(try BackupTests.text(disk) == changed, "\(what)")
                } else {
                    try copy.close()
                    let audit = try LogStore.check(at: "/store", depth: .all, options: options)
                    #expect(audit.findings.isEmpty, "\(what)")
                }
            } catch let error as StoreError {
                #expect(canBeNothing && error.code == .openFailed, "\(what): \(error)")
            }
        }
        let disk = try disk()
        _ = try store.backup(to: "/store", on: disk)
        #expect(try BackupTests.text(disk) == expected, "\(what)")
        #expect(
            try DiskImage(of: disk).segments.count
                == store.engine.registry.published().segments.all.count, "\(what)")
    }

    @Test("The process ends at any call: no backup, the old one, or the new one")
    func processEnds() throws {
        var random = RandomSource()
        let step = Campaign.step(10)
        for change in Change.allCases {
            let store = try Self.source(change)
            let before = try SampleStore.text(store)
            let base = MemoryFileSystem()
            var image: DiskImage?
            for isFirst in [true, false] {
                if !isFirst {
                    _ = try store.backup(to: "/store", on: base)
                    image = try DiskImage(of: base)
                    try Self.make(change, on: store)
                }
                let after = try SampleStore.text(store)
                var number = Int.random(in: 1...step, using: &random)
                while true {
                    let disk = try image?.disk() ?? MemoryFileSystem()
                    let faulty = FaultInjectingFileSystem(over: disk)
                    faulty.crash(atMutation: number, afterWriting: number % 3 * 50)
                    let result = try? store.backup(to: "/store", on: faulty)
                    try Self.look(
                        try DiskImage(of: disk), store,
                        allowed: isFirst ? [after] : [before, after], canBeNothing: isFirst,
                        "\(change), first: \(isFirst), call \(number)")
                    if result != nil { break }
                    number += step
                }
                #expect(number > 5)
            }
            try store.close()
        }
    }

    @Test("The power fails at any call: no backup, the old one, or the new one")
    func powerFails() throws {
        var random = RandomSource()
        for change in Change.allCases {
            let store = try Self.source(change)
            let before = try SampleStore.text(store)
            let disk = PowerLossDisk()
            _ = try store.backup(to: "/store", on: disk)
            let first = disk.changeCount
            for count in Campaign.sample(Array(0..<first), oneIn: 7, using: &random) + [first] {
                for _ in 0..<Campaign.count(1, whole: 200) {
                    try Self.look(
                        disk.image(after: count, &random), store, allowed: [before],
                        canBeNothing: count < first,
                        "\(change), first, change \(count), seed \(random.seed)")
                }
            }
            try Self.make(change, on: store)
            let after = try SampleStore.text(store)
            _ = try store.backup(to: "/store", on: disk)
            let last = disk.changeCount
            for count in Campaign.sample(Array(first..<last), oneIn: 7, using: &random) + [last] {
                for _ in 0..<Campaign.count(1, whole: 200) {
                    try Self.look(
                        disk.image(after: count, &random), store,
                        allowed: count == last ? [after] : [before, after],
                        canBeNothing: false,
                        "\(change), second, change \(count), seed \(random.seed)")
                }
            }
            try store.close()
        }
    }

    @Test("What one of a later state has left behind the end of a segment is cut off")
    func laterState() throws {
        let store = try Self.source(.few)
        let disk = MemoryFileSystem()
        _ = try store.backup(to: "/store", on: disk)
        let name = try #require(try DiskImage(of: disk).segments.last)
        try Self.make(.few, on: store)
        let (pin, text) = (store.engine.registry.pin(), try SampleStore.text(store))
        try Self.make(.few, on: store)
        let faulty = FaultInjectingFileSystem(over: disk)
        faulty.fail(.synchronize, of: name, with: .noSpace)
        #expect(throws: StoreError.self) { try store.backup(to: "/store", on: faulty) }
        let end = Int(pin.state.end.offset)
        #expect(try #require(DiskImage(of: disk).files[name]).count > end)
        _ = try StoreBackup(
            engine: store.engine, state: pin.state, folder: "/store", fileSystem: disk
        ).run()
        #expect(try #require(DiskImage(of: disk).files[name]).count == end)
        #expect(try BackupTests.text(disk) == text)
        try store.close()
    }

    @Test("A call fails: the error is told, and the backup that was there stays")
    func callFails() throws {
        let store = try Self.source(.manySegments)
        let base = MemoryFileSystem()
        let before = try SampleStore.text(store)
        _ = try store.backup(to: "/store", on: base)
        let image = try DiskImage(of: base)
        try Self.make(.manySegments, on: store)
        let after = try SampleStore.text(store)
        for operation in [
            FileSystemError.Operation.open, .read, .write, .synchronize, .syncDirectory, .truncate,
            .unlink, .list, .size, .lock, .identify,
        ] {
            var number = 1
            while true {
                let disk = try image.disk()
                let faulty = FaultInjectingFileSystem(over: disk)
                faulty.fail(operation, number: number, with: .noSpace)
                let result = try? store.backup(to: "/store", on: faulty)
                // A second time, with room.
                let text = try BackupTests.text(disk)
                #expect(text == before || text == after, "\(operation) \(number)")
                if result != nil { #expect(text == after) }
                _ = try store.backup(to: "/store", on: disk)
                #expect(try BackupTests.text(disk) == after)
                if result != nil, faulty.count(operation) < number { break }
                number += 1
            }
        }
        try store.close()
    }
}
