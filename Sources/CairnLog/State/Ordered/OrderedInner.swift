// An inner node of an ordered index: children, their numbers of entries, and the separators between them.
//
//   header  count 2 | start of the separators 2 | zero 4
//   slot    page address 8 | entries below 4 | separator: offset 2, length 1 | zero 1
//
// Separators are at the end of the page, from the back to the front. All entries below a child are at least
// its separator and less than the next one; the first child's is empty. A separator is as short as possible.
//
// Invariants: at least one child; separators are strictly ascending.
// Threads: a value; see `PageTransaction`.

import CCairn

/// An inner node of an ordered index.
struct OrderedInner {
    let page: Page

    private static let headerBytes = 8
    private static let slotBytes = 16

    @inline(__always) init(_ page: Page) { self.page = page }

    @inline(__always) var count: Int {
        get { Int(page.data.load(as: UInt16.self)) }
        nonmutating set {
            page.data.storeBytes(of: UInt16(truncatingIfNeeded: newValue), as: UInt16.self)
        }
    }

    /// The start of the separators.
    @inline(__always) private var start: Int {
        get { Int(page.data.load(fromByteOffset: 2, as: UInt16.self)) }
        nonmutating set {
            page.data.storeBytes(
                of: UInt16(truncatingIfNeeded: newValue), toByteOffset: 2, as: UInt16.self)
        }
    }

    @inline(__always) private func slot(_ index: Int) -> UnsafeMutableRawPointer {
        page.data + (Self.headerBytes &+ index &* Self.slotBytes)
    }

    /// Returns the page of a child.
    @inline(__always) func child(_ index: Int) -> Page {
        let address = slot(index).load(as: UInt.self)
        return LatePage.isTagged(address)
            ? LatePage.page(address) : Page(address: address)
    }

    /// Returns the page of a child, or its placeholder as long as it is in a checkpoint.
    @inline(__always) func unreadChild(_ index: Int) -> Page {
        Page(address: slot(index).load(as: UInt.self))
    }

    /// Returns the number of entries below a child.
    @inline(__always) func entries(_ index: Int) -> Int {
        Int(slot(index).load(fromByteOffset: 8, as: UInt32.self))
    }

    /// Returns the lower bound of the entries below a child; empty for the first.
    @inline(__always) func separator(_ index: Int) -> UnsafeRawBufferPointer {
        let slot = slot(index)
        let offset = Int(slot.load(fromByteOffset: 12, as: UInt16.self))
        return UnsafeRawBufferPointer(
            start: page.data + offset, count: Int(slot.load(fromByteOffset: 14, as: UInt8.self)))
    }

    /// The size of its children in bytes.
    var used: Int {
        Self.headerBytes + count * Self.slotBytes + PageSize.node.bytes - start
    }

    /// Returns the size of a child in bytes.
    static func bytes(separator: Int) -> Int { slotBytes + separator }

    /// The size available for children in bytes.
    static var room: Int { PageSize.node.bytes - headerBytes }

    /// Creates a node without children.
    static func make(in pages: inout PageTransaction) -> OrderedInner {
        let node = OrderedInner(pages.allocate(.node))
        node.page.data.storeBytes(of: UInt64(0), as: UInt64.self)
        node.start = PageSize.node.bytes
        return node
    }

    /// Appends a child; there must be room.
    func append(_ child: Page, entries: Int, separator: UnsafeRawBufferPointer) {
        let index = count
        let offset = start &- separator.count
        let slot = slot(index)
        slot.storeBytes(of: child.address, as: UInt.self)
        slot.storeBytes(
            of: UInt32(truncatingIfNeeded: entries), toByteOffset: 8, as: UInt32.self)
        slot.storeBytes(of: UInt16(truncatingIfNeeded: offset), toByteOffset: 12, as: UInt16.self)
        slot.storeBytes(
            of: UInt16(truncatingIfNeeded: separator.count), toByteOffset: 14, as: UInt16.self)
        if let base = separator.baseAddress {
            (page.data + offset).copyMemory(from: base, byteCount: separator.count)
        }
        start = offset
        count = index &+ 1
    }

    /// Replaces a child by another page with another number of entries; the node must belong to this commit.
    @inline(__always)
    func replace(_ index: Int, with child: Page, entries: Int) {
        let slot = slot(index)
        slot.storeBytes(of: child.address, as: UInt.self)
        slot.storeBytes(
            of: UInt32(truncatingIfNeeded: entries), toByteOffset: 8, as: UInt32.self)
    }

    // MARK: Searching

    /// Whether some bytes are less than a separator.
    @inline(__always)
    private func isLess(_ wanted: UnsafeRawBufferPointer, than index: Int) -> Bool {
        let separator = separator(index)
        let common = min(wanted.count, separator.count)
        if common > 0, let a = wanted.baseAddress, let b = separator.baseAddress {
            let order = cairn_compare(a, b, common)
            if order != 0 { return order < 0 }
        }
        return wanted.count < separator.count
    }

    /// Returns the child below which some bytes belong.
    @inline(__always)
    func index(of wanted: UnsafeRawBufferPointer) -> Int {
        var low = 1
        var high = count
        while low < high {
            let middle = (low &+ high) &>> 1
            if isLess(wanted, than: middle) { high = middle } else { low = middle &+ 1 }
        }
        return low &- 1
    }

    /// Returns the number of entries below the children before a given one.
    @inline(__always)
    func entries(before index: Int) -> Int {
        var sum = 0
        for other in 0..<index { sum &+= entries(other) }
        return sum
    }
}
