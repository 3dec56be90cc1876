// The compact form of a leaf of a tree's directory: runs of cells.
//
//   page  number of runs 2 | first index of each run 2 | ... 32 | first cell of each run 8 | ...
//
// Rows that were inserted together have consecutive numbers and consecutive slots: each cell is the one before
// plus one slot, also from the last slot of a block to the first of the next one. So a leaf of 4,096 bytes mostly
// is one run or two. A run that begins with an empty cell is empty.
//
// Invariants: the first run begins at index 0; runs ascend.
// Threads: any; see `LatePage`.

/// Runs of cells of a directory's leaf.
struct CellRuns {
    private let page: Page

    private static let startOffset = 2
    private static let cellOffset = 32
    static let most = (PageSize.small.bytes - cellOffset) / 8

    /// - Parameter compact: the compact form of a leaf.
    @inline(__always) init(_ compact: Page) { page = LatePage.content(compact) }

    private init(content page: Page) { self.page = page }

    // MARK: Making

    /// Creates a compact leaf without runs: `add` has to add those from index 0 on.
    static func make(in pages: inout PageTransaction) -> CellRuns {
        let page = pages.allocate(.small)
        page.data.storeBytes(of: 0, as: UInt16.self)
        return CellRuns(content: page)
    }

    /// The compact leaf.
    var compact: Page { LatePage.compact(page) }

    var count: Int { Int(page.data.load(as: UInt16.self)) }

    /// Adds a run after the others; false if there is no room.
    @inline(__always)
    func add(_ cell: UInt64, at index: Int) -> Bool {
        let count = count
        if count == Self.most { return false }
        page.data.storeBytes(
            of: UInt16(truncatingIfNeeded: index),
            toByteOffset: Self.startOffset &+ count &* 2, as: UInt16.self)
        page.data.storeBytes(
            of: cell, toByteOffset: Self.cellOffset &+ count &* 8, as: UInt64.self)
        page.data.storeBytes(of: UInt16(truncatingIfNeeded: count &+ 1), as: UInt16.self)
        return true
    }

    // MARK: Reading

    @inline(__always)
    private func start(_ run: Int) -> Int {
        Int(page.data.load(fromByteOffset: Self.startOffset &+ run &* 2, as: UInt16.self))
    }

    @inline(__always)
    private func first(_ run: Int) -> UInt64 {
        page.data.load(fromByteOffset: Self.cellOffset &+ run &* 8, as: UInt64.self)
    }

    /// The cell at an index in the leaf.
    subscript(_ index: Int) -> UInt64 {
        var run = count &- 1
        while start(run) > index { run &-= 1 }
        let first = first(run)
        if first == 0 { return 0 }
        return first &+ UInt64(truncatingIfNeeded: index &- start(run)) &* DirectoryCell.nextSlot
    }

    /// Returns the whole leaf in a page of a commit, which replaces the compact one.
    func makeLeaf(in pages: inout PageTransaction) -> Page {
        let leaf = pages.allocate(.large)
        let count = count
        for run in 0..<count {
            let end = run + 1 < count ? start(run + 1) : 512
            var cell = first(run)
            let step = cell == 0 ? 0 : DirectoryCell.nextSlot
            for index in start(run)..<end {
                leaf.data.storeBytes(of: cell, toByteOffset: index &* 8, as: UInt64.self)
                cell &+= step
            }
        }
        pages.release(page)
        return leaf
    }
}
