// The bytes of keys against the values they stand for.

import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Keys of ordered indexes")
struct IndexKeyTests {
    private func key(ascending: Bool = true, _ body: (inout IndexKey) -> Void) -> [UInt8] {
        var key = IndexKey()
        body(&key)
        key.end(isAscending: ascending)
        return Array(key.bytes)
    }

    /// Whether the bytes of values that rise do so too, the other way round if they are turned, and none is how another
    /// one begins.
    private func expectRising<T>(_ values: [T], _ put: (inout IndexKey, T) -> Void) {
        for ascending in [true, false] {
            var keys = [key(ascending: ascending) { $0.putNil() }]
            for value in values { keys.append(key(ascending: ascending) { put(&$0, value) }) }
            if !ascending { keys.reverse() }
            for (left, right) in zip(keys, keys.dropFirst()) {
                #expect(left.lexicographicallyPrecedes(right), "\(left) and \(right)")
                #expect(left.count == IndexKey.longest || !right.starts(with: left))
            }
        }
    }

    @Test("Integers keep their order")
    func integers() {
        var random = RandomSource()
        var values: Set<Int64> = [.min, .max, 0, -1, 1]
        for shift in 0..<63 as Range<Int64> {
            for more in -1...1 as ClosedRange<Int64> { values.insert(1 << shift &+ more) }
            for more in -1...1 as ClosedRange<Int64> { values.insert(-(1 << shift) &+ more) }
            values.insert(Int64(bitPattern: random.next()) >> shift)
        }
        expectRising(values.sorted()) { $0.put(integer: $1) }
    }

    @Test("Doubles and floats keep their order, and NaN is above all")
    func doubles() {
        var random = RandomSource()
        var values: Set<Double> = [0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude]
        var floats: Set<Float> = [0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude]
        for _ in 0..<300 {
            let value = Double(bitPattern: random.next())
            if !value.isNaN { values.insert(value) }
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            if !float.isNaN { floats.insert(float) }
        }
        expectRising(values.sorted() + [.nan]) { $0.put(double: $1) }
        expectRising(floats.sorted() + [.nan]) { $0.put(float: $1) }
        #expect(key { $0.put(double: -0.0) } == key { $0.put(double: 0) })
        #expect(key { $0.put(float: -0.0) } == key { $0.put(float: 0) })
    }

    @Test("Texts keep the order of their bytes, also with bytes of zero and one")
    func texts() {
        var random = RandomSource()
        var texts: Set<[UInt8]> = [[], [0], [1], [0, 0], [1, 0], [0, 1], [255], [255, 255]]
        for _ in 0..<500 {
            texts.insert(
                (0..<Int(random.next() % 9)).map { _ in [0, 1, 2, 254, 255][Int(random.next() % 5)]
                })
        }
        expectRising(texts.sorted { $0.lexicographicallyPrecedes($1) }) { key, text in
            text.withUnsafeBytes { key.put(text: $0) }
        }
    }

    @Test("Decimals keep their order")
    func decimals() {
        var random = RandomSource()
        var values: Set<Decimal> = [0, 1, -1, 10, 100, 99, Decimal(string: "0.001") ?? 0]
        for _ in 0..<500 {
            let digits = String(random.next() >> (random.next() % 60))
            let exponent = Int(random.next() % 60) - 30
            let sign = random.oneIn(2) ? "-" : ""
            if let value = Decimal(string: "\(sign)\(digits)e\(exponent)") { values.insert(value) }
        }
        expectRising(values.sorted()) { $0.put(decimal: $1) }
        for value in values {
            let stored = DecimalCoding.encode(value)
            #expect(
                stored.withUnsafeBytes { bytes in key { $0.put(decimal: bytes) } }
                    == key { $0.put(decimal: value) })
        }
    }

    @Test("Keys are cut at 64 bytes, and say so")
    func cut() {
        for length in [10, 61, 62, 63, 64, 65, 200] {
            var key = IndexKey()
            [UInt8](repeating: 98, count: length).withUnsafeBytes { key.put(text: $0) }
            key.end(isAscending: true)
            key.put(integer: 1 << 40)
            key.end(isAscending: false)
            #expect(key.count == min(IndexKey.longest, length + 2 + 7))
            #expect(key.isCut == (length + 9 >= 64))
        }
    }

    @Test("Bytes are raised to the least above all that begin with them")
    func raised() {
        func raised(_ bytes: [UInt8]) -> [UInt8] {
            var bytes = bytes
            let count = bytes.withUnsafeMutableBytes { IndexKey.raise($0) }
            return Array(bytes.prefix(count))
        }
        #expect(raised([1, 2]) == [1, 3])
        #expect(raised([1, 255]) == [2])
        #expect(raised([255, 255]) == [])
        #expect(raised([]) == [])
    }
}
