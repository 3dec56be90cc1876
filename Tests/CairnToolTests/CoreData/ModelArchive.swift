// The archive of a model as Core Data keeps it in a store.

import CZlib
import CairnTestSupport

extension ArchiveWriter {
    /// Bytes packed as Core Data packs a model.
    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count + 1024)
        deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        let count = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                deflate(&stream, Z_FINISH)
                return output.count - Int(stream.avail_out)
            }
        }
        return Array(output[..<count])
    }
}
