import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Bytes that somebody has made on purpose")
struct HostileFrameTests {
    static let name = "0000000001.segment"

    /// The frames of a store's only segment, to be changed and sealed again.
    struct Frames {
        var head: [UInt8]
        var frames: [(header: FrameHeader, payload: [UInt8])] = []

        init(_ bytes: [UInt8]) throws {
            head = Array(bytes[..<SegmentHeader.size])
            var position = SegmentHeader.size
            while position < bytes.count {
                let header = try bytes[position...].withUnsafeBytes {
                    try FrameHeader(decoding: $0)
                }
                let start = position + FrameHeader.size
                frames.append(
                    (header, Array(bytes[start..<start + Int(header.payloadLength)])))
                position += header.frameLength
            }
        }

        /// The bytes with checksums, lengths and places made right, so that only what they say is wrong.
        func sealed() -> [UInt8] {
            var bytes = head
            var chain = head.withUnsafeBytes { SegmentHeader.chain(ofEncoded: $0) }
            for (header, payload) in frames {
                var header = header
                header.payloadLength = UInt32(payload.count)
                header.payloadChecksum = payload.withUnsafeBytes { Checksum.crc32c($0) }
                header.lsn = UInt64(bytes.count)
                header.mark = min(header.mark, header.lsn)
                header.predecessor = chain
                var encoded = [UInt8](repeating: 0, count: FrameHeader.size)
                chain = encoded.withUnsafeMutableBytes { header.encode(into: $0.baseAddress!) }
                bytes += encoded
                bytes += payload
                bytes += [UInt8](
                    repeating: 0, count: payload.count.roundedUpToEight - payload.count)
            }
            return bytes
        }
    }

    /// Opens, exports and checks: an error or a content, and nothing else.
    private func readAll(_ image: DiskImage, comment: String) -> Bool {
        do {
            _ = try image.content { store in
                _ = try store.check()
                for entity in store.schema.entities {
                    let fetch = StoreFetch(entity: entity.index)
                    let snapshot = try store.snapshot()
                    let ids = try snapshot.fetch(fetch).ids
                    for (index, relationship) in entity.relationships.enumerated()
                    where relationship.description.isToMany {
                        _ = try snapshot.members(
                            ofRelationship: index, entity: entity.index, owners: ids)
                    }
                }
            }
            return true
        } catch let error as StoreError {
            #expect(error.code == .damaged || error.code == .openFailed, "\(comment): \(error)")
        } catch {
            Issue.record("\(comment): \(error)")
        }
        return false
    }

    private func writeSome(_ image: DiskImage) throws {
        let disk = try image.disk()
        do {
            let store = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
            defer { try? store.close() }
            for step in SampleStore.steps { try step(store) }
            var fetch = try SampleStore.fetch(store, .compare("code", .notEqual, .string("?")))
            fetch.includesRows = true
            _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
        } catch is StoreError {}
    }

    @Test(
        "Whatever a frame says, reading and writing end with an error or a content, never with a trap"
    )
    func payloads() throws {
        var random = RandomSource()
        let history = try SampleStore.history(steps: 7)
        let frames = try Frames(history.closed.files[Self.name]!)
        var image = history.closed
        image.files[Self.name] = frames.sealed()
        #expect(try image.content().text == history.contents.last)
        image.files["lock"] = []
        var opened = 0
        let rounds = Campaign.isLong ? 200_000 : 700
        for round in 0..<rounds {
            var hostile = frames
            let index = Int.random(in: 0..<frames.frames.count, using: &random)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                change(&hostile.frames[index], &random)
            }
            if random.oneIn(20) {
                hostile.frames.insert(frames.frames.randomElement(using: &random)!, at: index)
            } else if random.oneIn(20) {
                hostile.frames.remove(at: index)
            }
            image.files[Self.name] = hostile.sealed()
            if readAll(image, comment: "round \(round), seed \(random.seed)") {
                opened += 1
                if round % 3 == 0 { try writeSome(image) }
            }
        }
        #expect(opened > 0 && opened < rounds)
    }

    private func change(
        _ frame: inout (header: FrameHeader, payload: [UInt8]), _ random: inout RandomSource
    ) {
        let edges: [UInt64] = [
            0, 1, 0x7f, 0xff, 0x400, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0xffff_fffe,
            0x7fff_ffff_ffff_ffff, .max, 1 << 62, 0x3f_ffff,
        ]
        switch Int.random(in: 0..<10, using: &random) {
        case 0: frame.header.commit = edges.randomElement(using: &random)!
        case 1: frame.header.rawKind = UInt8.random(in: 1...14, using: &random)
        case 2 where !frame.payload.isEmpty:
            frame.payload.removeLast(Int.random(in: 1...frame.payload.count, using: &random))
        case 3: frame.payload += random.bytes(Int.random(in: 1...40, using: &random))
        case 4, 5, 6:
            // A number at an edge, where numbers are.
            let width = [1, 2, 4, 8].randomElement(using: &random)!
            guard frame.payload.count >= width else { return }
            let last = min(frame.payload.count, random.oneIn(2) ? 200 : .max) - width
            guard last >= 0 else { return }
            let at = Int.random(in: 0...last, using: &random) / width * width
            withUnsafeBytes(of: edges.randomElement(using: &random)!.littleEndian) {
                frame.payload.replaceSubrange(at..<at + width, with: $0.prefix(width))
            }
        default:
            guard !frame.payload.isEmpty else { return }
            let last = random.oneIn(2) ? min(frame.payload.count, 200) : frame.payload.count
            frame.payload[Int.random(in: 0..<last, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
    }
}
