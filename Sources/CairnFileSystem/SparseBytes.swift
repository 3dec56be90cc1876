// The bytes of an in-memory file, in pages that exist only where something was written.
//
// Invariants: every page is `pageSize` bytes; no page is wholly at or past `size`; bytes of the last
// page past `size` are zero, so that growing shows zeros.
// Threads: a plain value with one owner.

struct SparseBytes: ~Copyable, @unchecked Sendable {
    // This value owns its pages exclusively, so its owner may use them from any thread.

    /// Small enough that a file of a few bytes costs little, large enough that finding a page is negligible
    /// compared with copying it.
    static let pageSize = 16 * 1024

    private(set) var size: UInt64 = 0
    private var pages: [UInt64: UnsafeMutableRawPointer] = [:]

    deinit {
        for page in pages.values { page.deallocate() }
    }

    /// Copies the existing bytes from `offset` on into `target`; returns their number.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        guard offset < size else { return 0 }
        let count = Int(min(UInt64(target.count), size - offset))
        Self.forEachPiece(offset, count) { page, within, done, length in
            let piece = UnsafeMutableRawBufferPointer(rebasing: target[done..<done + length])
            if let bytes = pages[page] {
                piece.copyMemory(from: UnsafeRawBufferPointer(start: bytes + within, count: length))
            } else {
                piece.initializeMemory(as: UInt8.self, repeating: 0)
            }
        }
        return count
    }

    /// Writes `bytes` at `offset`; their end must be a valid offset.
    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        Self.forEachPiece(offset, bytes.count) { page, within, done, length in
            let target = pages[page] ?? addPage(page)
            (target + within).copyMemory(from: start + done, byteCount: length)
        }
        size = max(size, offset + UInt64(bytes.count))
    }

    mutating func resize(to newSize: UInt64) {
        if newSize < size {
            let first = newSize / UInt64(Self.pageSize)
            let within = Int(newSize % UInt64(Self.pageSize))
            if within > 0, let page = pages[first] {
                (page + within).initializeMemory(
                    as: UInt8.self, repeating: 0, count: Self.pageSize - within)
            }
            for (number, page) in pages where number > first || number == first && within == 0 {
                page.deallocate()
                pages[number] = nil
            }
        }
        size = newSize
    }

    private mutating func addPage(_ number: UInt64) -> UnsafeMutableRawPointer {
        let page = UnsafeMutableRawPointer.allocate(byteCount: Self.pageSize, alignment: 16)
        page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.pageSize)
        pages[number] = page
        return page
    }

    /// Splits a range at page boundaries: page number, offset in the page, bytes before, bytes of this piece.
    private static func forEachPiece(
        _ offset: UInt64, _ count: Int, _ body: (UInt64, Int, Int, Int) -> Void
    ) {
        var done = 0
        while done < count {
            let place = offset + UInt64(done)
            let within = Int(place % UInt64(pageSize))
            let length = min(count - done, pageSize - within)
            body(place / UInt64(pageSize), within, done, length)
            done += length
        }
    }
}
