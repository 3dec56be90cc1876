// The index with postings against sets.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("The index with postings")
struct PostingIndexTests {
    private func numbers(_ index: PostingIndex, _ hash: UInt64) -> [UInt32] {
        var cursor = index.numbers(hash: hash)
        var found: [UInt32] = []
        while let number = cursor.next() { found.append(number) }
        return found
    }

    private func compare(
        _ index: PostingIndex, _ model: [UInt64: Set<UInt32>], _ random: inout RandomSource,
        _ place: Comment
    ) {
        #expect(index._checkInvariants() == [], place)
        #expect(index.count == model.reduce(0) { $0 + $1.value.count }, place)
        for (hash, set) in model {
            let sorted = set.sorted()
            guard index.count(hash: hash) == set.count, numbers(index, hash) == sorted else {
                Issue.record("hash \(hash) has other numbers, \(place)")
                return
            }
            var cursor = index.numbers(hash: hash)
            var rest = sorted[...]
            for _ in 0..<3 {
                let to = UInt32(random.next() % 3000)
                cursor.skip(to: to)
                rest = rest.drop { $0 < to }
                #expect(cursor.next() == rest.popFirst(), place)
            }
        }
    }

    @Test("It holds what sets hold, whatever comes and goes", arguments: [3, 40, 3000])
    func random(hashes: UInt64) {
        var random = RandomSource()
        let pool = PagePool()
        let registry = StateRegistry(PostingIndex(splitShift: 9), epoch: 0, pool: pool)
        var model: [UInt64: Set<UInt32>] = [:]
        var entries: [(hash: UInt64, number: UInt32)] = []
        var pins: [(pin: PinnedState<PostingIndex>, model: [UInt64: Set<UInt32>])] = []
        var number: UInt32 = 0
        for epoch in 1...150 as ClosedRange<UInt64> {
            var index = registry.published()
            let old = (model, entries)
            var pages = PageTransaction(epoch: epoch, pool: pool)
            let removals = (epoch / 40) % 2 == 0 ? 4 : 14
            for _ in 0..<30 {
                if !entries.isEmpty, random.next() % 20 < removals {
                    let position = Int(random.next() % UInt64(entries.count))
                    let entry = entries[position]
                    entries.swapAt(position, entries.count - 1)
                    entries.removeLast()
                    #expect(index.remove(hash: entry.hash, number: entry.number, in: &pages))
                    #expect(!index.remove(hash: entry.hash, number: entry.number, in: &pages))
                    model[entry.hash]?.remove(entry.number)
                } else {
                    // What the lowest bit is does not matter: it is the index's own.
                    let hash = ((random.next() % hashes) &* 0x9E37_79B9_7F4A_7C15) & ~1
                    number += 1
                    #expect(
                        index.insert(
                            hash: hash | random.next() & 1, number: number, in: &pages))
                    #expect(!index.insert(hash: hash, number: number, in: &pages))
                    entries.append((hash, number))
                    model[hash, default: []].insert(number)
                }
            }
            if random.oneIn(6) {
                pages.abandon()
                (model, entries) = old
            } else {
                registry.publish(index, epoch: epoch, replaced: pages.commit())
            }
            if random.oneIn(10) { pins.append((registry.pin(), model)) }
            if pins.count > 4 { pins.remove(at: Int(random.next() % UInt64(pins.count))) }
            if epoch % 30 == 0 {
                compare(registry.published(), model, &random, "commit \(epoch)")
                for pin in pins { compare(pin.pin.state, pin.model, &random, "a pinned state") }
            }
        }
        pins.removeAll()
        #expect(registry.keptPages == 0)
        var index = registry.published()
        var pages = PageTransaction(epoch: 151, pool: pool)
        index.removeAll(in: &pages)
        registry.publish(index, epoch: 151, replaced: pages.commit())
        #expect(pool.bytesInUse == 0)
    }

    @Test("A list with very many numbers takes one more by copying a few pages")
    func hub() {
        let pool = PagePool()
        var index = PostingIndex()
        var pages = PageTransaction(epoch: 1, pool: pool)
        let total = UInt32(Campaign.count(60_000, whole: 1_000_000))
        for number in 1...total {
            index.insert(hash: 77, number: number, in: &pages)
        }
        pool.give(pages.commit().map(\.address))
        #expect(index.count(hash: 77) == Int(total))
        #expect(Double(pool.bytesInUse) / Double(total) < 4.5)
        for (epoch, number) in [(2, total + 1), (3, total + 2)] as [(UInt64, UInt32)] {
            let before = pool.bytesInUse
            var pages = PageTransaction(epoch: epoch, pool: pool)
            index.insert(hash: 77, number: number, in: &pages)
            let replaced = pages.commit()
            #expect(pool.bytesInUse - before <= 10 * PageSize.node.bytes)
            pool.give(replaced.map(\.address))
        }
        var cursor = index.numbers(hash: 77)
        cursor.skip(to: total - 1)
        #expect(cursor.next() == total - 1)
        #expect(index._checkInvariants() == [])
    }
}
