// Records by index in copy-on-write pages: a radix of raw pages.
//
// Leaves are large pages of records whose size is a power of two; inner pages hold 512 page addresses. The
// height grows with the highest index. What was never written reads as no record.
//
// Invariants: every page on the path to a record that this commit changed is born in this commit (ST1).
// Threads: a value; see `PageTransaction`.

/// An array of records over raw pages.
struct PagedTable: Sendable {
    private var root = Page.none
    /// Levels of pages; 0 = empty.
    private var height = 0
    private let recordBits: Int
    private let leafBits: Int

    /// A table of records of 2^`recordBits` bytes.
    init(recordBits: Int) {
        self.recordBits = recordBits
        leafBits = 12 - recordBits
    }

    private static let innerBits = 9

    /// Bits of an index that a tree of the present height covers.
    @inline(__always) private var coveredBits: Int { leafBits &+ Self.innerBits &* (height &- 1) }

    /// The record at an index, or nil if its page was never written.
    @inline(__always)
    func record(_ index: UInt32) -> UnsafeRawPointer? {
        guard height > 0 else { return nil }
        let index = Int(index)
        guard index >> coveredBits == 0 else { return nil }
        var page = root
        var shift = coveredBits &- Self.innerBits
        while shift >= leafBits {
            let slot = (index >> shift) & 511
            page = Page(address: page.data.load(fromByteOffset: slot &* 8, as: UInt.self))
            if page.isNone { return nil }
            shift &-= Self.innerBits
        }
        return UnsafeRawPointer(page.data + (index & ((1 << leafBits) &- 1)) << recordBits)
    }

    /// The record at an index, to be changed; zeros if it was never written.
    mutating func writableRecord(_ index: UInt32, in pages: inout PageTransaction)
        -> UnsafeMutableRawPointer
    {
        let index = Int(index)
        if height == 0 {
            root = pages.allocateZeroed(.large)
            height = 1
        }
        while index >> coveredBits != 0 {
            let above = pages.allocateZeroed(.large)
            above.data.storeBytes(of: root.address, as: UInt.self)
            root = above
            height += 1
        }
        root = pages.writable(root)
        var page = root
        var shift = coveredBits &- Self.innerBits
        while shift >= leafBits {
            let at = page.data + ((index >> shift) & 511) &* 8
            let child = Page(address: at.load(as: UInt.self))
            let own = child.isNone ? pages.allocateZeroed(.large) : pages.writable(child)
            if own != child { at.storeBytes(of: own.address, as: UInt.self) }
            page = own
            shift &-= Self.innerBits
        }
        return page.data + (index & ((1 << leafBits) &- 1)) << recordBits
    }

    /// Gives all pages back.
    mutating func removeAll(in pages: inout PageTransaction) {
        if height > 0 { Self.release(root, levels: height, in: &pages) }
        root = .none
        height = 0
    }

    private static func release(_ page: Page, levels: Int, in pages: inout PageTransaction) {
        if levels > 1 {
            for slot in 0..<512 {
                let child = Page(address: page.data.load(fromByteOffset: slot * 8, as: UInt.self))
                if !child.isNone { release(child, levels: levels - 1, in: &pages) }
            }
        }
        pages.release(page)
    }
}

/// An array of 64-bit cells over raw pages; what was never written is 0.
struct RadixArray: Sendable {
    private var table = PagedTable(recordBits: 3)

    @inline(__always)
    subscript(_ index: UInt32) -> UInt64 {
        table.record(index)?.load(as: UInt64.self) ?? 0
    }

    @inline(__always)
    mutating func set(_ index: UInt32, _ value: UInt64, in pages: inout PageTransaction) {
        table.writableRecord(index, in: &pages).storeBytes(of: value, as: UInt64.self)
    }

    mutating func removeAll(in pages: inout PageTransaction) { table.removeAll(in: &pages) }
}
