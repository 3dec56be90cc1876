// Salvage and status of stores with side segments.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Salvage of compacted stores")
struct SalvageCompactedTests {
    /// A store that was compacted between commits: its files, what it held after each step, and what it holds.
    static func compacted(closes: Bool = true) throws -> (image: DiskImage, contents: [String]) {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        var contents: [String] = []
        for step in SampleStore.steps {
            try step(store)
            contents.append(try SampleStore.text(store))
        }
        for round in 0..<3 {
            for part in 0..<3 {
                try CompactionTests.update(store, part * 60..<(part + 1) * 60, round)
                contents.append(try SampleStore.text(store))
            }
            _ = try store.compact()
            try SampleStore.largeValue(store)
            contents.append(try SampleStore.text(store))
        }
        if closes { try store.close() }
        let image = try DiskImage(of: disk)
        if !closes { try store.close() }
        return (image, contents)
    }

    @Test("A store that nothing is wrong with comes out as it is", arguments: [true, false])
    func whole(closes: Bool) throws {
        let (image, contents) = try Self.compacted(closes: closes)
        #expect(image.segments.count > 1)
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.text == contents.last)
        #expect(salvaged.report.isWhole)
        let status = try LogStore.status(
            at: "/store", options: SampleStore.options(on: try image.disk()))
        #expect(status.damage.isEmpty, "\(status.damage)")
        #expect(status.segments.contains { $0.kind == .side })
        #expect(status.wasClosed == closes)
    }

    @Test("What a side segment holds that was begun before the newest segment counts")
    func earlierSide() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try CompactionTests.fill(store, rounds: 2)
        let text = try SampleStore.text(store)
        let victims = Set(
            store.engine.registry.published().segments.mains.map(\.number).prefix(1))
        let run = try CompactionRun(store.engine, victims: victims)
        // Its side segment is there; the commits that adopt it come into a segment behind.
        try store.engine.rollSegment()
        while case .moved = try run.step() {}
        run.end()
        #expect(try SampleStore.text(store) == text)
        try store.close()
        let image = try DiskImage(of: disk)
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.text == text)
        #expect(salvaged.report.isWhole)
        let options = SampleStore.options(on: try image.disk())
        let report = try LogStore.check(at: "/store", depth: .all, options: options)
        #expect(report.findings.isEmpty && report.rows > 0)
        let sides = try LogStore.status(at: "/store", options: options).segments.filter {
            $0.kind == .side
        }
        #expect(sides.count == 1)
    }

    @Test("Each frame broken in turn loses no more than it held")
    func eachFrame() throws {
        var random = RandomSource()
        let (image, contents) = try Self.compacted()
        let content = try #require(contents.last)
        for name in image.segments {
            for frame in Campaign.sample(
                FrameMap(image.files[name]!).frames, oneIn: 3, using: &random)
            {
                var broken = image
                let position =
                    frame.range.lowerBound
                    + Int.random(
                        in: 0..<FrameHeader.size + Int(frame.header.payloadLength), using: &random)
                broken.files[name]![position] ^= 0x10
                let kind = frame.header.kind!
                let comment =
                    "\(name) \(frame.range.lowerBound) \(kind) \(position), seed \(random.seed)"
                let salvaged = try SalvagedStore(broken, options: try .withSampleSchema)
                salvaged.expectNothingInvented(contents, comment)
                if salvaged.report.isWhole { #expect(salvaged.text == content, "\(comment)") }
                switch kind {
                case .start, .commit, .close, .adopt, .retire, .deaths, .schema:
                    #expect(salvaged.missing(of: content).isEmpty, "\(comment)")
                default: break
                }
            }
        }
    }

    @Test("Damage at random", arguments: [true, false])
    func atRandom(closes: Bool) throws {
        var random = RandomSource()
        let (image, contents) = try Self.compacted(closes: closes)
        for round in 0..<Campaign.count(6, whole: 20_000) {
            var broken = image
            SalvageCampaignTests.damage(&broken, &random)
            let comment = "round \(round), seed \(random.seed)"
            do {
                let salvaged = try SalvagedStore(broken, options: try .withSampleSchema)
                salvaged.expectNothingInvented(contents, comment)
                if (try? broken.content()) == nil, salvaged.report.isWhole {
                    #expect(salvaged.text == contents.last, "\(comment)")
                }
            } catch let error as StoreError {
                #expect(error.code == .openFailed || error.code == .damaged, "\(comment)")
            }
        }
    }
}
