// The sorted entries of a partition, as a checkpoint contains them, beside a search of each entry.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Sorted entries of a partition")
struct SortedPartitionTests {
    /// How the hashes of a round are distributed.
    enum Hashes: CaseIterable {
        case even, few, atOneEnd, equal
    }

    private static func half(
        _ hashes: Hashes, _ number: UInt32, bits: Int, using random: inout RandomSource
    ) -> UInt32 {
        // The lower bits of a hash are free, the others are the partition's number.
        let free = bits == 0 ? UInt32.max : UInt32.max >> UInt32(bits)
        let start = bits == 0 ? 0 : number << UInt32(32 - bits)
        let rest = UInt32(truncatingIfNeeded: random.next()) & free
        return switch hashes {
        case .even: start | rest
        case .few: start | rest & 0x30
        case .atOneEnd: start | rest | free & ~0xFFFF
        case .equal: start | 77
        }
    }

    @Test("A table's entries are sorted, and each hash finds its own", arguments: Hashes.allCases)
    func search(hashes: Hashes) throws {
        var random = RandomSource()
        let pool = PagePool()
        for round in 0..<40 {
            var pages = PageTransaction(epoch: 1, pool: pool)
            let bits = [0, 7, 10][round % 3]
            let number = bits == 0 ? 0 : UInt32.random(in: 0..<1 << UInt32(bits), using: &random)
            let count = Int.random(in: 1...(round < 20 ? 40 : 3000), using: &random)
            let table = HashPartition.make(capacity: count * 5 / 4 + 1, in: &pages)
            var numbers: [UInt32: [UInt32]] = [:]
            for object in 1...UInt32(count) {
                let half = Self.half(hashes, number, bits: bits, using: &random)
                table.insert(UInt64(object) << 32 | UInt64(half), bits: bits, in: &pages)
                numbers[half, default: []].append(object)
            }
            let entries = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: count)
            defer { entries.deallocate() }
            table.copySorted(to: entries, bits: bits)
            let halves = entries.map { UInt32(truncatingIfNeeded: $0) }
            #expect(halves == halves.sorted(), "round \(round)")
            let header = try #require(
                SortedPartition.make(
                    UnsafeRawBufferPointer(entries), number: number, bits: bits, in: &pages))
            let sorted = SortedPartition(header)
            func found(_ half: UInt32) -> [UInt32] {
                let run = sorted.entries(with: half, bits: bits)
                return (0..<run.count).map {
                    UInt32(
                        truncatingIfNeeded: (run.first + $0 * 8).load(as: UInt64.self) >> 32)
                }.sorted()
            }
            for (half, expected) in numbers { #expect(found(half) == expected, "round \(round)") }
            for half in halves {
                for other in [half &+ 1, half &- 1] where numbers[other] == nil {
                    // One of another partition is not asked for, and does no harm.
                    #expect(found(other) == [], "round \(round)")
                }
            }
            #expect(found(0) == numbers[0] ?? [])
            #expect(found(.max) == numbers[.max] ?? [])
            pages.abandon()
        }
    }

    @Test("What is not sorted, has no number, or belongs to another partition is refused")
    func refused() {
        let pool = PagePool()
        func isTaken(_ entries: [UInt64], number: UInt32 = 0, bits: Int = 0) -> Bool {
            var pages = PageTransaction(epoch: 1, pool: pool)
            let header = entries.withUnsafeBytes {
                SortedPartition.make($0, number: number, bits: bits, in: &pages)
            }
            pages.abandon()
            return header != nil
        }
        #expect(isTaken([0x1_0000_0001]))
        #expect(isTaken([0x1_0000_0001, 0x2_0000_0001, 0x1_0000_0002]))
        #expect(!isTaken([]))
        #expect(!isTaken([0x1_0000_0002, 0x2_0000_0001]))
        #expect(!isTaken([0x1_0000_0001, 2]))
        #expect(!isTaken([1, 0x1_0000_0002]))
        #expect(isTaken([0x1_0200_0001, 0x1_03FF_FFFF], number: 1, bits: 7))
        #expect(!isTaken([0x1_0200_0001, 0x1_0400_0000], number: 1, bits: 7))
        #expect(!isTaken([0x1_01FF_FFFF, 0x1_0200_0000], number: 1, bits: 7))
        #expect(
            !isTaken((1...UInt64(HashPartition.maximumCapacity)).map { $0 << 32 | $0 }))
    }
}
