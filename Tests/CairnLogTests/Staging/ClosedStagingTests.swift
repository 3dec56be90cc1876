// Values that wait for a save when their store is closed.

import CairnFileSystem
import CairnModel
import CairnMoving
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Staged values of a store that is closed")
struct ClosedStagingTests {
    /// A store with a value in a side segment, and another one behind it that waits.
    private func waiting(_ disk: MemoryFileSystem) throws -> (LogStore, StagedValue, Data) {
        let store = try CompactionTests.open(disk)
        let first = try StagedStores.newID(store)
        try StagedStores.save(
            store,
            [("A", first, try StagedStores.stage(store, patternedBytes(5000), for: first))])
        let value = patternedBytes(1_500_000, seed: 1)
        let staged = try StagedStores.stage(store, value, for: StagedStores.newID(store))
        // Behind each other in one segment.
        #expect(try StagedStores.sides(disk).count == 1)
        return (store, staged, value)
    }

    @Test("Its bytes are cut off, unless they may be saved to a copy", arguments: [false, true])
    func closed(isKept: Bool) throws {
        let disk = MemoryFileSystem()
        let (store, staged, value) = try waiting(disk)
        let before = try #require(try StagedStores.sides(disk).values.first)
        if isKept { store.keepStagedValues() }
        try store.close()
        let after = try #require(try StagedStores.sides(disk).values.first)
        if isKept {
            #expect(after == before)
            #expect(try staged.data() == value)
        } else {
            #expect(after < before - 1_000_000)
            #expect(throws: StoreError.self) { try staged.data() }
        }
        // What is kept means nothing to those who open the store.
        let again = try CompactionTests.open(disk)
        #expect(again.recovery.wasClosed)
        #expect(try StagedStores.sides(disk).values.allSatisfy { $0 < before - 1_000_000 })
        #expect(try again.check().findings.isEmpty)
        #expect(try again.snapshot().count(StoreFetch(entity: StagedStores.airport)) == 1)
        try again.close()
    }

    @Test("A value that is being written is over, and touches the files no more")
    func writing() throws {
        let disk = MemoryFileSystem()
        let (store, staged, _) = try waiting(disk)
        let id = try StagedStores.newID(store)
        let writer = try #require(
            try store.beginValue(
                column: try StagedStores.column("plan"), of: id, entity: StagedStores.airport))
        try StagedStores.write(patternedBytes(1_500_000, seed: 2), to: writer, chunk: 300_000)
        try store.close()
        // The folder is somebody else's now.
        let other = try CompactionTests.open(disk)
        let sides = try StagedStores.sides(disk)
        let error = #expect(throws: StoreError.self) {
            try StagedStores.write(patternedBytes(1_500_000, seed: 2), to: writer, chunk: 300_000)
        }
        #expect(error?.code == .unusable)
        #expect(throws: StoreError.self) { try writer.finish() }
        writer.abandon()
        withExtendedLifetime(staged) {}
        #expect(try StagedStores.sides(disk) == sides)
        #expect(try other.check().findings.isEmpty)
        try other.close()
    }
}
