// The ordered index against a sorted list.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("The ordered index")
struct OrderedIndexTests {
    /// Which keys a random test draws from.
    enum Spread: CaseIterable {
        /// Whole numbers all over.
        case wide
        /// A few values that many objects share.
        case shared
        /// Ever larger ones, as dates of creation are.
        case rising
        /// Texts with long common beginnings, many of them cut.
        case long

        func key(_ random: inout RandomSource, _ number: UInt32) -> [UInt8] {
            var key = IndexKey()
            switch self {
            case .wide: key.put(integer: Int64(bitPattern: random.next()))
            case .shared: key.put(integer: Int64(random.next() % 4))
            case .rising: key.put(integer: Int64(number) * 3)
            case .long:
                let length = Int(random.next() % 90)
                let text = [UInt8](repeating: 97, count: length) + random.bytes(1)
                text.withUnsafeBytes { key.put(text: $0) }
            }
            key.end(isAscending: true)
            return Array(key.bytes)
        }
    }

    private struct Entry: Comparable {
        let key: [UInt8]
        let number: UInt32

        var bytes: [UInt8] { key + withUnsafeBytes(of: number.bigEndian) { Array($0) } }

        static func < (left: Entry, right: Entry) -> Bool {
            left.key == right.key
                ? left.number < right.number : left.key.lexicographicallyPrecedes(right.key)
        }
    }

    private func entries(
        _ index: OrderedIndex, _ ranks: Range<Int>, _ direction: OrderedCursor.Direction = .forward
    ) -> [Entry] {
        var cursor = OrderedCursor(index, ranks: ranks, direction)
        var found: [Entry] = []
        while let number = cursor.next() {
            found.append(Entry(key: Array(cursor.key), number: number))
        }
        return found
    }

    private func compare(
        _ index: OrderedIndex, _ model: [Entry], _ random: inout RandomSource, _ place: Comment
    ) {
        #expect(index._checkInvariants() == [], place)
        #expect(index.count == model.count, place)
        if entries(index, 0..<index.count) != model {
            Issue.record("other entries, \(place)")
            return
        }
        for _ in 0..<8 where !model.isEmpty {
            let one = Int(random.next() % UInt64(model.count))
            let other = Int(random.next() % UInt64(model.count))
            let range = min(one, other)..<max(one, other)
            #expect(entries(index, range) == Array(model[range]), place)
            #expect(entries(index, range, .backward) == model[range].reversed(), place)
            let byKeys = model[range].sorted { left, right in
                left.key == right.key
                    ? left.number < right.number : right.key.lexicographicallyPrecedes(left.key)
            }
            #expect(entries(index, range, .backwardByKeys) == byKeys, place)
            var cursor = OrderedCursor(index, ranks: range, .backwardByKeys)
            let skipped = Int(random.next() % UInt64(range.count + 2))
            cursor.skip(skipped)
            #expect(cursor.next() == byKeys.dropFirst(skipped).first?.number, place)
            let key = model[one].key
            #expect(
                key.withUnsafeBytes { index.count(prefix: $0) } == model.count { $0.key == key },
                place)
            #expect(
                key.withUnsafeBytes { index.rank($0) }
                    == model.count { $0.key.lexicographicallyPrecedes(key) }, place)
        }
    }

    @Test("It holds what a sorted list holds, whatever comes and goes", arguments: Spread.allCases)
    func random(spread: Spread) {
        var random = RandomSource()
        let pool = PagePool()
        let registry = StateRegistry(OrderedIndex(), epoch: 0, pool: pool)
        var model: [Entry] = []
        var pins: [(pin: PinnedState<OrderedIndex>, model: [Entry])] = []
        var number: UInt32 = 0
        for epoch in 1...UInt64(Campaign.count(60, whole: 120)) {
            var index = registry.published()
            let before = model
            var pages = PageTransaction(epoch: epoch, pool: pool)
            // It grows for a while, then shrinks, then grows again; a few at a time, or many.
            let removals = (epoch / 25) % 2 == 0 ? 4 : 15
            let steps = random.oneIn(3) ? 1 : random.oneIn(4) ? 300 : 20
            var gone: [Entry] = []
            var new: [Entry] = []
            for _ in 0..<steps {
                if !model.isEmpty, random.next() % 20 < removals {
                    let position = Int(random.next() % UInt64(model.count))
                    gone.append(model.remove(at: position))
                } else {
                    number += 1
                    new.append(Entry(key: spread.key(&random, number), number: number))
                }
            }
            if random.oneIn(3) {
                for entry in gone {
                    #expect(entry.bytes.withUnsafeBytes { index.remove($0, in: &pages) })
                }
                for entry in new {
                    #expect(entry.bytes.withUnsafeBytes { index.insert($0, in: &pages) })
                    #expect(!entry.bytes.withUnsafeBytes { index.insert($0, in: &pages) })
                }
            } else {
                let changes = IndexChanges()
                for entry in new {
                    entry.key.withUnsafeBytes {
                        changes.add($0, number: entry.number, isInsert: true)
                    }
                }
                for entry in gone {
                    entry.key.withUnsafeBytes {
                        changes.add($0, number: entry.number, isInsert: false)
                    }
                }
                // Rows that are written anew with their key.
                for entry in model.prefix(5) {
                    for isInsert in [true, false] {
                        entry.key.withUnsafeBytes {
                            changes.add($0, number: entry.number, isInsert: isInsert)
                        }
                    }
                }
                changes.settle()
                #expect(changes.count == new.count + gone.count)
                #expect(index.apply(changes, in: &pages) == 0)
            }
            model = (model + new).sorted()
            if random.oneIn(6) {
                pages.abandon()
                model = before
            } else {
                registry.publish(index, epoch: epoch, replaced: pages.commit())
            }
            if random.oneIn(10) { pins.append((registry.pin(), model)) }
            if pins.count > 4 { pins.remove(at: Int(random.next() % UInt64(pins.count))) }
            if epoch % 12 == 0 {
                compare(registry.published(), model, &random, "commit \(epoch)")
                for pin in pins {
                    compare(pin.pin.state, pin.model, &random, "a pinned state")
                }
                #expect(registry._checkInvariants() == [])
            }
        }
        for pin in pins { compare(pin.pin.state, pin.model, &random, "a pinned state, at the end") }
        pins.removeAll()
        #expect(registry.keptPages == 0)
        // Nothing is lost: what is left is the tree, and an emptied one has no pages.
        var index = registry.published()
        var pages = PageTransaction(epoch: 121, pool: pool)
        for entry in model.shuffled(using: &random) {
            #expect(entry.bytes.withUnsafeBytes { index.remove($0, in: &pages) })
        }
        registry.publish(index, epoch: 121, replaced: pages.commit())
        compare(index, [], &random, "emptied")
        #expect(pool.bytesInUse == 0)
    }

    @Test("What is there cannot come again, and what is not there cannot leave")
    func contradictions() {
        var random = RandomSource()
        let pool = PagePool()
        var index = OrderedIndex()
        var pages = PageTransaction(epoch: 1, pool: pool)
        let all = (1...2000).map {
            Entry(key: Spread.wide.key(&random, $0), number: $0)
        }
        for part in [all.prefix(3), all.prefix(40), all[...]] {
            for isInsert in [false, true, true, false, false] {
                let changes = IndexChanges()
                for entry in part {
                    entry.key.withUnsafeBytes {
                        changes.add($0, number: entry.number, isInsert: isInsert)
                    }
                }
                changes.settle()
                let isThere = index.count > 0
                #expect(
                    index.apply(changes, in: &pages) == (isInsert == isThere ? part.count : 0))
            }
            #expect(index.count == 0)
            let twice = IndexChanges()
            for entry in part {
                for _ in 0..<2 {
                    entry.key.withUnsafeBytes {
                        twice.add($0, number: entry.number, isInsert: true)
                    }
                }
            }
            twice.settle()
            #expect(index.apply(twice, in: &pages) == part.count)
            #expect(index.count == part.count)
            #expect(index._checkInvariants() == [])
            index.removeAll(in: &pages)
        }
        pages.abandon()
        #expect(pool.bytesInUse == 0)
    }

    @Test("A value that very many rows share costs four bytes a row, and one row more a few pages")
    func hub() {
        let pool = PagePool()
        var index = OrderedIndex()
        var key = IndexKey()
        key.put(integer: 7)
        let total = UInt32(Campaign.count(150_000, whole: 1_000_000))
        var pages = PageTransaction(epoch: 1, pool: pool)
        var number: UInt32 = 0
        while number < total {
            let changes = IndexChanges()
            for _ in 0..<50_000 {
                number += 1
                changes.add(key.bytes, number: number * 2, isInsert: true)
            }
            changes.settle()
            #expect(index.apply(changes, in: &pages) == 0)
        }
        pool.give(pages.commit().map(\.address))
        #expect(Double(pool.bytesInUse) / Double(total) < 4)
        #expect(index.count(prefix: key.bytes) == Int(total))
        var random = RandomSource()
        for epoch in 2...40 as ClosedRange<UInt64> {
            let before = pool.bytesInUse
            var pages = PageTransaction(epoch: epoch, pool: pool)
            let changes = IndexChanges()
            let one = UInt32(random.next() % UInt64(total))
            changes.add(key.bytes, number: one * 2 + 1, isInsert: true)
            changes.settle()
            _ = index.apply(changes, in: &pages)
            let replaced = pages.commit()
            #expect(pool.bytesInUse - before <= 10 * PageSize.node.bytes)
            pool.give(replaced.map(\.address))
        }
        #expect(index._checkInvariants() == [])
    }

    @Test("A whole load fills its pages, and so do values that only rise")
    func density() {
        for isRandom in [true, false] {
            let pool = PagePool()
            var index = OrderedIndex()
            var random = RandomSource(seed: 5)
            var number: UInt32 = 0
            for epoch in 1...20 as ClosedRange<UInt64> {
                var pages = PageTransaction(epoch: epoch, pool: pool)
                let changes = IndexChanges()
                for _ in 0..<(isRandom ? 10_000 : 1_000) {
                    number += 1
                    var key = IndexKey()
                    key.put(double: isRandom ? Double(random.next() % 1_000_000) : Double(number))
                    changes.add(key.bytes, number: number, isInsert: true)
                }
                changes.settle()
                _ = index.apply(changes, in: &pages)
                pool.give(pages.commit().map(\.address))
            }
            let bytes = Double(pool.bytesInUse) / Double(index.count)
            printLine("an entry of a double takes \(bytes) bytes, random: \(isRandom)")
            #expect(bytes < (isRandom ? 24 : 15))
        }
    }
}
