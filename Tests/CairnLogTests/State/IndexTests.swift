// The unique index, the inverse table and the block table against plain collections.

import CairnFormat
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("The unique index")
struct UniqueIndexTests {
    private func candidates(_ index: UniqueIndex, _ hash: UInt64) -> [UInt32] {
        var cursor = index.firstCandidate(hash: hash)
        var found: [UInt32] = []
        while let number = cursor.next() { found.append(number) }
        return found
    }

    @Test(
        "It holds what a dictionary holds, with many equal hashes too",
        arguments: [3, 200, 1 << 40] as [UInt64])
    func random(spread: UInt64) {
        var random = RandomSource()
        let pool = PagePool()
        var index = UniqueIndex()
        var model: [UInt64: Set<UInt32>] = [:]
        var count = 0
        for epoch in 1...400 as ClosedRange<UInt64> {
            let old = (index, model, count)
            var pages = PageTransaction(epoch: epoch, pool: pool)
            for _ in 0..<20 {
                let hash = (random.next() % spread) &* 0x9E37_79B9_7F4A_7C15
                if random.oneIn(3), let number = model[hash]?.first {
                    #expect(index.remove(hash: hash, number: number, in: &pages))
                    model[hash]?.remove(number)
                    count -= 1
                } else {
                    let number = UInt32(epoch) * 100 + UInt32(count % 100) + 1
                    if model[hash, default: []].insert(number).inserted {
                        index.insert(hash: hash, number: number, in: &pages)
                        count += 1
                    }
                }
            }
            #expect(!index.remove(hash: 12345, number: 0xFFFF_0000, in: &pages))
            if random.oneIn(6) {
                pages.abandon()
                (index, model, count) = old
            } else {
                pool.give(pages.commit().map(\.address))
            }
        }
        #expect(index.count == count)
        for (hash, numbers) in model {
            #expect(Set(candidates(index, hash)).isSuperset(of: numbers))
            let half = UInt32(truncatingIfNeeded: hash)
            let alike = model.filter { UInt32(truncatingIfNeeded: $0.key) == half }
            #expect(candidates(index, hash).count == alike.reduce(0) { $0 + $1.value.count })
        }
    }

    @Test("An entry takes about twelve bytes, over the change to many partitions")
    func size() {
        let pool = PagePool()
        var index = UniqueIndex()
        var random = RandomSource()
        var hashes: [UInt64] = []
        var epoch: UInt64 = 0
        while hashes.count < 120_000 {
            epoch += 1
            var pages = PageTransaction(epoch: epoch, pool: pool)
            for _ in 0..<2000 {
                let hash = random.next()
                hashes.append(hash)
                index.insert(hash: hash, number: UInt32(hashes.count), in: &pages)
            }
            pool.give(pages.commit().map(\.address))
            if hashes.count >= 6000 {
                #expect(pool.bytesInUse <= hashes.count * 15, "at \(hashes.count)")
            }
        }
        for (position, hash) in hashes.enumerated() {
            if !candidates(index, hash).contains(UInt32(position + 1)) {
                Issue.record("entry \(position) is lost")
                return
            }
        }
        var pages = PageTransaction(epoch: epoch + 1, pool: pool)
        for (position, hash) in hashes.enumerated() where position % 2 == 0 {
            #expect(index.remove(hash: hash, number: UInt32(position + 1), in: &pages))
        }
        pool.give(pages.commit().map(\.address))
        #expect(index.count == 60_000)
        #expect(candidates(index, hashes[1]) == [2])
        #expect(!candidates(index, hashes[0]).contains(1))
    }
}

@Suite("The way back of a reference")
struct InverseTableTests {
    @Test("It holds what sets hold, also when all rows point at one object")
    func random() {
        var random = RandomSource()
        let pool = PagePool()
        var table = InverseTable()
        var model: [UInt32: Set<UInt32>] = [:]
        var target: [UInt32: UInt32] = [:]
        for epoch in 1...200 as ClosedRange<UInt64> {
            var pages = PageTransaction(epoch: epoch, pool: pool)
            for _ in 0..<50 {
                let source = UInt32(random.next() % 700) + 1
                if let old = target[source] {
                    table.remove(source: source, target: old, in: &pages)
                    model[old]?.remove(source)
                    target[source] = nil
                }
                if !random.oneIn(4) {
                    let new = random.oneIn(2) ? 1 : UInt32(random.next() % 50) + 1
                    table.insert(source: source, target: new, in: &pages)
                    model[new, default: []].insert(source)
                    target[source] = new
                }
            }
            pool.give(pages.commit().map(\.address))
        }
        for number in 1...60 as ClosedRange<UInt32> {
            var sources: [UInt32] = []
            table.sources(of: number, into: &sources)
            #expect(sources == (model[number] ?? []).sorted())
            #expect(table.count(of: number) == model[number]?.count ?? 0)
        }
    }
}

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
                commit: 1, schemaVersion: 1, in: &pages)
            handles.append(handle)
        }
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
                handle = BlockHandle(raw: table.entry(handle).next)
            }
            return result
        }
        table.remove(handles[4], in: &pages)
        table.remove(handles[0], in: &pages)
        table.remove(handles[9], in: &pages)
        #expect(list(0) == [2, 6, 8])
        #expect(list(1) == [1, 3, 5, 7])
        #expect(table.count == 7)
        _ = pages.commit()
    }

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
