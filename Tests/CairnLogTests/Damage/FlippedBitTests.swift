import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("A bit that has flipped")
struct FlippedBitTests {
    /// Every bit in a campaign; else one bit of some bytes, so that over the bytes all bits have their turn, and over the days
    /// all bytes.
    static func bits(of bytes: [UInt8], each step: Int) -> StrideTo<Int> {
        if Campaign.isLong { return stride(from: 0, to: bytes.count * 8, by: 1) }
        var random = RandomSource()
        let step = step * 8 + 1
        return stride(
            from: Int.random(in: 0..<step, using: &random), to: bytes.count * 8, by: step)
    }

    static func flip(_ bit: Int, in name: String, of image: DiskImage) -> DiskImage {
        var image = image
        image.files[name]![bit / 8] ^= 1 << UInt8(bit % 8)
        return image
    }

    @Test(
        "In a store that was closed it is reported with its segment and offset",
        arguments: [true, false])
    func closed(withMark: Bool) throws {
        let history = try SampleStore.history(steps: 4, segmentBytes: 9000)
        var image = history.closed
        if !withMark { image.files["lock"] = [] }
        let names = image.segments
        #expect(names.count > 1)
        for name in names {
            let bytes = image.files[name]!
            // The close frame alone can be lost, if nothing else says that it was there.
            let closeFrame = bytes.count - (name == names.last ? closeFrameLength(bytes) : 0)
            for bit in Self.bits(of: bytes, each: withMark ? 127 : 251) {
                let flipped = Self.flip(bit, in: name, of: image)
                if !withMark, bit / 8 >= closeFrame {
                    let found = try flipped.content()
                    #expect(found.text == history.contents.last)
                    #expect(!found.recovery.wasClosed)
                    continue
                }
                expectDamage(flipped, name, bit)
            }
        }
    }

    @Test("In a store with packed columns it is reported, wherever it is")
    func packed() throws {
        let image = try PackedSample.image()
        for name in image.segments {
            for bit in Self.bits(of: image.files[name]!, each: 809) {
                // Its first segment has gone, so that of a later one whose head is damaged another place is named.
                let error = #expect(throws: StoreError.self, "bit \(bit) of \(name)") {
                    try Self.flip(bit, in: name, of: image).content()
                }
                #expect(error?.code == .damaged, "bit \(bit) of \(name)")
            }
        }
    }

    func closeFrameLength(_ bytes: [UInt8]) -> Int {
        var start = bytes.count - FrameHeader.size
        while bytes[start..<start + 4].elementsEqual([0x43, 0x46, 0x52, 0x4d]) == false {
            start -= 8
        }
        return bytes.count - start
    }

    func expectDamage(_ image: DiskImage, _ name: String, _ bit: Int) {
        let error = #expect(throws: StoreError.self, "bit \(bit) of \(name)") {
            try image.content()
        }
        guard let error else { return }
        #expect(error.code == .damaged, "bit \(bit) of \(name): \(error)")
        let number = SegmentName.number(in: name)
        #expect(error.context.segment == number, "bit \(bit) of \(name): \(error)")
        if let offset = error.context.offset { #expect(offset <= UInt64(bit / 8)) }
        #expect(error.context.offset != nil, "bit \(bit) of \(name): \(error)")
    }

    @Test(
        "In the last commit of a store that crashed it costs that commit at most, and only without a mark"
    )
    func crashed() throws {
        let history = try SampleStore.history(steps: 3)
        let name = "0000000001.segment"
        let sizes = history.images.map { $0.files[name]!.count }
        let marked = history.images[3]
        var unmarked = marked
        unmarked.files["lock"] = []
        let bytes = marked.files[name]!
        for bit in Self.bits(of: bytes, each: 211) {
            expectDamage(Self.flip(bit, in: name, of: marked), name, bit)
            let flipped = Self.flip(bit, in: name, of: unmarked)
            if bit / 8 < sizes[2] {
                expectDamage(flipped, name, bit)
            } else {
                #expect(try flipped.content().text == history.contents[2])
            }
        }
    }

    @Test("In the lock file it changes no answer")
    func lockFile() throws {
        let history = try SampleStore.history(steps: 3, segmentBytes: 9000)
        for image in [history.closed, history.images[3]] {
            for bit in Self.bits(of: image.files["lock"]!, each: 1) {
                let flipped = Self.flip(bit, in: "lock", of: image)
                #expect(try flipped.content().text == history.contents[3])
            }
        }
    }

    @Test("A writer that opens a damaged store changes nothing")
    func writers() throws {
        var random = RandomSource()
        let history = try SampleStore.history(steps: 4, segmentBytes: 9000)
        for _ in 0..<(Campaign.isLong ? 20_000 : 30) {
            let name = history.closed.segments.randomElement(using: &random)!
            let bit = Int.random(in: 0..<history.closed.files[name]!.count * 8, using: &random)
            let flipped = Self.flip(bit, in: name, of: history.closed)
            let disk = try flipped.disk()
            #expect(throws: StoreError.self) {
                try LogStore.open(
                    at: "/store", schema: try SampleStore.schema(),
                    options: SampleStore.options(on: disk))
            }
            #expect(try DiskImage(of: disk) == flipped)
        }
    }

    @Test(
        "While the store is open it is reported when the row is read, and other rows stay readable")
    func whileOpen() throws {
        let disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk)
        options.cacheBytes = 0
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for step in SampleStore.steps { try step(store) }
        let text = try SampleStore.text(store)
        let name = "0000000001.segment"
        let image = try DiskImage(of: disk)
        let file = try disk.open(DiskImage.folder.appending(name), .readWrite)
        var reported = 0
        for offset in stride(from: 4096, to: image.files[name]!.count, by: Campaign.step(101)) {
            func put(_ byte: UInt8) throws {
                try [byte].withUnsafeBytes { try file.write($0, at: UInt64(offset)) }
            }
            let byte = image.files[name]![offset]
            try put(byte ^ 0x10)
            do {
                #expect(try SampleStore.text(store) == text, "byte \(offset)")
            } catch let error as StoreError {
                #expect(error.code == .damaged)
                #expect(error.context.segment == 1)
                reported += 1
            }
            try put(byte)
        }
        #expect(reported > 5)
        #expect(try SampleStore.text(store) == text)
        try store.close()
    }
}
