import CairnFileSystem

/// Bytes in memory with one owner, or those of a mapped file.
package final class RawBytes: @unchecked Sendable {
    // Written by the creator, read by others only after that.
    private let base: UnsafeMutableRawPointer
    /// The mapping that has the bytes; nil if they are this object's own.
    private let mapping: FileMapping?
    // Read at every access to the bytes, and changed by `trim` alone, before the bytes are shared.
    @exclusivity(unchecked) package private(set) var count: Int

    package init(count: Int) {
        base = .allocate(byteCount: max(count, 1), alignment: 16)
        mapping = nil
        self.count = count
    }

    convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count)
        mutable.copyMemory(from: bytes)
    }

    /// Bytes of a mapping, which are not copied.
    init(_ bytes: UnsafeRawBufferPointer, of mapping: FileMapping) {
        guard let start = bytes.baseAddress else {
            preconditionFailure("a mapping has no empty parts")
        }
        base = UnsafeMutableRawPointer(mutating: start)
        self.mapping = mapping
        count = bytes.count
    }

    deinit { if mapping == nil { base.deallocate() } }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
    package var mutable: UnsafeMutableRawBufferPointer {
        precondition(mapping == nil, "a mapped file is not written through its bytes")
        return UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    /// The bytes of memory that it takes: pages of a mapped file are the system's.
    var ownCount: Int { mapping == nil ? count : 0 }

    /// Drops the bytes after a count; only for the creator.
    func trim(to count: Int) {
        precondition(count <= self.count, "bytes are cut, never added")
        self.count = count
    }
}
