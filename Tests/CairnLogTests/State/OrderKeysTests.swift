// Order keys by themselves: they put rows in order, and few of them change.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Order keys")
struct OrderKeysTests {
    /// A list of rows, as a store would keep it.
    private struct List {
        var rows: [(number: UInt32, key: Int64)] = []
        var next: UInt32 = 1
        var written = 0

        mutating func settle(_ order: [Int], new: Set<UInt32> = []) {
            let ordered = order.map { rows[$0] }
            let places = ordered.map {
                OrderKeys.Place(key: $0.key, isWritten: new.contains($0.number))
            }
            rows = ordered
            for (position, key) in OrderKeys.assign(places, below: OrderKeys.key(of: next)) {
                rows[position].key = key
                if !new.contains(ordered[position].number) { written += 1 }
            }
        }

        mutating func insert(at place: Int) {
            let number = next
            next += 1
            rows.append((number, OrderKeys.key(of: number)))
            var order = Array(0..<rows.count - 1)
            order.insert(rows.count - 1, at: place)
            settle(order, new: [number])
        }

        mutating func move(from: Int, to: Int) {
            var order = Array(rows.indices)
            order.insert(order.remove(at: from), at: to)
            settle(order)
        }

        var isInOrder: Bool {
            zip(rows, rows.dropFirst()).allSatisfy { $0.key < $1.key }
                && rows.allSatisfy { $0.key < OrderKeys.key(of: next) }
        }
    }

    @Test("Rows in the order of their creation need no keys")
    func creation() {
        let places = (1...100).map {
            OrderKeys.Place(key: OrderKeys.key(of: UInt32($0 * 3)), isWritten: $0 > 50)
        }
        #expect(OrderKeys.assign(places, below: OrderKeys.key(of: 400)).isEmpty)
        #expect(OrderKeys.assign([], below: 0).isEmpty)
    }

    @Test("Moving one row changes one key", arguments: [0, 1, 49, 98, 99], [0, 1, 50, 98, 99])
    func moving(from: Int, to: Int) {
        var list = List()
        for _ in 0..<100 { list.insert(at: list.rows.count) }
        #expect(list.written == 0)
        list.move(from: from, to: to)
        #expect(list.written == (from == to ? 0 : 1) && list.isInOrder)
    }

    @Test(
        "A thousand rows at one place, at the front or moved to the end cost little",
        arguments: 0..<5)
    func onePlace(_ kind: Int) {
        var list = List()
        for _ in 0..<10 { list.insert(at: list.rows.count) }
        for round in 1...2000 {
            switch kind {
            case 0: list.insert(at: 5)
            case 1: list.insert(at: 0)
            case 2: list.insert(at: list.rows.count - 1)
            case 3: list.move(from: 0, to: list.rows.count - 1)
            default: list.move(from: list.rows.count - 1, to: 4)
            }
            // What is out of order stays so.
            if round % 20 == 0 { #expect(list.isInOrder) }
        }
        // A move writes the row that moves.
        let moved = kind < 3 ? 0 : 2000
        #expect(list.written - moved <= 2000 * 12, "\(list.written) rows were written")
    }

    @Test("Ten thousand moves to the end write little more than what moves")
    func toTheEnd() {
        var list = List()
        for _ in 0..<100 { list.insert(at: list.rows.count) }
        for _ in 0..<10_000 { list.move(from: 0, to: 99) }
        #expect(list.isInOrder)
        #expect(list.written <= 15_000, "\(list.written) rows were written")
        list.insert(at: 100)
        #expect(list.isInOrder)
    }

    @Test("Random orders come out right, with as few changes as can be")
    func random() {
        var random = RandomSource()
        var list = List()
        for _ in 0..<300 {
            let count = list.rows.count
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: list.insert(at: Int.random(in: 0...count, using: &random))
            case 4...7 where count > 0:
                list.move(
                    from: Int.random(in: 0..<count, using: &random),
                    to: Int.random(in: 0..<count, using: &random))
            case 8: list.settle(Array(list.rows.indices).shuffled(using: &random))
            default:
                list.settle(
                    Array(list.rows.indices.dropFirst(Int.random(in: 0...1, using: &random))))
            }
            #expect(list.isInOrder)
        }
    }

    @Test("Keys that are equal, at their limits or above the limit are put right")
    func odd() {
        for keys in [
            [5, 5, 5], [.max, .max - 1, .min], [.min, .min, .min + 1], [3, 2, 1], [.max, 0, .max],
            [1 << 40, 1 << 41, 1 << 39],
        ] as [[Int64]] {
            let places = keys.map { OrderKeys.Place(key: $0, isWritten: false) }
            var after = keys
            for (position, key) in OrderKeys.assign(places, below: OrderKeys.key(of: 10)) {
                after[position] = key
            }
            #expect(zip(after, after.dropFirst()).allSatisfy { $0 < $1 }, "\(keys) became \(after)")
        }
    }
}
