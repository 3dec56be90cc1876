// Checkpoints with right checksums that say what is not so: nothing traps, nothing is made of them.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Checkpoints that lie")
struct LyingCheckpointTests {
    /// The files of a store in several segments that is opened from a checkpoint, the checkpoint's name, and the
    /// store's content.
    private static func closed() throws -> (image: DiskImage, name: String, text: String) {
        let disk = MemoryFileSystem()
        let store = try CheckpointTests.open(disk, closing: 1, segmentBytes: 8000)
        for step in SampleStore.steps { try step(store) }
        let text = try SampleStore.text(store)
        try store.close()
        let image = try DiskImage(of: disk)
        let name = try #require(image.files.keys.first { $0.hasPrefix("checkpoint") })
        #expect(image.segments.count > 1)
        return (image, name, text)
    }

    /// A store with a checkpoint that was changed.
    private static func edited(_ body: (inout EditedCheckpoint) throws -> Void) throws -> (
        store: LogStore, text: String, disk: MemoryFileSystem
    ) {
        let (image, name, text) = try closed()
        var checkpoint = try EditedCheckpoint(try #require(image.files[name]))
        try body(&checkpoint)
        var changed = image
        changed.files[name] = checkpoint.bytes()
        let disk = try changed.disk()
        return (try CheckpointTests.open(disk), text, disk)
    }

    private static func expectPassedOver(_ body: (inout EditedCheckpoint) throws -> Void) throws {
        let (store, text, _) = try edited(body)
        #expect(store.recovery.checkpoint == nil)
        #expect(try SampleStore.text(store) == text)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    /// Asks for everything and changes everything. Errors are right, traps are not.
    private static func use(_ store: LogStore) throws {
        _ = try? SampleStore.text(store)
        _ = try? store.check()
        _ = try? store.statistics()
        let entity = try #require(store.schema.entity(named: "Airport")).index
        let hierarchy = store.identity.hierarchies[entity]
        let ids = (0..<120).map {
            ObjectID(
                store: store.identity.identifier, hierarchy: hierarchy, reference: UInt64($0))
        }
        for id in ids {
            _ = try? store.snapshot().rows([id])
            _ = try? store.snapshot().members(
                ofRelationship: 0, entity: entity, owners: [id])
        }
        for step in SampleStore.steps.dropFirst() { try? step(store) }
        for id in ids { _ = try? store.execute(BatchDeleteRequest(.ids([id], entity: entity))) }
        _ = try? store.compact()
        try? store.close()
    }

    @Test("What it was is what it is if nothing is changed")
    func unchanged() throws {
        let (store, text, _) = try Self.edited { _ in }
        #expect(store.recovery.checkpoint != nil)
        #expect(try SampleStore.text(store) == text)
        try store.close()
    }

    @Test("Positions that do not add up")
    func positions() throws {
        try Self.expectPassedOver { $0.header.endOffset = .max }
        try Self.expectPassedOver { $0.header.endOffset = .max - 7 }
        try Self.expectPassedOver { $0.header.commitOffset = .max }
        try Self.expectPassedOver { $0.header.commitOffset = .max - 7 }
        try Self.expectPassedOver { $0.header.lsn = .max }
        try Self.expectPassedOver { $0.header.lsn = 0 }
        try Self.expectPassedOver { $0.header.segment = 1 }
    }

    @Test("Members of the live set that are longer than their files")
    func ends() throws {
        for end in [1 << 20, FormatLimits.maximumLSN - 8] {
            try Self.expectPassedOver { $0.contents.live[0].end = end }
        }
    }

    @Test("Parts of which one is many: a small file does not stand for much memory")
    func manyInOne() throws {
        try Self.expectPassedOver { checkpoint in
            let unit = checkpoint.put([UInt8](repeating: 0, count: CheckpointUnit.maximumLength))
            let leaves = UInt32(CheckpointUnit.maximumLength / PageSize.large.bytes)
            let first = checkpoint.contents.trees[0].cells.last.map { $0.first + $0.count } ?? 0
            for index in 0..<500 {
                checkpoint.contents.trees[0].cells.append(
                    .init(first: first + UInt32(index) * leaves, count: leaves, unit: unit))
            }
        }
    }

    @Test("Blocks with more rows than they have, and objects in those")
    func moreRows() throws {
        let (store, _, _) = try Self.edited { checkpoint in
            var raw = try checkpoint.raw(checkpoint.contents.blocks[0])
            var offset = 0
            while offset < raw.count {
                let hasBitmap = raw[offset + 19] & 1 != 0
                if !hasBitmap {
                    // 1,024 rows, all of them alive.
                    raw.replaceSubrange(offset + 14..<offset + 18, with: [0, 4, 0, 4])
                }
                offset += CheckpointWriter.blockBytes + (hasBitmap ? PageSize.small.bytes : 0)
            }
            checkpoint.contents.blocks[0] = checkpoint.put(raw)
            try checkpoint.changeCells(0, 0) { cells in
                // Slots far behind the end of what is there.
                for index in cells.indices where cells[index] != 0 && index % 2 == 0 {
                    cells[index] |= 1000 << 22
                }
            }
        }
        try Self.use(store)
    }

    @Test("Objects in blocks of another entity")
    func otherEntity() throws {
        let (store, _, _) = try Self.edited { checkpoint in
            // The cells of each number space are those of the next one.
            let cells = checkpoint.contents.trees.map(\.cells)
            for index in cells.indices {
                checkpoint.contents.trees[index].cells = cells[(index + 1) % cells.count]
            }
        }
        try Self.use(store)
    }

    @Test("Two objects in one place")
    func onePlace() throws {
        let (store, _, _) = try Self.edited { checkpoint in
            for tree in checkpoint.contents.trees.indices {
                for part in checkpoint.contents.trees[tree].cells.indices {
                    try checkpoint.changeCells(tree, part) { cells in
                        var before: UInt64 = 0
                        for index in cells.indices where cells[index] != 0 {
                            if before != 0, index % 2 == 0 { cells[index] = before }
                            before = cells[index]
                        }
                    }
                }
            }
        }
        try Self.use(store)
    }

    @Test("Indexes and lists that do not know their rows: what is written of them fails")
    func emptyIndexes() throws {
        for isUnique in [true, false] {
            let (store, _, _) = try Self.edited { checkpoint in
                if isUnique {
                    for index in checkpoint.contents.uniques.indices {
                        checkpoint.contents.uniques[index].partitions = []
                    }
                } else {
                    for index in checkpoint.contents.inverses.indices {
                        checkpoint.contents.inverses[index].heads = []
                        checkpoint.contents.inverses[index].links = []
                    }
                }
            }
            if store.recovery.checkpoint != nil, isUnique {
                let entity = try #require(store.schema.entity(named: "Airport")).index
                let ids = try store.snapshot().fetch(StoreFetch(entity: entity)).ids
                let error = #expect(throws: StoreError.self) {
                    try store.execute(BatchDeleteRequest(.ids(ids, entity: entity)))
                }
                #expect(error?.code == .damaged)
            }
            try Self.use(store)
        }
    }

    @Test("Lists that lead in circles and out of everything")
    func circles() throws {
        var random = RandomSource()
        for _ in 0..<20 {
            let (store, _, _) = try Self.edited { checkpoint in
                for index in checkpoint.contents.inverses.indices {
                    for part in checkpoint.contents.inverses[index].links.indices {
                        try checkpoint.changeLinks(index, part) { words in
                            for word in words.indices where random.oneIn(3) {
                                words[word] = random.next() & 0x0000_003F_0000_003F
                            }
                        }
                    }
                }
            }
            try Self.use(store)
        }
    }
}
