// A page of a state that is read on first access.
//
// Instead of the address of such a page, a state contains the address of a record, with the lowest bit set. A
// record is eight bytes: the address of the page, 0 until its part has been read. Records are in sheets of
// 4,096 bytes at addresses that are multiples of that, and a sheet begins with the reader of its pages:
//
//   0    who reads the pages
//   8    the number of the first record of the sheet
//   16   the records
//
// A large store has a record for every 512 objects, so opening it creates many of them, most of which are
// never used.
//
// A page may have a compact form first, which can only be read, and only by those who know it: SortedPartition
// and CellRuns. Its address has the second bit set. Whoever needs the page itself makes it whole.
//
// Invariants: a record's page is set once, or again if the part could not be read the first time, or if it was
// compact. A compact page has the same content as the whole one.
// Threads: any; records are read through an atomic.

import Synchronization

/// The placeholder for a page that is read later.
enum LatePage {
    private static let tag: UInt = 1
    private static let compactTag: UInt = 2

    /// Whether an address in a state is a placeholder for such a page.
    @inline(__always) static func isTagged(_ address: UInt) -> Bool { address & tag != 0 }

    /// Returns the page for a tagged address; it may be compact.
    @inline(__always) static func page(_ tagged: UInt) -> Page {
        let known = loadedPage(tagged)
        return known.isNone ? loadPage(tagged) : known
    }

    /// Returns the page for a tagged address, which may be compact, if its part was loaded; none otherwise.
    @inline(__always) static func loadedPage(_ tagged: UInt) -> Page {
        Page(address: cell(tagged).pointee.load(ordering: .acquiring))
    }

    /// Returns the whole page for a tagged address.
    @inline(__always) static func wholePage(_ tagged: UInt) -> Page {
        let known = loadedPage(tagged)
        return known.isNone || isCompact(known) ? makeWhole(tagged) : known
    }

    // MARK: Compact pages

    @inline(__always) static func isCompact(_ page: Page) -> Bool {
        page.address & compactTag != 0
    }

    /// Marks a page as compact.
    static func compact(_ page: Page) -> Page { Page(address: page.address | compactTag) }

    /// Returns the page that is marked as compact.
    @inline(__always) static func content(_ compact: Page) -> Page {
        Page(address: compact.address & ~compactTag)
    }

    // MARK: Loading

    @inline(__always) private static func cell(_ tagged: UInt) -> UnsafePointer<Atomic<UInt>> {
        guard let record = UnsafeRawPointer(bitPattern: tagged & ~tag) else {
            preconditionFailure("a tagged word is an address")
        }
        return record.assumingMemoryBound(to: Atomic<UInt>.self)
    }

    @inline(never) private static func loadPage(_ tagged: UInt) -> Page {
        withOwner(of: tagged) { owner, record in owner.load(record: record) }
        return loadedPage(tagged)
    }

    @inline(never) private static func makeWhole(_ tagged: UInt) -> Page {
        withOwner(of: tagged) { owner, record in owner.makeWhole(record: record) }
        return loadedPage(tagged)
    }

    private static func withOwner(of tagged: UInt, _ body: (LatePages, _ record: Int) -> Void) {
        let start = tagged & ~UInt(LateRecords.sheetBytes - 1)
        guard let sheet = UnsafeRawPointer(bitPattern: start),
            let owner = UnsafeRawPointer(bitPattern: sheet.load(as: UInt.self))
        else { preconditionFailure("the sheet of a record has an owner") }
        let offset = Int(tagged & ~tag &- start) &- LateRecords.firstOffset
        body(
            Unmanaged<LatePages>.fromOpaque(owner).takeUnretainedValue(),
            sheet.load(fromByteOffset: 8, as: Int.self) &+ offset / 8)
    }

    /// Returns the tagged address of a record.
    @inline(__always) static func tagged(_ record: UnsafeMutableRawPointer) -> UInt {
        UInt(bitPattern: record) | tag
    }
}
