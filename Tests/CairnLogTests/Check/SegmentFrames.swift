// The frames of a store's only segment, to be changed and sealed again: nothing is made to fit but checksums, lengths
// and places.

import CairnFormat

@testable import CairnLog

struct SegmentFrames {
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
