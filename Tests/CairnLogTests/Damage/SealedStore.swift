// The frames of a store's log, to be changed and sealed again: lengths, checksums, places, chains, and what
// segments say of their predecessors are made right, so that only what the frames say is wrong.

import CairnFormat
import CairnTestSupport
import Testing

@testable import CairnLog

struct SealedStore {
    struct Frame {
        /// The file it is in.
        let segment: String
        var header: FrameHeader
        var payload: [UInt8]
        /// Whether it says what it says, right or wrong.
        var isChanged = false
    }

    /// The segments' headers by name.
    private let heads: [(name: String, header: SegmentHeader)]
    /// All frames in the order of the log.
    var frames: [Frame] = []

    /// The frames of segments that follow each other up to the end of the log: of all, or of some of the last.
    init(_ image: DiskImage, _ names: [String]) throws {
        heads = try names.map { name in
            (name, try image.files[name]!.withUnsafeBytes { try SegmentHeader(decoding: $0) })
        }
        for name in names {
            let bytes = try #require(image.files[name])
            var position = SegmentHeader.size
            while position < bytes.count {
                let header = try bytes[position...].withUnsafeBytes {
                    try FrameHeader(decoding: $0)
                }
                let start = position + FrameHeader.size
                let end = start + Int(header.payloadLength)
                frames.append(
                    Frame(segment: name, header: header, payload: Array(bytes[start..<end])))
                position += header.frameLength
            }
        }
    }

    /// The bytes of all segments.
    func sealed() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        var live: [StartPayload.LiveSegment] = []
        // What is before the first of them stays as it is.
        let first = heads.first?.header
        var base = (first?.baseLSN ?? 0) - (first?.predecessorEnd ?? 0)
        var chain = first?.predecessorChain ?? 0
        var end = first?.predecessorEnd ?? 0
        var commit: (first: UInt64, frames: UInt32)?
        for (name, stored) in heads {
            var head = stored
            if head.predecessor != 0 {
                base += end
                head.baseLSN = base
                head.predecessorEnd = end
                head.predecessorChain = chain
            }
            var writer = ByteWriter()
            chain = head.encode(to: &writer)
            var bytes = Array(writer.bytes)
            for frame in frames where frame.segment == name {
                append(frame, to: &bytes, base, &chain, live, &commit)
            }
            end = UInt64(bytes.count)
            live.append(.init(number: head.number, kind: .main, end: end, chain: chain))
            files[name] = bytes
        }
        return files
    }

    private func append(
        _ frame: Frame, to bytes: inout [UInt8], _ base: UInt64, _ chain: inout UInt32,
        _ live: [StartPayload.LiveSegment], _ commit: inout (first: UInt64, frames: UInt32)?
    ) {
        var payload = frame.payload
        let lsn = base + UInt64(bytes.count)
        if !frame.isChanged, frame.header.kind == .commit,
            var record = try? payload.withUnsafeBytes({ try CommitPayload(decoding: $0) })
        {
            record.firstLSN = commit?.first ?? lsn
            record.frameCount = commit?.frames ?? 0
            var writer = ByteWriter()
            record.encode(to: &writer)
            payload = Array(writer.bytes)
        }
        switch frame.header.kind {
        case .commit, .start, .close: commit = nil
        default: commit = (commit?.first ?? lsn, (commit?.frames ?? 0) + 1)
        }
        if !frame.isChanged, frame.header.kind == .start,
            var start = try? payload.withUnsafeBytes({ try StartPayload(decoding: $0) }),
            start.live.map(\.number) == live.map(\.number)
        {
            // Of a store whose segments are all here; of others it says what it said.
            start.live = live
            var writer = ByteWriter()
            start.encode(to: &writer)
            payload = Array(writer.bytes)
        }
        var header = frame.header
        header.payloadLength = UInt32(payload.count)
        header.payloadChecksum = payload.withUnsafeBytes { Checksum.crc32c($0) }
        header.lsn = lsn
        header.mark = min(header.mark, header.lsn)
        header.predecessor = chain
        var encoded = [UInt8](repeating: 0, count: FrameHeader.size)
        chain = encoded.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { header.encode(into: $0) } ?? 0
        }
        bytes += encoded
        bytes += payload
        bytes += [UInt8](repeating: 0, count: payload.count.roundedUpToEight - payload.count)
    }
}
