// CRC-32C, the only checksum of the format.                                   Format 10, F-102

internal import CCairn

package enum Checksum {
    /// Returns the checksum of the bytes; `previous` continues the checksum of the bytes before them.
    package static func crc32c(_ bytes: UnsafeRawBufferPointer, continuing previous: UInt32 = 0)
        -> UInt32
    {
        cairn_crc32c(previous, bytes.baseAddress, bytes.count)
    }
}
