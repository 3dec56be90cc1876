// The block table against plain lists, and the cells of the row directory.

import CairnFormat
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("The block table")
struct BlockTableTests {
    @Test("Rows die once, bits at the borders too, and lists keep their order")
    func rows() {
        let pool = PagePool()
        var table = BlockTable()
        var pages = PageTransaction(epoch: 1, pool: pool)
        var handles: [BlockHandle] = []
        for number in 0..<10 {
            let handle = table.insert(BlockEntry(entity: UInt16(number % 2)), in: &pages)
            table.fill(
                handle, place: Place(segment: 1, offset8: UInt32(number)), rows: 1000 + number,
                commit: 1, schemaVersion: 1, length: 4096, hasReferences: false,
                in: &pages)
            handles.append(handle)
        }
        table.fill(
            handles[1], place: Place(segment: 1, offset8: 1), rows: 1024, commit: 1,
            schemaVersion: 1, length: 4096, hasReferences: false,
            in: &pages)
        for slot in [0, 63, 64, 1023] {
            #expect(table.kill(handles[1], slot: slot, commit: 1, in: &pages))
        }
        #expect((0..<1100).filter { table.entry(handles[1]).isLive($0) }.count == 1020)
        #expect(!table.entry(handles[1]).isLive(1023) && table.entry(handles[1]).isLive(1022))
        for slot in [0, 63, 64, 511, 999] {
            #expect(table.kill(handles[0], slot: slot, commit: 1, in: &pages))
            #expect(!table.kill(handles[0], slot: slot, commit: 1, in: &pages))
        }
        #expect(!table.kill(handles[0], slot: 1000, commit: 1, in: &pages))
        let entry = table.entry(handles[0])
        #expect(entry.live == 995)
        #expect((0..<1000).filter { !entry.isLive($0) } == [0, 63, 64, 511, 999])
        func list(_ entity: Int) -> [UInt32] {
            var result: [UInt32] = []
            var handle = table.first(ofEntity: entity)
            while handle != .none {
                result.append(table.entry(handle).offset8)
                handle = table.next(after: table.entry(handle))
            }
            return result
        }
        table.remove(handles[4], in: &pages)
        table.remove(handles[0], in: &pages)
        table.remove(handles[9], in: &pages)
        #expect(list(0) == [2, 6, 8])
        #expect(list(1) == [1, 3, 5, 7])
        #expect(table.count == 7)
        #expect(table._checkInvariants() == [])
        pages.abandon()
        #expect(pool.bytesInUse == 0)
    }

    private struct Model {
        /// By entity, and by level: the full ones first.
        var lists = Array(repeating: [[BlockHandle]](repeating: [], count: 3), count: 3)
        var live: [BlockHandle: Set<Int>] = [:]
    }

    private func compare(_ table: BlockTable, _ model: Model, _ place: Comment) {
        #expect(table._checkInvariants() == [], place)
        #expect(table.count == model.live.count, place)
        for (entity, list) in model.lists.enumerated() {
            for level in BlockLevel.allCases {
                let blocks = list[2 - Int(level.rawValue)]
                #expect(table.blocks(ofEntity: entity, level) == blocks, place)
                #expect(table.count(ofEntity: entity, level) == blocks.count, place)
            }
            var found: [BlockHandle] = []
            var handle = table.first(ofEntity: entity)
            let list = Array(list.joined())
            while handle != .none, found.count <= list.count {
                found.append(handle)
                handle = table.next(after: table.entry(handle))
            }
            #expect(found == list, place)
        }
        for (handle, live) in model.live {
            let entry = table.entry(handle)
            #expect(Int(entry.live) == live.count, place)
            if !live.allSatisfy({ entry.isLive($0) }) {
                Issue.record("a row of block \(handle.raw) is not alive, \(place)")
            }
        }
    }

    @Test("It holds what plain lists hold, over commits, failures and pinned states")
    func random() {
        var random = RandomSource()
        let pool = PagePool()
        let registry = StateRegistry(BlockTable(), epoch: 0, pool: pool)
        var model = Model()
        var pins: [(pin: PinnedState<BlockTable>, model: Model)] = []
        for epoch in 1...200 as ClosedRange<UInt64> {
            var table = registry.published()
            let old = model
            var pages = PageTransaction(epoch: epoch, pool: pool)
            for _ in 0..<10 {
                let handles = model.lists.joined().flatMap { $0 }
                switch random.next() % 8 {
                case 0 where !handles.isEmpty:
                    let handle = handles[Int(random.next() % UInt64(handles.count))]
                    table.remove(handle, in: &pages)
                    for entity in 0..<3 {
                        for level in 0..<3 { model.lists[entity][level].removeAll { $0 == handle } }
                    }
                    model.live[handle] = nil
                case 1...4 where !handles.isEmpty:
                    let handle = handles[Int(random.next() % UInt64(handles.count))]
                    let slot = Int(random.next() % 1024)
                    let isGone = model.live[handle]?.remove(slot) != nil
                    #expect(table.kill(handle, slot: slot, commit: epoch, in: &pages) == isGone)
                default:
                    let entity = Int(random.next() % 3)
                    let rows = Int(random.next() % 1024) + 1
                    let handle = table.insert(BlockEntry(entity: UInt16(entity)), in: &pages)
                    let level = BlockLevel.allCases[Int(random.next() % 3)]
                    table.fill(
                        handle, place: Place(segment: 1, offset8: 1), rows: rows, level: level,
                        commit: epoch, schemaVersion: 1, length: 4096, hasReferences: false,
                        in: &pages)
                    model.lists[entity][2 - Int(level.rawValue)].append(handle)
                    model.live[handle] = Set(0..<rows)
                }
            }
            if random.oneIn(5) {
                pages.abandon()
                model = old
            } else {
                registry.publish(table, epoch: epoch, replaced: pages.commit())
            }
            if random.oneIn(8) { pins.append((registry.pin(), model)) }
            if pins.count > 4 { pins.remove(at: Int(random.next() % UInt64(pins.count))) }
            if epoch % 40 == 0 {
                compare(registry.published(), model, "commit \(epoch)")
                for pin in pins { compare(pin.pin.state, pin.model, "a pinned state") }
            }
        }
        pins.removeAll()
        #expect(registry.keptPages == 0)
    }
}

@Suite("A cell of the row directory")
struct DirectoryCellTests {
    @Test("A cell keeps handle, slot and version, and versions leave out zero when they wrap")
    func cell() {
        let cell = DirectoryCell(
            handle: BlockHandle(raw: .max - 1), slot: 1023, version: DirectoryCell.maximumVersion)
        #expect(cell.handle.raw == .max - 1 && cell.slot == 1023)
        #expect(cell.version == DirectoryCell.maximumVersion)
        #expect(DirectoryCell.next(DirectoryCell.maximumVersion) == 1)
        #expect(DirectoryCell.next(1) == 2)
    }
}
