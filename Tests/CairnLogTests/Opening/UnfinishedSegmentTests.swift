import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Segments whose creation did not finish")
struct UnfinishedSegmentTests {
    /// A store without mark whose newest segment has a header and nothing else.
    private static func image() throws -> DiskImage {
        var image = try GoldenStore.made(steps: 5, rowsPerBlock: 20, segmentBytes: 6000)
        let name = try #require(image.segments.last)
        try #require(image.segments.count > 2)
        image.files[name] = image.files[name]!.prefix(4096) + [UInt8](repeating: 0, count: 512)
        image.files["lock"] = []
        return image
    }

    private static func check(_ image: DiskImage) throws -> [StoreError] {
        var options = SampleStore.options(on: try image.disk())
        options.isReadOnly = true
        return try LogStore.check(at: "/store", options: options).findings
    }

    @Test("They are passed over, and nothing before them is lost")
    func passedOver() throws {
        let image = try Self.image()
        let found = try image.content()
        #expect(!found.recovery.wasClosed)
        #expect(found.text.contains("LOWW"))
        #expect(try Self.check(image).isEmpty)
        var older = image
        older.files[image.segments.last!] = nil
        #expect(try older.content().text == found.text)
    }

    @Test("60.4, step 5: their header vouches for what is before it")
    func vouches() throws {
        var image = try Self.image()
        let before = try #require(image.segments.dropLast().last)
        // In the last frame, which would be a torn tail if nothing said that it was durable.
        image.files[before]![image.files[before]!.count - 20] ^= 1
        let error = #expect(throws: StoreError.self) { try image.content() }
        #expect(error?.code == .damaged)
        #expect(error?.context.segment == SegmentName.number(in: before))
        let finding = try #require(try Self.check(image).first)
        #expect(finding.context.segment == error?.context.segment)
        #expect(finding.context.offset == error?.context.offset)
        // That of another store says nothing, and then it is a torn tail.
        let last = image.segments.last!
        image.files[last]![16] ^= 1
        let checksum = image.files[last]!.withUnsafeBytes {
            Checksum.crc32c(UnsafeRawBufferPointer(rebasing: $0[..<4092]))
        }
        for index in 0..<4 {
            image.files[last]![4092 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index))
        }
        #expect(try image.content().recovery.bytesLeftBehind > 0)
        image.files[last] = nil
        #expect(try image.content().recovery.bytesLeftBehind > 0)
    }
}
