import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("A tail that was torn off")
struct TornTailTests {
    /// A store of a few small commits that are nowhere known to be durable but by their frames' marks.
    static func relaxed(steps: Int) throws -> (contents: [String], ends: [Int], image: DiskImage) {
        let disk = MemoryFileSystem()
        let options = SampleStore.options(on: disk, durability: .relaxed)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        var contents = [try SampleStore.text(store)]
        var ends = [try DiskImage(of: disk).files["0000000001.segment"]!.count]
        for step in SampleStore.steps[..<steps] {
            try step(store)
            contents.append(try SampleStore.text(store))
            ends.append(try DiskImage(of: disk).files["0000000001.segment"]!.count)
        }
        let image = try DiskImage(of: disk)
        try store.close()
        return (contents, ends, image)
    }

    @Test("Cut anywhere, the commits before the cut are there and the rest is counted")
    func cuts() throws {
        let (contents, ends, image) = try Self.relaxed(steps: 4)
        let name = "0000000001.segment"
        let bytes = try #require(image.files[name])
        let step = Campaign.step(97)
        for length in ends[0]...bytes.count
        where length % step == 0 || ends.contains(where: { abs($0 - length) < 12 }) {
            var cut = image
            cut.files[name] = Array(bytes[..<length])
            let whole = try #require(ends.lastIndex { $0 <= length })
            let found = try cut.content()
            #expect(found.text == contents[whole], "cut at \(length)")
            var tail = length
            while tail > ends[whole], bytes[tail - 1] == 0 { tail -= 1 }
            #expect(found.recovery.bytesLeftBehind == UInt64(tail - ends[whole]))
            #expect(!found.recovery.wasClosed)
            if length % 97 == 0 || length == bytes.count - 1 {
                try checkWriting(cut, contents[whole], tail: length)
            }
        }
    }

    /// A writer takes over, commits into a new segment, and leaves the tail as it is.
    func checkWriting(_ image: DiskImage, _ content: String, tail: Int) throws {
        let disk = try image.disk()
        let options = SampleStore.options(on: disk)
        for commits in 0..<3 {
            let store = try LogStore.open(at: "/store", options: options)
            if commits == 0 { #expect(try SampleStore.text(store) == content) }
            try SampleStore.secondRows(store)
            try store.obtainIDOfCountry()
            let text = try SampleStore.text(store)
            try store.close()
            let after = try DiskImage(of: disk)
            #expect(after.segments.count == 2)
            #expect(after.files["0000000001.segment"] == image.files["0000000001.segment"])
            #expect(try after.content().text == text)
        }
    }

    @Test("Below the mark a cut is damage, with or without the mark file (RC2)")
    func cutsBelowTheMark() throws {
        let history = try SampleStore.history(steps: 3)
        let name = "0000000001.segment"
        let bytes = try #require(history.closed.files[name])
        let end = try #require(history.images.last?.files[name]).count
        for length in stride(from: 0, to: bytes.count, by: Campaign.step(401)) {
            var cut = history.closed
            cut.files[name] = Array(bytes[..<length])
            let error = #expect(throws: StoreError.self, "cut at \(length)") {
                try cut.content()
            }
            #expect(error?.code == .damaged, "cut at \(length): \(String(describing: error))")
            #expect(error?.context.segment == 1)
            // The writer must not take a store that lost its content for a new one.
            let disk = try cut.disk()
            let again = #expect(throws: StoreError.self) {
                try LogStore.open(
                    at: "/store", schema: try SampleStore.schema(),
                    options: SampleStore.options(on: disk))
            }
            #expect(again?.code == .damaged)
            #expect(try DiskImage(of: disk) == cut)
        }
        // What the close frame says is not needed to read what was committed.
        var cut = history.closed
        cut.files["lock"] = []
        for length in end..<bytes.count {
            cut.files[name] = Array(bytes[..<length])
            #expect(try cut.content().text == history.contents.last)
        }
    }

    @Test("Zeros and garbage behind the end are left behind (SG2)", arguments: [0, 1, 2, 3])
    func behindTheEnd(kind: Int) throws {
        var random = RandomSource(seed: 7)
        let history = try SampleStore.history(steps: 2)
        let name = "0000000001.segment"
        for image in [history.closed, history.images[2]] {
            var longer = image
            let end = image.files[name]!.count
            switch kind {
            case 0: longer.files[name]! += [UInt8](repeating: 0, count: 70_000)
            case 1: longer.files[name]! += random.bytes(5000)
            // Frames of the very same store, at another place.
            case 2: longer.files[name]! += image.files[name]![4096...]
            default: longer.files[name]! += [0x43, 0x46, 0x52, 0x4d]
            }
            let found = try longer.content()
            #expect(found.text == history.contents.last)
            #expect(!found.recovery.wasClosed)
            let added = longer.files[name]!.count - end
            #expect((found.recovery.bytesLeftBehind == 0) == (kind == 0))
            #expect(found.recovery.bytesLeftBehind <= UInt64(added))
            try checkWriting(longer, history.contents[2], tail: 0)
        }
    }

    @Test("A later segment that was being made is passed over (FS4)")
    func unfinishedSegment() throws {
        let history = try SampleStore.history(steps: 2, segmentBytes: 5000)
        let last = try #require(history.closed.segments.last)
        let bytes = try #require(history.closed.files[last])
        let next = "0000000099.segment"
        for length in [0, 1, 4095, 4096, 4100] {
            var image = history.closed
            image.files[next] = Array(bytes[..<length])
            #expect(try image.content().text == history.contents.last)
            // The writer takes it away.
            let disk = try image.disk()
            let store = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
            try store.close()
            #expect(try DiskImage(of: disk).files[next] == nil)
        }
    }

    @Test("A creation that was cut anywhere is finished by the next writer (FS4)")
    func creation() throws {
        let history = try SampleStore.history(steps: 0)
        let image = history.images[0]
        let name = "0000000001.segment"
        let bytes = try #require(image.files[name])
        for length in stride(from: 0, to: bytes.count, by: Campaign.step(601)) {
            var cut = image
            cut.files[name] = Array(bytes[..<length])
            cut.files["lock"] = []
            let error = #expect(throws: StoreError.self) { try cut.content() }
            #expect(error?.code == .openFailed)
            let disk = try cut.disk()
            let options = SampleStore.options(on: disk)
            let store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
            #expect(store.recovery.wasCreated)
            #expect(try SampleStore.text(store) == history.contents[0])
            try SampleStore.firstObjects(store)
            let text = try SampleStore.text(store)
            try store.close()
            #expect(try DiskImage(of: disk).content().text == text)
        }
    }
}

extension LogStore {
    /// Hands out an id of a country.
    func obtainIDOfCountry() throws {
        let country = try #require(schema.entity(named: "Country"))
        _ = try obtainPermanentIDs(forEntities: [country.index])
    }
}
