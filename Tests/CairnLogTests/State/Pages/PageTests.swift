// Pages, transactions and pinned states: nothing changes under a reader, and nothing leaks.

import CairnTestSupport
import Testing

@testable import CairnLog

/// A state of one array, as the registry keeps it.
private struct ArrayState: Sendable {
    var array = RadixArray()
}

@Suite("Pages of a state")
struct PageTests {
    @Test("A commit that is abandoned gives back what it took and changes nothing")
    func abandon() {
        let pool = PagePool()
        var array = RadixArray()
        var first = PageTransaction(epoch: 1, pool: pool)
        for index in 0..<5000 as Range<UInt32> { array.set(index * 7, UInt64(index), in: &first) }
        _ = first.commit()
        let used = pool.bytesInUse
        var copy = array
        var second = PageTransaction(epoch: 2, pool: pool)
        for index in 0..<5000 as Range<UInt32> { copy.set(index * 11, 1, in: &second) }
        #expect(pool.bytesInUse > used)
        second.abandon()
        #expect(pool.bytesInUse == used)
        for index in 0..<5000 as Range<UInt32> { #expect(array[index * 7] == UInt64(index)) }
    }

    @Test("Going through a directory finds every row in order, however far apart they lie")
    func directory() {
        var random = RandomSource()
        let pool = PagePool()
        for height in [1, 3, 9, 10, 18, 20, 28, 32] as [UInt32] {
            var directory = RowDirectory()
            var pages = PageTransaction(epoch: 1, pool: pool)
            var numbers: Set<UInt32> = []
            #expect(directory.next(from: 1) == nil)
            for _ in 0..<200 {
                numbers.insert(
                    UInt32(truncatingIfNeeded: random.next() >> 32) >> (32 - height) | 1)
            }
            if height == 32 { numbers.insert(.max) }
            for number in numbers {
                directory.set(
                    number, DirectoryCell(handle: BlockHandle(raw: 1), slot: 0, version: 1),
                    in: &pages)
            }
            var found: [UInt32] = []
            var number: UInt32? = directory.next(from: 0)
            while let next = number {
                found.append(next)
                number = next == .max ? nil : directory.next(from: next + 1)
            }
            #expect(found == numbers.sorted())
            pool.give(pages.commit().map(\.address))
        }
    }

    @Test(
        "An array holds what a dictionary holds, at every height, and pinned states never change (ST1)"
    )
    func pinned() {
        var random = RandomSource()
        let pool = PagePool()
        let registry = StateRegistry(ArrayState(), epoch: 0, pool: pool)
        var model: [UInt32: UInt64] = [:]
        var pins: [(pin: PinnedState<ArrayState>, model: [UInt32: UInt64])] = []
        func compare(_ array: RadixArray, _ model: [UInt32: UInt64]) {
            for (index, value) in model where array[index] != value {
                Issue.record("cell \(index) is \(array[index]), not \(value)")
                return
            }
        }
        for epoch in 1...300 as ClosedRange<UInt64> {
            var state = registry.published()
            var pages = PageTransaction(epoch: epoch, pool: pool)
            var next = model
            for _ in 0..<random.next() % 40 {
                let shift = UInt32(random.next() % 32)
                let index = UInt32(truncatingIfNeeded: random.next()) >> shift
                let value = random.next()
                state.array.set(index, value, in: &pages)
                next[index] = value
            }
            if random.oneIn(5) {
                pages.abandon()
                continue
            }
            registry.publish(state, epoch: epoch, replaced: pages.commit())
            model = next
            if random.oneIn(4) { pins.append((registry.pin(), model)) }
            if pins.count > 5 { pins.remove(at: Int(random.next() % UInt64(pins.count))) }
            if epoch % 50 == 0 { for pin in pins { compare(pin.pin.state.array, pin.model) } }
        }
        for pin in pins { compare(pin.pin.state.array, pin.model) }
        compare(registry.published().array, model)
        pins.removeAll()
        #expect(registry.count == 1)
        #expect(registry.keptPages == 0, "ST2: nobody needs older pages any more")
    }

    @Test("Pages that a commit lets go are used again, and nothing leaks")
    func reuse() {
        let pool = PagePool()
        var first = PageTransaction(epoch: 1, pool: pool)
        let old = first.allocateZeroed(.medium)
        old.data.storeBytes(of: 77, as: UInt64.self)
        #expect(first.writable(old) == old)
        for _ in 0..<1000 {
            let page = first.allocate(.large)
            #expect(page != old)
            first.release(page)
        }
        #expect(first.commit().isEmpty)
        #expect(pool.bytesInUse == 512)
        var second = PageTransaction(epoch: 2, pool: pool)
        let copy = second.writable(old)
        #expect(copy != old && copy.data.load(as: UInt64.self) == 77)
        copy.data.storeBytes(of: 78, as: UInt64.self)
        #expect(second.writable(copy) == copy)
        #expect(old.data.load(as: UInt64.self) == 77)
        let replaced = second.commit()
        #expect(replaced == [old])
        pool.give(replaced.map(\.address))
        #expect(pool.bytesInUse == 512)
        var third = PageTransaction(epoch: 3, pool: pool)
        third.release(copy)
        pool.give(third.commit().map(\.address))
        #expect(pool.bytesInUse == 0)
    }

    @Test("Cells at the borders of every height keep their values", arguments: [0, 1, 2])
    func heights(order: Int) {
        let borders: [UInt32] = [
            0, 511, 512, (1 << 18) - 1, 1 << 18, (1 << 27) - 1, 1 << 27, .max - 1, .max,
        ]
        let indexes = order == 0 ? borders : order == 1 ? borders.reversed() : [.max, 0, 1 << 27]
        let pool = PagePool()
        var array = RadixArray()
        var pages = PageTransaction(epoch: 1, pool: pool)
        for (position, index) in indexes.enumerated() {
            #expect(array[index] == 0)
            array.set(index, UInt64(position) + 1, in: &pages)
            for before in 0...position {
                #expect(array[indexes[before]] == UInt64(before) + 1)
            }
        }
        #expect(array[1 << 20] == 0 && array[.max - (1 << 20)] == 0)
        array.removeAll(in: &pages)
        #expect(array[0] == 0 && array[.max] == 0)
        #expect(pages.commit().isEmpty)
        #expect(pool.bytesInUse == 0)
    }

    @Test("Several threads read pinned states while one writes")
    func threads() async {
        let pool = PagePool()
        let registry = StateRegistry(ArrayState(), epoch: 0, pool: pool)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<2000 {
                        let pin = registry.pin()
                        // Every cell of one state was written by one commit.
                        let first = pin.state.array[0]
                        for index in 1..<64 as Range<UInt32>
                        where pin.state.array[index * 100] != first {
                            return false
                        }
                    }
                    return true
                }
            }
            group.addTask {
                for epoch in 1...500 as ClosedRange<UInt64> {
                    var state = registry.published()
                    var pages = PageTransaction(epoch: epoch, pool: pool)
                    for index in 0..<64 as Range<UInt32> {
                        state.array.set(index * 100, epoch, in: &pages)
                    }
                    registry.publish(state, epoch: epoch, replaced: pages.commit())
                }
                return true
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
