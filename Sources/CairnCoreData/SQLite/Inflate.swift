// DEFLATE without a header, as Core Data packs the model that it keeps in a store.

import CZlib

enum Inflate {
    /// The most bytes that a model may unpack to: a small file must not fill the memory.
    static let limit = 64 << 20

    /// What some bytes unpack to; nil if they are not packed so, end early, or unpack to too many.
    static func unpacked(_ packed: [UInt8]) -> [UInt8]? {
        guard !packed.isEmpty else { return nil }
        var stream = z_stream()
        // Negative: there is neither a header nor a checksum.
        guard
            inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { inflateEnd(&stream) }
        var packed = packed
        var result: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        return packed.withUnsafeMutableBufferPointer { input -> [UInt8]? in
            guard let count = UInt32(exactly: input.count) else { return nil }
            stream.next_in = input.baseAddress
            stream.avail_in = count
            while true {
                let (code, written) = room.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let code = inflate(&stream, Z_NO_FLUSH)
                    return (code, output.count - Int(stream.avail_out))
                }
                result += room[..<written]
                if code == Z_STREAM_END { return result }
                guard code == Z_OK, written > 0, result.count <= limit else { return nil }
            }
        }
    }
}
