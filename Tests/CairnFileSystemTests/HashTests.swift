import CCairn
import CairnTestSupport
import Testing

@Suite("The hash of keys")
struct HashTests {
    static func hash(_ bytes: [UInt8], seed: UInt64 = 7) -> UInt64 {
        bytes.withUnsafeBytes { cairn_hash64($0.baseAddress, $0.count, seed) }
    }

    @Test("the same key has the same hash wherever it lies, and no byte outside it counts")
    func placeDoesNotCount() {
        var random = RandomSource()
        for length in 0...200 {
            let key = random.bytes(length)
            let expected = Self.hash(key)
            for shift in 0..<16 {
                // Other neighbours each time, right up to the key.
                let around = random.bytes(shift) + key + random.bytes(16)
                let found = around.withUnsafeBytes {
                    cairn_hash64($0.baseAddress! + shift, length, 7)
                }
                #expect(found == expected, "length \(length), shifted by \(shift)")
            }
        }
    }

    @Test("a short key's words are its bytes with zeros above")
    func wordsArePadded() {
        var random = RandomSource()
        for length in 0...16 {
            let key = random.bytes(length)
            let padded = key + [UInt8](repeating: 0, count: 16 - length)
            // Full bytes on both sides would show in the words if they were read into them.
            let around = [255] + key + [UInt8](repeating: 255, count: 16)
            let words = around.withUnsafeBytes { cairn_load_words($0.baseAddress! + 1, length) }
            padded.withUnsafeBytes {
                #expect(words.low == $0.loadUnaligned(as: UInt64.self), "length \(length)")
                #expect(
                    words.high == $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                    "length \(length)")
            }
            #expect(cairn_hash64_words(words.low, words.high, length, 7) == Self.hash(key))
        }
    }

    @Test("two numbers hash as their sixteen bytes")
    func pairIsItsBytes() {
        let numbers: [UInt64] = [0x0102_0304_0506_0708, .max - 3]
        let bytes = numbers.withUnsafeBytes { Array($0) }
        #expect(cairn_hash64_pair(numbers[0], numbers[1], 99) == Self.hash(bytes, seed: 99))
    }

    @Test(
        "length, every bit and the seed count",
        arguments: [1, 3, 8, 9, 16, 17, 32, 33, 48, 49, 97, 200])
    func everythingCounts(_ length: Int) {
        var random = RandomSource()
        var key = random.bytes(length)
        var seen: Set<UInt64> = [Self.hash(key), Self.hash(key, seed: 8), Self.hash(key + [0])]
        #expect(seen.count == 3)
        for bit in 0..<length * 8 {
            key[bit / 8] ^= 1 << (bit % 8)
            #expect(seen.insert(Self.hash(key)).inserted, "bit \(bit)")
            key[bit / 8] ^= 1 << (bit % 8)
        }
    }

    @Test("runs of zeros of different lengths differ, the empty key too")
    func zeros() {
        let hashes = Set((0...300).map { Self.hash([UInt8](repeating: 0, count: $0)) })
        #expect(hashes.count == 301)
    }

    /// Flips each input bit of many keys and counts how often each output bit changes: half of the time
    /// for a good hash. With 1,024 keys the standard deviation of a count is 16, so a deviation of
    /// 6.5 of them is a fault and not chance, also over all the pairs looked at.
    @Test(
        "each bit of a key moves each bit of the hash half of the time",
        arguments: [4, 8, 12, 16, 24, 100])
    func avalanche(_ length: Int) {
        // A fixed seed: this is a property of the function, not of one run.
        var random = RandomSource(seed: UInt64(length))
        let rounds = 1024
        for bit in stride(from: 0, to: length * 8, by: length > 16 ? 13 : 3) {
            var changes = [Int](repeating: 0, count: 64)
            for _ in 0..<rounds {
                var key = random.bytes(length)
                let before = Self.hash(key)
                key[bit / 8] ^= 1 << (bit % 8)
                let changed = before ^ Self.hash(key)
                for output in 0..<64 { changes[output] += Int(changed >> UInt64(output) & 1) }
            }
            for output in 0..<64 {
                #expect(
                    abs(changes[output] - rounds / 2) < 104,
                    "input bit \(bit), output bit \(output): \(changes[output]) of \(rounds)")
            }
        }
    }

    /// Keys such as people have, in 1,024 buckets by some ten bits of the hash. Chi-square with 1,023
    /// degrees of freedom has mean 1,023 and deviation 45: 1,350 is over 7 deviations.
    @Test(
        "numbers in a row and numbered names spread evenly in the low, middle and high bits",
        arguments: [0, 22, 32, 54])
    func spread(_ shift: Int) {
        let keys: [[[UInt8]]] = [
            (0..<65_536).map { number in withUnsafeBytes(of: UInt64(number)) { Array($0) } },
            (0..<65_536).map { number in withUnsafeBytes(of: UInt64(number) << 32) { Array($0) } },
            (0..<65_536).map { Array("item-\($0)".utf8) },
            (0..<65_536).map { Array("https://example.org/feed/entry/\($0)".utf8) },
        ]
        for (kind, keys) in keys.enumerated() {
            var buckets = [Int](repeating: 0, count: 1024)
            for key in keys { buckets[Int(Self.hash(key) >> UInt64(shift) & 1023)] += 1 }
            let expected = Double(keys.count) / 1024
            let chiSquare = buckets.reduce(0) { sum, count in
                sum + (Double(count) - expected) * (Double(count) - expected) / expected
            }
            #expect(chiSquare < 1350, "kind \(kind): \(chiSquare)")
        }
    }
}
