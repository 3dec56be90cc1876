/// Bytes in memory with one owner.
package final class RawBytes: @unchecked Sendable {
    // Written by the creator, read by others only after that.
    private let base: UnsafeMutableRawPointer
    // Read at every access to the bytes, and changed by `trim` alone, before the bytes are shared.
    @exclusivity(unchecked) package private(set) var count: Int

    package init(count: Int) {
        base = .allocate(byteCount: max(count, 1), alignment: 16)
        self.count = count
    }

    convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count)
        mutable.copyMemory(from: bytes)
    }

    deinit { base.deallocate() }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
    package var mutable: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    /// Drops the bytes after a count; only for the creator.
    func trim(to count: Int) {
        precondition(count <= self.count, "bytes are cut, never added")
        self.count = count
    }
}
