// Which pages are kept for whom.

import CairnTestSupport
import Testing

@testable import CairnLog

/// A state of one array, as the registry keeps it.
private struct ArrayState: Sendable {
    var array = RadixArray()
}

/// Something that pins a state when it ends: what a state holds may do anything.
private final class Farewell: Sendable {
    let registry: StateRegistry<[Farewell]>
    init(_ registry: StateRegistry<[Farewell]>) { self.registry = registry }
    deinit { #expect(registry.pin().epoch > 0) }
}

@Suite("The table of states")
struct StateRegistryTests {
    @Test("A hundred thousand commits under a slow reader keep no more than its state has (ST2)")
    func slowReader() {
        let pool = PagePool()
        let registry = StateRegistry(ArrayState(), epoch: 0, pool: pool)
        var epoch: UInt64 = 0
        func write(_ index: UInt32) {
            epoch += 1
            var state = registry.published()
            var pages = PageTransaction(epoch: epoch, pool: pool)
            state.array.set(index, epoch, in: &pages)
            registry.publish(state, epoch: epoch, replaced: pages.commit())
        }
        for index in 0..<3000 as Range<UInt32> { write(index) }
        let inUse = pool.bytesInUse
        #expect(inUse == 7 * 4096, "six leaves and the page above them")
        let pin = registry.pin()
        for round in 0..<100_000 as Range<UInt32> { write(round % 3000) }
        #expect(registry.keptPages == 7)
        #expect(pool.bytesInUse == 2 * inUse)
        #expect(registry._checkInvariants() == [])
        for index in 0..<3000 as Range<UInt32> where pin.state.array[index] != UInt64(index) + 1 {
            Issue.record("cell \(index) changed under its reader")
            break
        }
        withExtendedLifetime(pin) {}
    }

    @Test(
        "Whatever order readers leave in, each sees its state and nothing is left behind",
        arguments: 0..<24)
    func orders(number: Int) {
        let pool = PagePool()
        let registry = StateRegistry(ArrayState(), epoch: 0, pool: pool)
        var pins: [PinnedState<ArrayState>?] = []
        for epoch in 1...12 as ClosedRange<UInt64> {
            var state = registry.published()
            var pages = PageTransaction(epoch: epoch, pool: pool)
            // Pages of every age: one changes always, some now and then.
            state.array.set(0, epoch, in: &pages)
            state.array.set(UInt32(epoch % 3 + 1) * 512, epoch, in: &pages)
            if epoch % 4 == 0 { state.array.set(5000, epoch, in: &pages) }
            registry.publish(state, epoch: epoch, replaced: pages.commit())
            if epoch % 3 == 0 { pins.append(registry.pin()) }
        }
        // The permutation of that number of the four readers.
        var left = Array(0..<4)
        var rest = number
        for step in stride(from: 4, to: 0, by: -1) {
            let next = left.remove(at: rest % step)
            rest /= step
            for case let pin? in pins {
                let epoch = pin.epoch
                #expect(pin.state.array[0] == epoch)
                for cell in 0..<3 as Range<UInt64> {
                    let last = (1...epoch).last { $0 % 3 == cell }
                    #expect(pin.state.array[UInt32(cell + 1) * 512] == last ?? 0)
                }
                #expect(pin.state.array[5000] == epoch / 4 * 4)
            }
            pins[next] = nil
            #expect(registry._checkInvariants() == [])
        }
        #expect(registry.count == 1 && registry.keptPages == 0)
        var state = registry.published()
        var pages = PageTransaction(epoch: 13, pool: pool)
        state.array.removeAll(in: &pages)
        registry.publish(state, epoch: 13, replaced: pages.commit())
        #expect(pool.bytesInUse == 0)
    }

    @Test("The published state stays when its readers go, and goes when it is replaced")
    func published() {
        let pool = PagePool()
        let registry = StateRegistry(ArrayState(), epoch: 0, pool: pool)
        var first: PinnedState<ArrayState>? = registry.pin()
        var second: PinnedState<ArrayState>? = registry.pin()
        first = nil
        registry.publish(ArrayState(), epoch: 1, replaced: [])
        #expect(registry.count == 2)
        second = nil
        #expect(registry.count == 1)
        first = registry.pin()
        #expect(first?.epoch == 1 && second == nil)
        first = nil
        #expect(registry.count == 1)
        registry.publish(ArrayState(), epoch: 2, replaced: [])
        #expect(registry.count == 1)
    }

    @Test("What a dropped state holds may use the table while it ends")
    func farewell() {
        let registry = StateRegistry<[Farewell]>([], epoch: 0, pool: PagePool())
        registry.publish([Farewell(registry)], epoch: 1, replaced: [])
        registry.publish([Farewell(registry)], epoch: 2, replaced: [])
        let pin = registry.pin()
        registry.publish([], epoch: 3, replaced: [])
        #expect(pin.epoch == 2 && registry.count == 2)
        withExtendedLifetime(pin) {}
    }
}
