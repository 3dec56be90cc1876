// A growing buffer of bytes that is reused.
//
// Invariants: 0 <= count <= capacity; the bytes below `count` are initialised, except those of a
// `reserve` that its caller has not filled yet.
// Threads: one owner; it may move between threads.

package struct ByteWriter: ~Copyable, @unchecked Sendable {
    // This value owns the memory exclusively, and cannot be copied.

    private var base: UnsafeMutableRawPointer
    package private(set) var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int = 4096) {
        precondition(capacity >= 0, "a buffer has no negative capacity")
        self.capacity = max(capacity, 64)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        base.deallocate()
    }

    /// The written bytes; valid until the next call that changes the writer.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count)
    }

    /// The written bytes, for changes in place; valid until the next call that changes the writer.
    package var mutableBytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    /// Discards the bytes and keeps the memory.
    package mutating func reset() {
        count = 0
    }

    /// Discards the bytes from `count` on.
    package mutating func cut(to count: Int) {
        precondition(count >= 0 && count <= self.count, "a buffer is truncated inside its bytes")
        self.count = count
    }

    /// Reserves capacity for `more` additional bytes.
    package mutating func ensure(_ more: Int) {
        if capacity &- count < more { grow(more) }
    }

    /// Appends bytes that the caller fills immediately; valid until the next call that changes the writer.
    package mutating func reserve(_ size: Int) -> UnsafeMutableRawPointer {
        precondition(size >= 0, "a reserved size is not negative")
        ensure(size)
        let start = base + count
        count &+= size
        return start
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count).copyMemory(from: source, byteCount: bytes.count)
    }

    @inline(__always)
    package mutating func append<T: FixedWidthInteger>(_ value: T) {
        reserve(MemoryLayout<T>.size).storeBytes(of: value.littleEndian, as: T.self)
    }

    package mutating func append(double value: Double) {
        append(value.bitPattern)
    }

    package mutating func append(utf8 text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    package mutating func appendZeros(_ size: Int) {
        guard size > 0 else { return }
        reserve(size).initializeMemory(as: UInt8.self, repeating: 0, count: size)
    }

    /// Overwrites existing bytes.
    package mutating func store<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        precondition(
            offset >= 0 && offset <= count - MemoryLayout<T>.size,
            "the bytes are inside the buffer")
        base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
    }

    private mutating func grow(_ more: Int) {
        let (needed, overflow) = count.addingReportingOverflow(more)
        precondition(!overflow, "a buffer fits the address space")
        let larger = max(needed, capacity &* 2)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        fresh.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = fresh
        capacity = larger
    }
}
