// The 16 random bytes that identify a store.                                   Format 20, F-203

/// The identity of a store, the same in all its files.
package struct StoreID: Sendable, Hashable {
    /// Bytes 0..<8 and 8..<16, each as a little-endian word.
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Creates an ID from 16 bytes, such as those of a UUID; returns nil for another length.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        low = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    package func store(into target: UnsafeMutableRawPointer) {
        target.storeBytes(of: low.littleEndian, as: UInt64.self)
        target.storeBytes(of: high.littleEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// The store's tag in every frame: the checksum of the 16 bytes.
    package var tag: UInt32 {
        withUnsafeBytes(of: (low.littleEndian, high.littleEndian)) { Checksum.crc32c($0) }
    }
}

extension ByteReader {
    mutating func storeID() throws(FormatError) -> StoreID {
        StoreID(low: try integer(), high: try integer())
    }
}
