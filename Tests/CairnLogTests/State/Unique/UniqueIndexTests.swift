// The unique index against plain collections.

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

    /// Compares an index with the entries it is to hold, by the half of the hash that it sees.
    private func compare(_ index: UniqueIndex, _ model: [UInt32: [UInt32]], _ place: Comment) {
        #expect(index._checkInvariants() == [], place)
        #expect(index.count == model.reduce(0) { $0 + $1.value.count }, place)
        for (half, numbers) in model
        where candidates(index, UInt64(half)).sorted() != numbers.sorted() {
            Issue.record("half \(half) has other candidates, \(place)")
            return
        }
    }

    /// Which hashes a random test draws from.
    enum Spread: CaseIterable {
        /// All over.
        case wide
        /// A few hundred, so that many are equal.
        case narrow
        /// The highest of all, so that clusters go round the end of the table.
        case top
        /// Those of neighbouring homes at the border of two partitions.
        case border

        func hash(_ random: inout RandomSource) -> UInt64 {
            switch self {
            case .wide: random.next()
            case .narrow: (random.next() % 300) &* 0x9E37_79B9_7F4A_7C15
            case .top: random.next() | 0xFFFF_FF00
            case .border: 0x8000_0000 &+ random.next() % 64 &- 32 | random.next() << 32
            }
        }
    }

    @Test("It holds what a dictionary holds, whatever comes and goes", arguments: Spread.allCases)
    func random(spread: Spread) {
        var random = RandomSource()
        let pool = PagePool()
        let registry = StateRegistry(UniqueIndex(splitShift: 9), epoch: 0, pool: pool)
        var model: [UInt32: [UInt32]] = [:]
        var entries: [(hash: UInt64, number: UInt32)] = []
        var pins: [(pin: PinnedState<UniqueIndex>, model: [UInt32: [UInt32]])] = []
        var number: UInt32 = 0
        for epoch in 1...300 as ClosedRange<UInt64> {
            var index = registry.published()
            let old = (model, entries)
            var pages = PageTransaction(epoch: epoch, pool: pool)
            // It grows for a while, then shrinks, then grows again.
            let removals = (epoch / 60) % 2 == 0 ? 4 : 14
            for _ in 0..<40 {
                if !entries.isEmpty, random.next() % 20 < removals {
                    let position = Int(random.next() % UInt64(entries.count))
                    let entry = entries[position]
                    entries.swapAt(position, entries.count - 1)
                    entries.removeLast()
                    #expect(index.remove(hash: entry.hash, number: entry.number, in: &pages))
                    let half = UInt32(truncatingIfNeeded: entry.hash)
                    if let at = model[half]?.firstIndex(of: entry.number) {
                        model[half]?.remove(at: at)
                    }
                } else {
                    let hash = spread.hash(&random)
                    number += 1
                    index.insert(hash: hash, number: number, in: &pages)
                    entries.append((hash, number))
                    model[UInt32(truncatingIfNeeded: hash), default: []].append(number)
                }
            }
            #expect(!index.remove(hash: random.next(), number: .max, in: &pages))
            if random.oneIn(8), !entries.isEmpty {
                // A few, or so many that the others are moved.
                entries.shuffle(using: &random)
                let count =
                    Int.random(in: 0..<entries.count, using: &random) / (random.oneIn(2) ? 1 : 9)
                let leaving = entries.suffix(count).map {
                    UInt64($0.number) << 32 | $0.hash & 0xFFFF_FFFF
                }.sorted {
                    let halves = (UInt32(truncatingIfNeeded: $0), UInt32(truncatingIfNeeded: $1))
                    return index.partition(of: halves.0) < index.partition(of: halves.1)
                }
                entries.removeLast(count)
                #expect(index.remove(grouped: leaving, in: &pages) == nil)
                for entry in leaving {
                    let half = UInt32(truncatingIfNeeded: entry)
                    model[half]?.removeAll { $0 == UInt32(entry >> 32) }
                }
                if let again = leaving.last {
                    #expect(index.remove(grouped: [again], in: &pages) == UInt32(again >> 32))
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
                compare(registry.published(), model, "commit \(epoch)")
                for pin in pins { compare(pin.pin.state, pin.model, "a pinned state") }
                #expect(registry._checkInvariants() == [])
            }
        }
        for pin in pins { compare(pin.pin.state, pin.model, "a pinned state, at the end") }
        pins.removeAll()
        #expect(registry.keptPages == 0)
        var index = registry.published()
        var pages = PageTransaction(epoch: 301, pool: pool)
        for entry in entries {
            #expect(index.remove(hash: entry.hash, number: entry.number, in: &pages))
        }
        registry.publish(index, epoch: 301, replaced: pages.commit())
        compare(index, [:], "emptied")
    }

    @Test("The same entry twice leaves one at a time")
    func twice() {
        let pool = PagePool()
        var index = UniqueIndex()
        var pages = PageTransaction(epoch: 1, pool: pool)
        for _ in 0..<2 { index.insert(hash: 7, number: 3, in: &pages) }
        #expect(candidates(index, 7) == [3, 3])
        #expect(index.remove(hash: 7, number: 3, in: &pages))
        #expect(candidates(index, 7) == [3])
        #expect(index.remove(hash: 7, number: 3, in: &pages))
        #expect(!index.remove(hash: 7, number: 3, in: &pages))
        #expect(candidates(index, 7) == [] && index.count == 0)
        pages.abandon()
        #expect(pool.bytesInUse == 0)
    }

    @Test("Nothing is lost when partitions are split, at every limit", arguments: [6, 13])
    func splits(shift: Int) {
        var random = RandomSource()
        let pool = PagePool()
        var index = UniqueIndex(splitShift: shift)
        var hashes: [UInt64] = []
        // By 13 the limits are 2, 195, 2,441 and 39,062; by 6 they are 375, 25,000 and more.
        let end = shift == 13 ? 42_000 : 30_000
        var epoch: UInt64 = 0
        while hashes.count < end {
            epoch += 1
            var pages = PageTransaction(epoch: epoch, pool: pool)
            for _ in 0..<(hashes.count < 3000 ? 11 : 5000) {
                hashes.append(random.next())
                index.insert(
                    hash: hashes[hashes.count - 1], number: UInt32(hashes.count), in: &pages)
            }
            pool.give(pages.commit().map(\.address))
        }
        #expect(index.count == hashes.count)
        #expect(index._checkInvariants() == [])
        for (position, hash) in hashes.enumerated() {
            if !candidates(index, hash).contains(UInt32(position + 1)) {
                Issue.record("entry \(position) is lost")
                return
            }
        }
    }

    @Test(
        "Entries that are gathered by partition are all there, whether room was made for them or not"
    )
    func filler() {
        for (planned, count) in [(0, 500), (0, 60_000), (60_000, 60_000), (100_000, 30_000)] {
            let pool = PagePool()
            var index = UniqueIndex(splitShift: 4)
            var random = RandomSource()
            var pages = PageTransaction(epoch: 1, pool: pool)
            if planned > 0 { index.reserve(planned, in: &pages) }
            let filler = UniqueIndexFiller(for: index)
            let hashes = (0..<count).map { _ in random.next() }
            for (position, hash) in hashes.enumerated() {
                filler.add(hash: hash, number: UInt32(position + 1), to: &index, in: &pages)
            }
            #expect(index.count < count)
            filler.finish(&index, in: &pages)
            pool.give(pages.commit().map(\.address))
            #expect(index.count == count)
            #expect(index._checkInvariants() == [])
            let lost = hashes.indices.filter {
                !candidates(index, hashes[$0]).contains(UInt32($0 + 1))
            }
            #expect(lost.isEmpty)
        }
    }

    @Test("An entry takes at most twelve bytes and a little, over the change to many partitions")
    func size() {
        let pool = PagePool()
        var index = UniqueIndex()
        var random = RandomSource()
        var hashes: [UInt64] = []
        var epoch: UInt64 = 0
        while hashes.count < 120_000 {
            epoch += 1
            var pages = PageTransaction(epoch: epoch, pool: pool)
            for _ in 0..<1000 {
                hashes.append(random.next())
                index.insert(
                    hash: hashes[hashes.count - 1], number: UInt32(hashes.count), in: &pages)
            }
            pool.give(pages.commit().map(\.address))
            if hashes.count >= 5000 {
                // Right after the split a partition has 187 entries, and its capacity steps by 64.
                let most = hashes.count >= 24_000 && hashes.count < 60_000 ? 14.5 : 13.2
                let bytes = Double(pool.bytesInUse) / Double(hashes.count)
                #expect(bytes <= most, "at \(hashes.count)")
            }
        }
        #expect(index._checkInvariants() == [])
    }

    @Test(
        "It grows up to its split from whatever size was reserved, as a store that was opened has it"
    )
    func growthAfterReserving() {
        let pool = PagePool()
        for reserved in [100, 564, 664, 864, 5000, 12_345, 19_000, 22_000, 23_264, 23_999] {
            var random = RandomSource(seed: UInt64(reserved))
            var index = UniqueIndex()
            var pages = PageTransaction(epoch: 1, pool: pool)
            index.reserve(reserved, in: &pages)
            for number in 1...24_200 as ClosedRange<UInt32> {
                index.insert(hash: random.next(), number: number, in: &pages)
            }
            #expect(index.count == 24_200)
            #expect(index._checkInvariants() == [])
            pages.abandon()
        }
    }

    @Test(
        "Room that was reserved is enough, and not more than needed", arguments: [0, 3000, 40_000])
    func reserve(before: Int) {
        let pool = PagePool()
        var index = UniqueIndex()
        var random = RandomSource()
        var hashes: [UInt64] = []
        var pages = PageTransaction(epoch: 1, pool: pool)
        func add(_ count: Int, _ pages: inout PageTransaction) {
            for _ in 0..<count {
                hashes.append(random.next())
                index.insert(
                    hash: hashes[hashes.count - 1], number: UInt32(hashes.count), in: &pages)
            }
        }
        add(before, &pages)
        index.reserve(before + 100_000, in: &pages)
        add(100_000, &pages)
        pool.give(pages.commit().map(\.address))
        #expect(index._checkInvariants() == [])
        #expect(index.count == hashes.count)
        #expect(pool.bytesInUse < hashes.count * 14)
        var next = PageTransaction(epoch: 2, pool: pool)
        index.reserve(10, in: &next)
        #expect(next.commit().isEmpty, "nothing is to be done for less than there is")
        for (position, hash) in hashes.enumerated()
        where !candidates(index, hash).contains(UInt32(position + 1)) {
            Issue.record("entry \(position) is lost")
            return
        }
    }
}
