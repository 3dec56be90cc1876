// Which segments a run in the background takes, segment by segment.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("The choice of what is compacted")
struct CompactionChoiceTests {
    private static let mib: UInt64 = 1 << 20

    /// Segments 1, 2, … of so many MiB, of which so many are dead; the last one takes commits.
    private static func uses(_ segments: [(bytes: UInt64, dead: UInt64)]) throws -> [SegmentUse] {
        let disk = MemoryFileSystem()
        try disk.makeDirectory("/store")
        return try segments.enumerated().map { index, segment in
            let number = UInt32(index + 1)
            let file = try disk.open(FilePath("/store/\(number)"), .create)
            let header = SegmentHeader(
                kind: .main, store: StoreID(SampleStore.identifier), number: number, created: 0,
                commit: 0)
            return SegmentUse(
                segment: Segment(header: header, file: file), isMain: true,
                bytes: segment.bytes * mib, liveBytes: (segment.bytes - segment.dead) * mib)
        }
    }

    private static func whileWriting(_ segments: [(bytes: UInt64, dead: UInt64)]) throws
        -> Set<UInt32>
    {
        let choice = CompactionChoice.whileWriting(
            try uses(segments), newest: UInt32(segments.count), StoreSizes())
        #expect(
            choice?.closesNewest ?? false == choice?.victims.contains(UInt32(segments.count))
                ?? false)
        return choice?.victims ?? []
    }

    private static func whenIdle(
        _ segments: [(bytes: UInt64, dead: UInt64)], allowance: UInt64 = 10_000
    ) throws -> Set<UInt32> {
        let choice = CompactionChoice.whenIdle(
            try uses(segments), newest: UInt32(segments.count), allowance: allowance * mib,
            StoreSizes())
        #expect(
            choice?.closesNewest ?? false == choice?.victims.contains(UInt32(segments.count))
                ?? false)
        return choice?.victims ?? []
    }

    @Test("While others write: half of a segment, or two fifths of the store, and the floor")
    func writing() throws {
        #expect(try Self.whileWriting([(11, 7)]) == [], "below the floor")
        #expect(try Self.whileWriting([(12, 8)]) == [1])
        #expect(try Self.whileWriting([(32, 12)]) == [], "three eighths of it")
        #expect(try Self.whileWriting([(32, 13)]) == [1])
        #expect(try Self.whileWriting([(32, 16), (32, 0), (32, 0), (4, 0)]) == [1])
        #expect(try Self.whileWriting([(32, 0), (32, 0), (32, 0), (32, 15)]) == [])
        #expect(try Self.whileWriting([(32, 0), (32, 0), (32, 0), (32, 16)]) == [4])
        #expect(try Self.whileWriting([(32, 6), (32, 6), (32, 6), (16, 7)]) == [])
        // What settled is moved for a fifth, what is new for two.
        #expect(try Self.whileWriting([(32, 30), (32, 10), (32, 5), (32, 10)]) == [1, 2])
        #expect(try Self.whileWriting([(32, 30), (32, 10), (32, 5), (32, 13)]) == [1, 2, 4])
    }

    @Test("When nobody writes: 15 % of the store, and an eighth of the floor in the newest segment")
    func idle() throws {
        #expect(try Self.whenIdle([(4, 0)]) == [])
        #expect(try Self.whenIdle([(5, 1)]) == [1])
        #expect(try Self.whenIdle([(7, 1)]) == [], "a seventh of it")
        #expect(try Self.whenIdle([(32, 4), (32, 5)]) == [], "less of the store")
        #expect(try Self.whenIdle([(32, 4), (32, 6)]) == [2])
        #expect(try Self.whenIdle([(32, 10), (1, 0)]) == [1])
        #expect(try Self.whenIdle([(32, 10), (2, 1)]) == [1, 2])
    }

    @Test("When nobody writes no more is moved than the allowance, the best first")
    func allowance() throws {
        #expect(try Self.whenIdle([(5, 1)], allowance: 3) == [])
        #expect(try Self.whenIdle([(5, 1)], allowance: 4) == [1])
        #expect(try Self.whenIdle([(32, 8), (32, 16), (4, 0)], allowance: 39) == [2])
        #expect(try Self.whenIdle([(32, 8), (32, 16), (4, 0)], allowance: 40) == [1, 2])
        #expect(try Self.whenIdle([(32, 8), (32, 16), (4, 0)], allowance: 15) == [])
    }

    @Test("What is moved in one go is a quarter of the largest segment, and the rest is known of")
    func leftOver() throws {
        let uses = try Self.uses([(200, 60), (200, 70), (200, 80), (4, 0)])
        let choice = CompactionChoice.whenIdle(
            uses, newest: 4, allowance: 1 << 40, StoreSizes())
        #expect(choice?.victims == [2, 3])
        #expect(choice?.leavesMore == true)
    }

    @Test("The allowance is two bytes for each of the log, or that died, less what was written")
    func counting() {
        var allowance = CompactionAllowance()
        allowance.add(logEnd: 1000, dead: 300)
        #expect(allowance.bytes == 600, "what was dead before")
        allowance.add(logEnd: 1500, dead: 700)
        #expect(allowance.bytes == 1600, "updates")
        allowance.add(logEnd: 1600, dead: 1000)
        #expect(allowance.bytes == 2200, "deletions")
        allowance.release(900)
        allowance.spend(2100)
        #expect(allowance.bytes == 100)
        allowance.add(logEnd: 1600, dead: 100)
        #expect(allowance.bytes == 100, "nothing happened")
        allowance.add(logEnd: 1600, dead: 110)
        #expect(allowance.bytes == 120)
        allowance.spend(500)
        #expect(allowance.bytes == 0)
        allowance.release(60)
        allowance.add(logEnd: 1600, dead: 80)
        #expect(allowance.bytes == 60, "what has died since others were given back")
    }
}
