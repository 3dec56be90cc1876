// Raw pages for the state of a store: no object, no reference count, no zeroing unless asked for.
//
// Pages are cut from slabs of 1 MiB, in three sizes. Sixteen bytes before a page's data say the commit that
// allocated it (its birth) and its size, so that the data themselves stay a power of two.
//
// Invariants: a page is either free here, or owned by one commit or state; birth is set when it is handed out.
// Threads: any; one lock. A commit takes pages in handfuls.

import Synchronization

/// A page of raw memory, or none.
struct Page: Equatable, Sendable {
    let address: UInt

    /// No page.
    static let none = Page(address: 0)

    /// Bytes before the data.
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
    /// 128 bytes: which rows of a block live.
    case small
    /// 512 bytes: 64 slots of a hash table.
    case medium
    /// 4,096 bytes: cells of an array.
    case large

    @inline(__always) var bytes: Int {
        switch self {
        case .small: 128
        case .medium: 512
        case .large: 4096
        }
    }
}

/// Hands out pages and takes them back.
final class PagePool: Sendable {
    private struct Contents {
        var free: [[UInt]] = PageSize.allCases.map { _ in [] }
        var slabs: [UInt] = []
        var bytesInUse = 0
    }

    private static let slabBytes = 1 << 20
    private let contents = Mutex(Contents())

    init() {}

    deinit {
        contents.withLock { contents in
            for slab in contents.slabs { UnsafeMutableRawPointer(bitPattern: slab)?.deallocate() }
        }
    }

    /// Bytes of the pages that somebody has.
    var bytesInUse: Int { contents.withLock { $0.bytesInUse } }

    /// Moves up to `count` pages of a size to the end of `pages`; at least one.
    func take(_ size: PageSize, _ count: Int, into pages: inout [UInt]) {
        contents.withLock { contents in
            let index = Int(size.rawValue)
            if contents.free[index].isEmpty { Self.cut(size, &contents) }
            let taken = min(count, contents.free[index].count)
            pages.append(contentsOf: contents.free[index].suffix(taken))
            contents.free[index].removeLast(taken)
            contents.bytesInUse += taken * size.bytes
        }
    }

    /// Takes pages back that nobody can reach any more.
    func give(_ pages: some Sequence<UInt>) {
        contents.withLock { contents in
            for address in pages {
                let size = Page(address: address).size
                contents.free[Int(size.rawValue)].append(address)
                contents.bytesInUse -= size.bytes
            }
        }
    }

    private static func cut(_ size: PageSize, _ contents: inout Contents) {
        let slab = UnsafeMutableRawPointer.allocate(byteCount: slabBytes, alignment: 64)
        contents.slabs.append(UInt(bitPattern: slab))
        let stride = size.bytes + Page.headerSize
        var offset = Page.headerSize
        while offset + size.bytes <= slabBytes {
            let page = Page(address: UInt(bitPattern: slab + offset))
            page.size = size
            contents.free[Int(size.rawValue)].append(page.address)
            offset += stride
        }
    }
}
