// Metadata that are being written when the process ends or the power fails: they come with the objects of their save, or
// not at all.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Metadata that are interrupted")
struct InterruptedMetadataTests {
    private static let first: [String: Value] = ["token": .string("first")]
    private static let second: [String: Value] = ["token": .string("second"), "n": .integer(2)]

    /// A store without metadata, or with some from a checkpoint on.
    private static func start(hasSome: Bool) throws -> DiskImage {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try SampleStore.manyRows(store)
        if hasSome {
            try store.setMetadata(first)
            try store.writeMetadata()
            try store.engine.takeCheckpoint()
        }
        try store.close()
        return try DiskImage(of: disk)
    }

    /// Objects and metadata in one save, then metadata alone, compacted.
    private static func change(_ store: LogStore) throws {
        try store.setMetadata(second)
        try SampleStore.firstObjects(store)
        for round in 0..<3 { try CompactionTests.update(store, 0..<60, round) }
        _ = try store.compact()
    }

    /// What is left is whole, has the metadata if it has the objects, and can be gone on with.
    private static func look(_ image: DiskImage, hasSome: Bool, isDone: Bool, _ what: String) throws
    {
        let before = hasSome ? first : [:]
        let disk = try image.disk()
        for _ in 0..<2 {
            let store = try CompactionTests.open(disk)
            #expect(try store.check().findings.isEmpty, "\(what)")
            let hasObjects = try SampleStore.text(store).contains("LOWW")
            let found = try store.metadata().values
            #expect(found == (hasObjects ? second : before), "\(what)")
            #expect(!isDone || hasObjects, "\(what)")
            try store.close()
        }
        try LogStore.setMetadata(["later": .boolean(true)], forStoreAt: "/store", on: disk)
        #expect(
            try LogStore.metadata(forStoreAt: "/store", on: disk).values == [
                "later": .boolean(true)
            ],
            "\(what)")
    }

    @Test("The process ends at any call", arguments: [true, false])
    func processEnds(hasSome: Bool) throws {
        let image = try Self.start(hasSome: hasSome)
        var random = RandomSource()
        let calls = try Interruption.ofProcess(oneIn: 4, using: &random) { number, what in
            let disk = try image.disk()
            let faulty = FaultInjectingFileSystem(over: disk)
            faulty.crash(atMutation: number, afterWriting: number % 3 * 50)
            var isDone = false
            if let store = try? CompactionTests.open(faulty) {
                isDone = (try? Self.change(store)) != nil
                FollowingStores.abandon(store)
            }
            try Self.look(
                try DiskImage(of: disk), hasSome: hasSome, isDone: isDone, what)
            return isDone
        }
        #expect(calls > 10)
    }

    @Test("The power fails at any call", arguments: [true, false])
    func powerFails(hasSome: Bool) throws {
        var random = RandomSource()
        let disk = PowerLossDisk()
        let store = try CompactionTests.open(disk)
        try SampleStore.manyRows(store)
        if hasSome {
            try store.setMetadata(Self.first)
            try store.writeMetadata()
            try store.engine.takeCheckpoint()
        }
        let start = disk.changeCount
        try Self.change(store)
        try Interruption.ofPower(
            disk, after: start, oneIn: 3, images: (1, 100), using: &random
        ) { image, isDone, what in
            try Self.look(try #require(image), hasSome: hasSome, isDone: isDone, what)
        }
        try store.close()
    }

    @Test("A call fails: the save fails and leaves them waiting, or it is done")
    func callFails() throws {
        let image = try Self.start(hasSome: false)
        for operation in [FileSystemError.Operation.open, .write, .synchronize, .syncDirectory] {
            var number = 1
            while true {
                let disk = try image.disk()
                let faulty = FaultInjectingFileSystem(over: disk)
                let store = try CompactionTests.open(faulty)
                try store.setMetadata(Self.second)
                let before = faulty.count(operation)
                faulty.fail(operation, number: before + number, with: .noSpace)
                let isSaved = (try? SampleStore.firstObjects(store)) != nil
                #expect(try store.metadata().values == Self.second)
                let isOver = faulty.count(operation) < before + number
                faulty.clearFaults()
                // With room: unless nothing is known of the disk any more.
                if !isSaved { _ = try? SampleStore.firstObjects(store) }
                try? store.close()
                let left = try CompactionTests.open(disk)
                let hasObjects = try SampleStore.text(left).contains("LOWW")
                #expect(try left.metadata().values == (hasObjects ? Self.second : [:]))
                try left.close()
                if isOver { break }
                number += 1
            }
        }
    }
}
