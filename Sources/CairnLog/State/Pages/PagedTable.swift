// Records by index in copy-on-write pages: a radix of raw pages.
//
// Leaves are large pages of records whose size is a power of two; inner pages contain 512 page addresses. The
// height grows with the highest index. A record that was never written reads as none. The leaf written last
// is cached, since rows are numbered in the order of creation.
//
// Invariants: every page on the path to a record that this commit changed was allocated by this commit (ST1).
// The cached leaf is the one at its place in the tree.
// Threads: a value; see `PageTransaction`.

import CCairn

/// An array of records over raw pages.
struct PagedTable<Record: BitwiseCopyable & Sendable>: Sendable {
    private var root = Page.none
    /// The number of index bits below the root page; 0 and no root = empty.
    private var rootShift = 0
    /// The leaf written last, and the index bits above it; -1 = none.
    private var lastLeaf = Page.none
    private var lastLeafNumber = -1

    init() {
        precondition(
            1 << Self.recordBits == MemoryLayout<Record>.size && Self.recordBits < 12,
            "the size of a record is a power of two")
    }

    private static var recordBits: Int {
        @inline(__always) get { MemoryLayout<Record>.size.trailingZeroBitCount }
    }
    private static var leafBits: Int { @inline(__always) get { 12 &- recordBits } }
    private static var leafMask: Int { @inline(__always) get { (1 << leafBits) &- 1 } }
    private static var innerBits: Int { @inline(__always) get { 9 } }
    /// The number of records in a leaf.
    static var recordsOfLeaf: Int { 1 &<< leafBits }

    /// The number of index bits that a tree of the current height covers.
    @inline(__always) private var coveredBits: Int {
        rootShift == 0 ? Self.leafBits : rootShift &+ Self.innerBits
    }

    /// Returns the record at an index, or nil if its page was never written. Only for tables without
    /// placeholders.
    @inline(__always)
    func record(_ index: UInt32) -> UnsafePointer<Record>? {
        let index = Int(index)
        let leaf = leaf(of: index)
        if leaf.isNone { return nil }
        assert(!LatePage.isTagged(leaf.address), "only tables of cells have placeholders")
        return UnsafePointer(Self.record(index, in: leaf))
    }

    /// Returns the leaf of an index, which may be tagged; none if it was never written.
    @inline(__always)
    private func leaf(of index: Int) -> Page {
        if root.isNone || index >> coveredBits != 0 { return .none }
        var page = root
        var shift = rootShift
        while shift > 0 {
            let slot = (index &>> shift) & 511
            page = Page(address: page.data.load(fromByteOffset: slot &* 8, as: UInt.self))
            if page.isNone { return .none }
            shift = shift == Self.leafBits ? 0 : shift &- Self.innerBits
        }
        return page
    }

    /// Prefetches the memory of the record at an index.
    @inline(__always)
    func prefetch(_ index: UInt32) {
        let index = Int(index)
        var leaf = leaf(of: index)
        if leaf.isNone { return }
        if LatePage.isTagged(leaf.address) {
            // Pages that are still in a checkpoint are not read before they are needed.
            leaf = LatePage.loadedPage(leaf.address)
            if leaf.isNone { return }
            if LatePage.isCompact(leaf) {
                return cairn_prefetch(UnsafeRawPointer(LatePage.content(leaf).data))
            }
        }
        cairn_prefetch(UnsafeRawPointer(Self.record(index, in: leaf)))
    }

    /// Returns the first index from `start` on whose page was written; nil if there is none.
    func written(from start: UInt32) -> UInt32? {
        var index = Int(start)
        while !root.isNone, index >> coveredBits == 0 {
            var page = root
            var shift = rootShift
            while shift > 0, !page.isNone {
                let slot = (index &>> shift) & 511
                page = Page(address: page.data.load(fromByteOffset: slot &* 8, as: UInt.self))
                // Everything below this empty slot is skipped.
                if page.isNone { index = (index &>> shift &+ 1) &<< shift }
                shift = shift == Self.leafBits ? 0 : shift &- Self.innerBits
            }
            if !page.isNone { return UInt32(exactly: index) }
        }
        return nil
    }

    /// Returns the record at an index for changing; zeros if it was never written. The pointer is valid until
    /// the table is emptied or the commit ends.
    @inline(__always)
    mutating func writableRecord(_ index: UInt32, in pages: inout PageTransaction)
        -> UnsafeMutablePointer<Record>
    {
        let index = Int(index)
        if index &>> Self.leafBits == lastLeafNumber, lastLeaf.birth == pages.epoch {
            return Self.record(index, in: lastLeaf)
        }
        lastLeaf = writableLeaf(index, in: &pages)
        lastLeafNumber = index &>> Self.leafBits
        return Self.record(index, in: lastLeaf)
    }

    /// Whether the record before that at an index is in the same leaf, so that it is right before it in memory.
    @inline(__always)
    func isInLeafOfPrevious(_ index: UInt32) -> Bool { Int(index) & Self.leafMask != 0 }

    @inline(__always)
    private static func record(_ index: Int, in leaf: Page) -> UnsafeMutablePointer<Record> {
        (leaf.data + (index & leafMask) &<< recordBits).assumingMemoryBound(to: Record.self)
    }

    private mutating func writableLeaf(_ index: Int, in pages: inout PageTransaction) -> Page {
        if root.isNone { root = pages.allocateZeroed(.large) }
        grow(toCover: index, in: &pages)
        root = pages.writable(root)
        var page = root
        var shift = rootShift
        while shift > 0 {
            let at = page.data + ((index &>> shift) & 511) &* 8
            var child = Page(address: at.load(as: UInt.self))
            if LatePage.isTagged(child.address) {
                child = LatePage.page(child.address)
            }
            let own =
                if child.isNone {
                    pages.allocateZeroed(.large)
                } else if LatePage.isCompact(child) {
                    CellRuns(child).makeLeaf(in: &pages)
                } else {
                    pages.writable(child)
                }
            at.storeBytes(of: own.address, as: UInt.self)
            page = own
            shift = shift == Self.leafBits ? 0 : shift &- Self.innerBits
        }
        return page
    }

    /// Sets placeholders for leaves where nothing was written yet.
    ///
    /// - Parameter first: the placeholder of the first one; the others follow eight apart.
    mutating func setLeaves(
        from number: UInt32, count: Int, tagged first: UInt, in pages: inout PageTransaction
    ) {
        if root.isNone {
            // Never the root itself: placeholders are only followed within a page.
            root = pages.allocateZeroed(.large)
            rootShift = Self.leafBits
        }
        precondition(rootShift > 0, "leaves of an image go into their own table")
        var done = 0
        while done < count {
            let index = (Int(number) &+ done) &<< Self.leafBits
            grow(toCover: index, in: &pages)
            var page = root
            var shift = rootShift
            while shift > Self.leafBits {
                let at = page.data + ((index &>> shift) & 511) &* 8
                var child = Page(address: at.load(as: UInt.self))
                if child.isNone {
                    child = pages.allocateZeroed(.large)
                    at.storeBytes(of: child.address, as: UInt.self)
                }
                page = child
                shift &-= Self.innerBits
            }
            let slot = (index &>> Self.leafBits) & 511
            let run = min(count &- done, 512 &- slot)
            let at = page.data + slot &* 8
            for place in 0..<run {
                at.storeBytes(
                    of: first &+ UInt(bitPattern: done &+ place) &* 8, toByteOffset: place &* 8,
                    as: UInt.self)
            }
            done &+= run
        }
    }

    private mutating func grow(toCover index: Int, in pages: inout PageTransaction) {
        while index >> coveredBits != 0 {
            let above = pages.allocateZeroed(.large)
            above.data.storeBytes(of: root.address, as: UInt.self)
            root = above
            rootShift = coveredBits
        }
    }

    /// Returns the number of the first written leaf from `start` on; nil if there is none.
    func leaf(from start: UInt32) -> UInt32? {
        let first = UInt64(start) &<< UInt64(Self.leafBits)
        guard let first = UInt32(exactly: first), let index = written(from: first) else {
            return nil
        }
        return index &>> UInt32(Self.leafBits)
    }

    /// Returns the bytes of a leaf for changing; zeros if it was never written.
    mutating func writableLeaf(number: UInt32, in pages: inout PageTransaction)
        -> UnsafeMutableRawBufferPointer
    {
        let record = writableRecord(number &<< UInt32(Self.leafBits), in: &pages)
        return UnsafeMutableRawBufferPointer(start: record, count: PageSize.large.bytes)
    }

    // MARK: Going through pages

    /// The root page, and the number of index bits below it.
    var top: (root: Page, shift: Int) { (root, rootShift) }

    /// Returns a page below an inner one: none, or one that may be tagged if it is a leaf.
    static func child(_ page: Page, _ slot: Int) -> Page {
        Page(address: page.data.load(fromByteOffset: slot &* 8, as: UInt.self))
    }

    /// Returns the number of index bits below a child page.
    static func below(_ shift: Int) -> Int { shift == leafBits ? 0 : shift &- innerBits }

    /// The maximum number of leaves in a table.
    static var maximumLeaves: UInt64 { 1 &<< UInt64(32 &- leafBits) }

    /// Releases all pages.
    mutating func removeAll(in pages: inout PageTransaction) {
        if !root.isNone { Self.release(root, shift: rootShift, in: &pages) }
        self = PagedTable()
    }

    private static func release(_ page: Page, shift: Int, in pages: inout PageTransaction) {
        if shift > 0 {
            for slot in 0..<512 {
                var child = Page(address: page.data.load(fromByteOffset: slot * 8, as: UInt.self))
                guard !child.isNone else { continue }
                if LatePage.isTagged(child.address) {
                    child = LatePage.content(LatePage.page(child.address))
                }
                release(child, shift: shift == leafBits ? 0 : shift - innerBits, in: &pages)
            }
        }
        pages.release(page)
    }
}

extension PagedTable where Record == UInt64 {
    /// Returns the cell at an index; 0 if its page was never written.
    @inline(__always)
    func cell(_ index: UInt32) -> UInt64 {
        let index = Int(index)
        let leaf = leaf(of: index)
        return leaf.isNone ? 0 : Self.cell(index & Self.leafMask, of: Self.loaded(leaf))
    }

    /// Calls a closure with each cell of a leaf that was written, in order.
    func forEachCell(ofLeaf number: UInt32, _ body: (UInt64) -> Void) {
        let leaf = leaf(of: Int(number) &<< Self.leafBits)
        precondition(!leaf.isNone, "the leaf was written")
        let loaded = Self.loaded(leaf)
        for index in 0...Self.leafMask { body(Self.cell(index, of: loaded)) }
    }

    /// Returns a leaf that may be compact instead of its placeholder.
    @inline(__always)
    static func loaded(_ leaf: Page) -> Page {
        LatePage.isTagged(leaf.address) ? LatePage.page(leaf.address) : leaf
    }

    /// Returns a cell of a leaf that may be compact.
    @inline(__always)
    static func cell(_ index: Int, of leaf: Page) -> UInt64 {
        LatePage.isCompact(leaf)
            ? CellRuns(leaf)[index]
            : leaf.data.load(fromByteOffset: index &* 8, as: UInt64.self)
    }
}

/// An array of 64-bit cells over raw pages; a cell that was never written is 0.
struct RadixArray: Sendable {
    /// Its cells as a table.
    var table = PagedTable<UInt64>()

    @inline(__always)
    subscript(_ index: UInt32) -> UInt64 {
        table.cell(index)
    }

    /// Returns the first index from `start` on whose page was written; nil if there is none.
    func written(from start: UInt32) -> UInt32? { table.written(from: start) }

    @inline(__always)
    mutating func set(_ index: UInt32, _ value: UInt64, in pages: inout PageTransaction) {
        table.writableRecord(index, in: &pages).pointee = value
    }

    /// Returns a cell for changing; valid until the array is emptied or the commit ends.
    @inline(__always)
    mutating func writableCell(_ index: UInt32, in pages: inout PageTransaction)
        -> UnsafeMutablePointer<UInt64>
    {
        table.writableRecord(index, in: &pages)
    }

    mutating func removeAll(in pages: inout PageTransaction) { table.removeAll(in: &pages) }
}
