// A page of a state that is read when it is first touched.
//
// Where a state would have the address of a page it has that of a record, with the lowest bit set. The record leads to the
// page, or to who reads it:
//
//   0    the address of the page; 0 until its part has been read
//   8    who reads it
//   16   the number of its part
//
// Invariants: a record's page is set once, or again if the part could not be read the first time.
// Threads: any; records are read through an atomic.

import Synchronization

/// What stands in a state for a page that is read late.
enum LatePage {
    static let recordBytes = 32
    private static let tag: UInt = 1

    /// Whether an address in a state stands for such a page.
    @inline(__always) static func isTagged(_ address: UInt) -> Bool { address & tag != 0 }

    /// The page that a tagged address stands for.
    @inline(__always) static func page(_ tagged: UInt) -> Page {
        let known = loadedPage(tagged)
        return known.isNone ? loadPage(tagged) : known
    }

    /// The same if its part was loaded; else none.
    @inline(__always) static func loadedPage(_ tagged: UInt) -> Page {
        Page(address: cell(tagged).pointee.load(ordering: .acquiring))
    }

    @inline(__always) private static func cell(_ tagged: UInt) -> UnsafePointer<Atomic<UInt>> {
        guard let record = UnsafeRawPointer(bitPattern: tagged & ~tag) else {
            preconditionFailure("what is tagged is an address")
        }
        return record.assumingMemoryBound(to: Atomic<UInt>.self)
    }

    @inline(never) private static func loadPage(_ tagged: UInt) -> Page {
        let cell = cell(tagged)
        let record = UnsafeRawPointer(cell)
        let owner = record.load(fromByteOffset: 8, as: UInt.self)
        guard let pointer = UnsafeRawPointer(bitPattern: owner) else {
            preconditionFailure("a record has an owner")
        }
        Unmanaged<LatePages>.fromOpaque(pointer).takeUnretainedValue()
            .load(Int(record.load(fromByteOffset: 16, as: UInt32.self)))
        return Page(address: cell.pointee.load(ordering: .acquiring))
    }

    // MARK: Records

    /// Makes a record; gives the address that stands for its page.
    static func makeRecord(
        _ memory: UnsafeMutableRawPointer, of owner: LatePages, part: Int
    ) -> UInt {
        memory.bindMemory(to: Atomic<UInt>.self, capacity: 1).initialize(to: Atomic(0))
        let address = UInt(bitPattern: Unmanaged.passUnretained(owner).toOpaque())
        memory.storeBytes(of: address, toByteOffset: 8, as: UInt.self)
        memory.storeBytes(of: UInt32(part), toByteOffset: 16, as: UInt32.self)
        return UInt(bitPattern: memory) | tag
    }

    /// Says which page a record leads to.
    static func set(_ page: Page, of record: UnsafeMutableRawPointer) {
        record.assumingMemoryBound(to: Atomic<UInt>.self)
            .pointee.store(page.address, ordering: .releasing)
    }
}
