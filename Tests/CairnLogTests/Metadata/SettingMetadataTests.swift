// Metadata that are set while others save, copy and fail; and values that cannot be kept.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Setting metadata beside others")
struct SettingMetadataTests {
    private final class Flag: Sendable {
        let isUp = Atomic(false)
    }

    private static func open(_ disk: any FileSystem) throws -> LogStore {
        try LogStore.open(
            at: "/store", schema: try SampleStore.schema(),
            options: CompactionTests.options(on: disk))
    }

    @Test("What was set last is never lost, and never replaced by what was set before")
    func lastOneWins() async throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        let flag = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<3 {
                group.addTask {
                    // Those who save need not know of metadata.
                    for number in 0... {
                        if flag.isUp.load(ordering: .acquiring) { return }
                        let id = try StagedStores.newID(store)
                        let request = try StagedStores.request([
                            (code: "\(task)-\(number)", id: id, plan: .null)
                        ])
                        _ = try store.save(request)
                        // There may be no more threads than these tasks.
                        await Task.yield()
                    }
                }
            }
            for number in 1...300 as ClosedRange<Int64> {
                try store.setMetadata(["n": .integer(number)])
                #expect(try store.metadata()["n"] == .integer(number))
                if number % 3 == 0 { await Task.yield() }
                if number % 2 == 0 {
                    try store.writeMetadata()
                    let stored = store.engine.registry.read { $0.catalog.metadata }
                    #expect(stored?.values["n"] == .integer(number))
                    #expect(try store.metadata()["n"] == .integer(number))
                }
            }
            flag.isUp.store(true, ordering: .releasing)
            try await group.waitForAll()
        }
        #expect(!store.hasMetadataToWrite)
        try store.close()
        let again = try Self.open(disk)
        #expect(try again.metadata()["n"] == .integer(300))
        #expect(try again.check().findings.isEmpty)
        try again.close()
    }

    @Test("A copy has the metadata of the moment that it is a copy of")
    func copying() throws {
        let store = try Self.open(MemoryFileSystem())
        try SampleStore.firstObjects(store)
        try store.setMetadata(["page": .integer(6)])
        try store.writeMetadata()
        // One that waits is not a part of the store yet.
        try store.setMetadata(["page": .integer(7)])
        let text = try SampleStore.text(store)
        let disk = MemoryFileSystem()
        let faulty = FaultInjectingFileSystem(over: disk)
        let gate = faulty.hold(.write, number: 3)
        // A thread of its own: all those of tasks may be waiting for something just now.
        let copied = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Thread.detachNewThread {
            do {
                try store.copy(to: "/store", on: faulty)
            } catch {
                failure.withLock { $0 = error }
            }
            copied.signal()
        }
        gate.waitUntilReached()
        for round in 0..<2 { try CompactionTests.update(store, 0..<20, round) }
        try store.writeMetadata()
        gate.open()
        copied.wait(for: "the copy")
        if let error = failure.withLock({ $0 }) { throw error }
        #expect(try store.metadata()["page"] == .integer(7))
        let copy = try Self.open(disk)
        #expect(try copy.metadata().values == ["page": .integer(6)])
        #expect(try SampleStore.text(copy) == text)
        try copy.close()
        try store.close()
    }

    @Test("What could not be read again is refused, and the store opens as before")
    func unreadable() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try store.setMetadata(["a": .integer(1)])
        let error = #expect(throws: StoreError.self) {
            try store.setMetadata(["a": .integer(2), "b": .decimal(.nan)])
        }
        #expect(error?.code == .invalidRequest && error?.context.key == "b")
        try store.writeMetadata()
        #expect(try store.metadata().values == ["a": .integer(1)])
        try store.close()
        let again = try Self.open(disk)
        #expect(try again.metadata().values == ["a": .integer(1)])
        try again.close()
    }

    @Test("Values that leave no room for the identifier of before are refused")
    func room() throws {
        let store = try Self.open(MemoryFileSystem())
        try store.setMetadata([:], identifier: UUID())
        try store.writeMetadata()
        var refused = 0
        for size in stride(from: 0, to: 60, by: 10) {
            let count = (16 << 20) - MetadataPayload.ownDocument - 130 + size
            do throws(StoreError) {
                try store.setMetadata(["a": .string(String(repeating: "x", count: count))])
            } catch {
                #expect(error.code == .invalidRequest)
                refused += 1
            }
        }
        // The longest that was not refused is one that can be written.
        try store.writeMetadata()
        #expect(refused > 0 && refused < 6)
        try store.close()
    }

    @Test("What a file's metadata were refused for does not wait in the store that is open")
    func refusedBeside() throws {
        let disk = MemoryFileSystem()
        let faulty = FaultInjectingFileSystem(over: disk)
        let store = try Self.open(faulty)
        try store.setMetadata(["a": .integer(1)])
        faulty.fail(.write, of: ".segment", with: .noSpace, repeats: true)
        #expect(throws: StoreError.self) {
            try LogStore.setMetadata(["a": .integer(2)], forStoreAt: "/store", on: faulty)
        }
        faulty.clearFaults()
        #expect(try store.metadata()["a"] == .integer(1))
        try store.writeMetadata()
        #expect(try store.metadata()["a"] == .integer(1))
        try store.close()
    }
}
