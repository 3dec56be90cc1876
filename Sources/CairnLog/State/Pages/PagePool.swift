// Raw pages for the state of a store: no objects, no reference counts, no zeroing unless requested.
//
// Pages are cut from slabs of 1 MiB, in four sizes, on demand. The sixteen bytes before a page's data contain
// the commit that allocated it (its birth) and its size, so that the size of the data stays a power of two.
//
// Invariants: a page is either free here, or owned by one commit or state; birth and size are set when a
// commit starts to use it.
// Threads: any; one lock. A commit takes pages in handfuls.

import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A page of raw memory, or none.
struct Page: Equatable, Sendable {
    let address: UInt

    /// No page.
    static let none = Page(address: 0)

    /// The size of the header before the data, in bytes.
    static let headerSize = 16

    @inline(__always) var isNone: Bool { address == 0 }

    /// The page's bytes.
    @inline(__always) var data: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
    }

    /// The commit that allocated the page.
    @inline(__always) var birth: UInt64 {
        get { (data - Page.headerSize).load(as: UInt64.self) }
        nonmutating set { (data - Page.headerSize).storeBytes(of: newValue, as: UInt64.self) }
    }

    /// The page's size.
    @inline(__always) var size: PageSize {
        get { PageSize(rawValue: (data - 8).load(as: UInt8.self)).unsafelyUnwrapped }
        nonmutating set { (data - 8).storeBytes(of: newValue.rawValue, as: UInt8.self) }
    }
}

/// The sizes of pages.
enum PageSize: UInt8, CaseIterable {
    /// 128 bytes: the live rows of a block.
    case small
    /// 512 bytes: 64 slots of a hash table.
    case medium
    /// 4,096 bytes: cells of an array.
    case large
    /// 1,024 bytes: a node of an ordered index.
    case node

    @inline(__always) var bytes: Int {
        switch self {
        case .small: 128
        case .medium: 512
        case .large: 4096
        case .node: 1024
        }
    }
}

/// Issues pages and takes them back.
package final class PagePool: Sendable {
    /// The pages of one size.
    private struct Shelf {
        /// Pages that were returned.
        var free: [UInt] = []
        /// The part of the newest slab that was never issued: untouched memory costs nothing.
        var fresh: UInt = 0
        var freshCount = 0
    }

    private struct Contents {
        var shelves: [Shelf] = PageSize.allCases.map { _ in Shelf() }
        var slabs: [UInt] = []
        var bytesInUse = 0
    }

    private static let slabBytes = 1 << 20
    private let contents = Mutex(Contents())

    package init() {}

    deinit {
        contents.withLock { contents in
            for slab in contents.slabs { UnsafeMutableRawPointer(bitPattern: slab)?.deallocate() }
        }
    }

    /// The size of all issued pages in bytes.
    var bytesInUse: Int { contents.withLock { $0.bytesInUse } }

    /// Adds `count` pages of a size to the end of `pages`. They are not touched.
    ///
    /// - Parameter asksForMemory: whether the memory of fresh pages is populated, as all of them will be
    ///   used.
    func take(
        _ size: PageSize, _ count: Int, into pages: inout [UInt], asksForMemory: Bool = false
    ) {
        contents.withLock { contents in
            let index = Int(size.rawValue)
            let used = min(count, contents.shelves[index].free.count)
            pages.append(contentsOf: contents.shelves[index].free.suffix(used))
            contents.shelves[index].free.removeLast(used)
            if asksForMemory, used < count {
                let bytes = (count - used) * (size.bytes + Page.headerSize)
                let room = contents.shelves[index].freshCount * (size.bytes + Page.headerSize)
                Self.askForMemory(contents.shelves[index].fresh, min(bytes, room))
            }
            for _ in used..<count {
                if contents.shelves[index].freshCount == 0 { Self.addSlab(size, &contents) }
                pages.append(contents.shelves[index].fresh)
                contents.shelves[index].fresh += UInt(size.bytes + Page.headerSize)
                contents.shelves[index].freshCount -= 1
            }
            contents.bytesInUse += count * size.bytes
        }
    }

    /// Takes back pages that are no longer reachable.
    func give(_ pages: some Sequence<UInt>) {
        contents.withLock { contents in
            for address in pages {
                let size = Page(address: address).size
                contents.shelves[Int(size.rawValue)].free.append(address)
                contents.bytesInUse -= size.bytes
            }
        }
    }

    /// Takes back a list of pages.
    func give(_ pages: [Page]) {
        contents.withLock { contents in
            for page in pages {
                let size = page.size
                contents.shelves[Int(size.rawValue)].free.append(page.address)
                contents.bytesInUse -= size.bytes
            }
        }
    }

    /// Takes back pages that form chains through their first eight bytes, each of one size, and the never
    /// used pages of a list.
    func give(
        chains small: Page, _ medium: Page, _ large: Page, _ node: Page,
        and untouched: UntouchedPages, of list: [UInt]
    ) {
        contents.withLock { contents in
            Self.add(list, untouched[.small], .small, &contents)
            Self.add(list, untouched[.medium], .medium, &contents)
            Self.add(list, untouched[.large], .large, &contents)
            Self.add(list, untouched[.node], .node, &contents)
            Self.add(chain: small, .small, &contents)
            Self.add(chain: medium, .medium, &contents)
            Self.add(chain: large, .large, &contents)
            Self.add(chain: node, .node, &contents)
        }
    }

    /// Takes back a part of a list.
    @inline(__always)
    private static func add(
        _ list: [UInt], _ range: Range<Int>, _ size: PageSize, _ contents: inout Contents
    ) {
        for index in range { contents.shelves[Int(size.rawValue)].free.append(list[index]) }
        contents.bytesInUse -= range.count * size.bytes
    }

    private static func add(chain first: Page, _ size: PageSize, _ contents: inout Contents) {
        var page = first
        while !page.isNone {
            // Before the page can be issued again.
            let next = Page(address: page.data.load(as: UInt.self))
            contents.shelves[Int(size.rawValue)].free.append(page.address)
            contents.bytesInUse -= size.bytes
            page = next
        }
    }

    /// A hint to populate memory: correctness does not depend on it.
    private static func askForMemory(_ start: UInt, _ bytes: Int) {
        #if canImport(Glibc) || canImport(Musl)
            let page: UInt = 4096
            // The memory around the first byte was touched with the previous page.
            let first = (start + page - 1) & ~(page - 1)
            let end = (start + UInt(bytes)) & ~(page - 1)
            guard end > first + page else { return }
            // MADV_POPULATE_WRITE, since Linux 5.14.
            _ = madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), 23)
        #endif
    }

    private static func addSlab(_ size: PageSize, _ contents: inout Contents) {
        let slab = UnsafeMutableRawPointer.allocate(byteCount: slabBytes, alignment: 64)
        contents.slabs.append(UInt(bitPattern: slab))
        let index = Int(size.rawValue)
        contents.shelves[index].fresh = UInt(bitPattern: slab + Page.headerSize)
        contents.shelves[index].freshCount = slabBytes / (size.bytes + Page.headerSize)
    }
}
