// The store's identifier as the UUID in object ids.

import CairnFormat
package import FoundationEssentials

extension StoreID {
    /// An identifier with the bytes of a UUID.
    init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) {
            StoreID(
                low: UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                high: UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// The same 16 bytes as a UUID.
    package var uuid: UUID {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
            if let base = bytes.baseAddress { store(into: base) }
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
