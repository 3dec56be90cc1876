import CairnFileSystem
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@Suite("What tests stand on")
struct SupportTests {
    @Test("a temporary folder is new, and gone with its content afterwards")
    func temporaryFolder() throws {
        var kept = ""
        try withTemporaryDirectory { first in
            withTemporaryDirectory { second in #expect(first.path != second.path) }
            kept = first.path
            try Data([1]).write(to: first.url("file"))
            #expect(FileManager.default.fileExists(atPath: first.path("file")))
            #expect(first.filePath("file") == first.filePath.appending("file"))
        }
        #expect(!FileManager.default.fileExists(atPath: kept))
    }

    @Test("a temporary folder is gone after an error too, in async code too")
    func temporaryFolderAfterError() async throws {
        struct Stop: Error {}
        var kept = ""
        await #expect(throws: Stop.self) {
            try await withTemporaryDirectory { directory in
                kept = directory.path
                await Task.yield()
                throw Stop()
            }
        }
        #expect(!kept.isEmpty && !FileManager.default.fileExists(atPath: kept))
    }

    @Test("the same seed gives the same numbers, another one others")
    func randomSource() {
        var one = RandomSource(seed: 0)
        var same = RandomSource(seed: 0)
        var other = RandomSource(seed: 1)
        // The first numbers of SplitMix64 from 0, by its published reference.
        let first = (0..<3).map { _ in one.next() }
        #expect(first == [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f])
        #expect(first == (0..<3).map { _ in same.next() })
        #expect(first != (0..<3).map { _ in other.next() })
        #expect(one.bytes(10).count == 10)
    }

    @Test("packed files of the corpus are unpacked", .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse()
        let packed = try Corpus.data("data/quakes/all_day_2014-04-14.geojson.gz")
        let text = String(decoding: packed, as: UTF8.self)
        #expect(text.contains("FeatureCollection"))
        #expect(try Corpus.data("data/iso/iso3166-1.json").first == UInt8(ascii: "{"))
    }

    @Test("the system's clock agrees with the reference date of dates")
    func systemClock() {
        let before = Date().timeIntervalSinceReferenceDate
        let now = SystemClock().now()
        let after = Date().timeIntervalSinceReferenceDate
        // A microsecond either way for the rounding of two conversions.
        #expect(before - 1e-6 <= now && now <= after + 1e-6)
    }

    @Test("a manual clock stands still until moved")
    func manualClock() {
        let clock = ManualClock(100)
        #expect(clock.now() == 100)
        clock.advance(by: 2.5)
        #expect(clock.now() == 102.5)
        clock.set(7)
        #expect(clock.now() == 7)
    }
}
