// The inverse table against sets.

import CairnTestSupport
import Testing

@testable import CairnLog

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
        #expect(table._checkInvariants(targetsBelow: 100) == [])
        for number in 1...60 as ClosedRange<UInt32> {
            var sources: [UInt32] = []
            table.sources(of: number, into: &sources)
            #expect(sources == (model[number] ?? []).sorted())
            #expect(table.count(of: number) == model[number]?.count ?? 0)
        }
    }

    @Test("An object that 100,000 rows point at is left by any of them")
    func hub() {
        var random = RandomSource()
        let pool = PagePool()
        var table = InverseTable()
        var pages = PageTransaction(epoch: 1, pool: pool)
        for source in 1...100_000 as ClosedRange<UInt32> {
            table.insert(source: source, target: 7, in: &pages)
        }
        pool.give(pages.commit().map(\.address))
        let before = table
        #expect(table.count(of: 7) == 100_000)
        // The first of the list, the last of it, and those in between.
        var gone: Set<UInt32> = [100_000, 1]
        while gone.count < 30_000 { gone.insert(UInt32(random.next() % 100_000) + 1) }
        var second = PageTransaction(epoch: 2, pool: pool)
        table.remove(source: 100_000, target: 7, in: &second)
        table.remove(source: 1, target: 7, in: &second)
        for source in gone where source != 100_000 && source != 1 {
            table.remove(source: source, target: 7, in: &second)
        }
        let replaced = second.commit()
        var sources: [UInt32] = [.max]
        table.sources(of: 7, into: &sources)
        #expect(sources == [.max] + (1...100_000).filter { !gone.contains($0) })
        #expect(table._checkInvariants(targetsBelow: 10) == [])
        #expect(before.count(of: 7) == 100_000)
        #expect(before._checkInvariants(targetsBelow: 10) == [])
        pool.give(replaced.map(\.address))
    }

    @Test("A list may begin at the highest number there is")
    func highest() {
        let pool = PagePool()
        var table = InverseTable()
        var pages = PageTransaction(epoch: 1, pool: pool)
        for source in [UInt32.max - 1, 1, .max] {
            table.insert(source: source, target: .max, in: &pages)
        }
        table.remove(source: 1, target: .max, in: &pages)
        var sources: [UInt32] = []
        table.sources(of: .max, into: &sources)
        #expect(sources == [.max - 1, .max])
        pages.abandon()
        #expect(pool.bytesInUse == 0)
    }
}
