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
// Invariants: a record's page is set once, or again if the part could not be read the first time.
// Threads: any; records are read through an atomic.

import Synchronization

/// The placeholder for a page that is read later.
enum LatePage {
    private static let tag: UInt = 1

    /// Whether an address in a state is a placeholder for such a page.
    @inline(__always) static func isTagged(_ address: UInt) -> Bool { address & tag != 0 }

    /// Returns the page for a tagged address.
    @inline(__always) static func page(_ tagged: UInt) -> Page {
        let known = loadedPage(tagged)
        return known.isNone ? loadPage(tagged) : known
    }

    /// Returns the page for a tagged address if its part was loaded; none otherwise.
    @inline(__always) static func loadedPage(_ tagged: UInt) -> Page {
        Page(address: cell(tagged).pointee.load(ordering: .acquiring))
    }

    @inline(__always) private static func cell(_ tagged: UInt) -> UnsafePointer<Atomic<UInt>> {
        guard let record = UnsafeRawPointer(bitPattern: tagged & ~tag) else {
            preconditionFailure("a tagged word is an address")
        }
        return record.assumingMemoryBound(to: Atomic<UInt>.self)
    }

    @inline(never) private static func loadPage(_ tagged: UInt) -> Page {
        let start = tagged & ~UInt(LateRecords.sheetBytes - 1)
        guard let sheet = UnsafeRawPointer(bitPattern: start),
            let owner = UnsafeRawPointer(bitPattern: sheet.load(as: UInt.self))
        else { preconditionFailure("the sheet of a record has an owner") }
        let offset = Int(tagged & ~tag &- start) &- LateRecords.firstOffset
        Unmanaged<LatePages>.fromOpaque(owner).takeUnretainedValue()
            .load(record: sheet.load(fromByteOffset: 8, as: Int.self) &+ offset / 8)
        return Page(address: cell(tagged).pointee.load(ordering: .acquiring))
    }

    /// Returns the tagged address of a record.
    @inline(__always) static func tagged(_ record: UnsafeMutableRawPointer) -> UInt {
        UInt(bitPattern: record) | tag
    }
}
