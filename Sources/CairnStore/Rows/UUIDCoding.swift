// A UUID as its 16 bytes.

package import FoundationEssentials

package enum UUIDCoding {
    /// The UUID with these 16 bytes; nil if there are not 16.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> UUID? {
        guard bytes.count == 16 else { return nil }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
