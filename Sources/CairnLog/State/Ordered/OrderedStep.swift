// Applies sorted changes to an ordered index from the top down.
//
//   1. An inner node divides the changes among its children by its separators, and receives the result for
//      each child: the same node with other content, several, or none.
//   2. A leaf with a few changes is changed in place. A leaf with many, or without room, is merged with them
//      into a list, and split into leaves: two of one size, more that are nearly full; full ones if all new
//      entries come after the existing ones, as with numbers, dates and bulk loads.
//   3. A node whose children changed is rewritten; at the same time, small neighbors are merged.
//
// The result for a node is a list of children, whose separators are in an arena.
//
// Threads: one owner.

import CCairn

/// A list of changes that is being applied to a tree.
struct OrderedStep {
    /// A node and its slot in the node above.
    struct Child {
        var page: Page
        var entries: Int
        /// Its separator, in the arena.
        var offset: Int
        var length: Int
    }

    let changes: IndexChanges.Slice?
    private let single: UnsafeRawBufferPointer
    private let isInsert: Bool
    /// The next change.
    var next = 0
    let end: Int
    var wrongCount = 0
    /// The change in the number of entries.
    var balance = 0
    var arena: [UInt8]
    var results: [Child] = []

    /// A leaf with fewer bytes is merged with a neighbor, if both together are not too large for one.
    private static let small = 320
    private static let merged = 900
    /// More changes than these are merged with a leaf at once.
    static let few = 6

    init(_ changes: IndexChanges.Slice) {
        self.changes = changes
        single = UnsafeRawBufferPointer(start: nil, count: 0)
        isInsert = false
        end = changes.count
        arena = []
    }

    init(_ entry: UnsafeRawBufferPointer, isInsert: Bool) {
        changes = nil
        single = entry
        self.isInsert = isInsert
        end = 1
        arena = []
    }

    /// No changes: to restore a tree from leaves. `arena` contains their separators.
    init(arena: [UInt8]) {
        changes = nil
        single = UnsafeRawBufferPointer(start: nil, count: 0)
        isInsert = false
        end = 0
        self.arena = arena
    }

    var isEmpty: Bool { end == 0 }

    @inline(__always)
    func entry(_ index: Int) -> UnsafeRawBufferPointer {
        if let changes { return changes.entry(index) }
        return single
    }

    @inline(__always)
    func isInsert(_ index: Int) -> Bool { changes?.isInsert(index) ?? isInsert }

    mutating func takeResults() -> [Child] {
        let taken = results
        results = []
        return taken
    }

    // MARK: Inner nodes

    /// Applies the changes from the next one up to a bound: those below a node. Appends the resulting nodes
    /// to the results.
    ///
    /// - Parameters:
    ///   - limit: the index of the first change that does not belong here; nil: all do.
    ///   - isLast: whether no node follows.
    mutating func change(
        _ page: Page, height: Int, isLast: Bool, limit: Int? = nil,
        in pages: inout PageTransaction
    ) {
        let limit = limit ?? end
        guard height > 0 else {
            return changeLeaf(page, isLast: isLast, limit: limit, in: &pages)
        }
        let node = OrderedInner(pages.writable(page))
        let outer = results
        var isOther = false
        /// The results for children that are not a single node, by index.
        var others: [(index: Int, children: [Child])] = []
        var sum = 0
        while next < limit {
            let index = node.index(of: entry(next))
            let last = index == node.count - 1
            let stop = last ? limit : self.limit(from: next, to: limit, before: node, index + 1)
            results = []
            change(
                node.child(index), height: height - 1, isLast: isLast && last, limit: stop,
                in: &pages)
            if results.count == 1 {
                node.replace(index, with: results[0].page, entries: results[0].entries)
                if height == 1, OrderedLeaf(results[0].page).used < Self.small { isOther = true }
            } else {
                others.append((index, results))
                isOther = true
            }
        }
        results = outer
        guard isOther else {
            for index in 0..<node.count { sum += node.entries(index) }
            results.append(Child(page: node.page, entries: sum, offset: 0, length: 0))
            return
        }
        var children = gather(node, others)
        pages.release(node.page)
        join(&children, height: height, in: &pages)
        pack(children, in: &pages)
    }

    /// Returns the first change, up to a limit, that does not come before a child.
    private func limit(from: Int, to: Int, before node: OrderedInner, _ index: Int) -> Int {
        let separator = node.separator(index)
        var low = from + 1
        // Most often one, or a few: therefore growing steps first, then a binary search.
        var step = 1
        while low + step <= to, isLess(entry(low + step - 1), separator) {
            low += step
            step *= 2
        }
        var high = min(low + step, to)
        while low < high {
            let middle = (low + high) / 2
            if isLess(entry(middle), separator) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func isLess(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let common = min(left.count, right.count)
        if common > 0, let a = left.baseAddress, let b = right.baseAddress {
            let order = cairn_compare(a, b, common)
            if order != 0 { return order < 0 }
        }
        return left.count < right.count
    }

    /// Returns the children of a node, with the results for some of them.
    private mutating func gather(
        _ node: OrderedInner, _ others: [(index: Int, children: [Child])]
    ) -> [Child] {
        var children: [Child] = []
        var position = 0
        for index in 0..<node.count {
            let separator = node.separator(index)
            let offset = arena.count
            arena.append(contentsOf: separator)
            if position < others.count, others[position].index == index {
                for (place, child) in others[position].children.enumerated() {
                    var child = child
                    // The first replaces the previous one.
                    if place == 0 { (child.offset, child.length) = (offset, separator.count) }
                    children.append(child)
                }
                position += 1
            } else {
                children.append(
                    Child(
                        page: node.unreadChild(index), entries: node.entries(index), offset: offset,
                        length: separator.count))
            }
        }
        return children
    }

    /// Merges neighbors of which one is small, where possible.
    private mutating func join(
        _ children: inout [Child], height: Int, in pages: inout PageTransaction
    ) {
        func used(_ child: Child) -> Int {
            // Pages that are still in a checkpoint are not read for this.
            if LatePage.isTagged(child.page.address) { return PageSize.node.bytes }
            return height == 1 ? OrderedLeaf(child.page).used : OrderedInner(child.page).used
        }
        var index = 0
        while index + 1 < children.count {
            let (one, other) = (children[index], children[index + 1])
            let (here, there) = (used(one), used(other))
            guard min(here, there) < Self.small,
                here + there + (height == 1 ? 0 : other.length) <= Self.merged
            else {
                index += 1
                continue
            }
            children[index].entries += other.entries
            children[index].page =
                height == 1
                ? joined(OrderedLeaf(one.page), OrderedLeaf(other.page), in: &pages)
                : joined(OrderedInner(one.page), OrderedInner(other.page), other, in: &pages)
            pages.release(one.page)
            pages.release(other.page)
            children.remove(at: index + 1)
        }
    }

    private func joined(
        _ one: OrderedInner, _ other: OrderedInner, _ child: Child,
        in pages: inout PageTransaction
    ) -> Page {
        let node = OrderedInner.make(in: &pages)
        for index in 0..<one.count {
            node.append(
                one.unreadChild(index), entries: one.entries(index), separator: one.separator(index)
            )
        }
        for index in 0..<other.count {
            if index == 0 {
                // The first child of the other has the separator of its node.
                arena.withUnsafeBytes { arena in
                    node.append(
                        other.unreadChild(0), entries: other.entries(0),
                        separator: UnsafeRawBufferPointer(
                            rebasing: arena[child.offset..<child.offset + child.length]))
                }
            } else {
                node.append(
                    other.unreadChild(index), entries: other.entries(index),
                    separator: other.separator(index))
            }
        }
        return node.page
    }

    private func joined(
        _ one: OrderedLeaf, _ other: OrderedLeaf, in pages: inout PageTransaction
    ) -> Page {
        let leaf = OrderedLeaf.make(in: &pages)
        withUnsafeTemporaryAllocation(byteCount: 2 * OrderedLeaf.longestEntry, alignment: 8) {
            memory in
            guard let entry = memory.baseAddress else { return }
            let before = entry + OrderedLeaf.longestEntry
            var length = 0
            for source in [one, other] {
                var reader = OrderedLeaf.Reader(source)
                while reader.next(into: entry) {
                    let shared = Self.shared(before, length, entry, reader.length)
                    leaf.append(
                        UnsafeRawBufferPointer(start: entry, count: reader.length), shared: shared)
                    before.copyMemory(from: entry, byteCount: reader.length)
                    length = reader.length
                }
            }
        }
        return leaf.page
    }

    @inline(__always)
    private static func shared(
        _ left: UnsafeRawPointer, _ leftLength: Int, _ right: UnsafeRawPointer, _ rightLength: Int
    ) -> Int {
        let most = min(leftLength, rightLength)
        var shared = 0
        while shared < most,
            left.load(fromByteOffset: shared, as: UInt8.self)
                == right.load(fromByteOffset: shared, as: UInt8.self)
        { shared &+= 1 }
        return shared
    }

    /// Writes children as nodes of about equal size, which become the results.
    mutating func pack(_ children: [Child], in pages: inout PageTransaction) {
        if children.isEmpty { return }
        let total = children.reduce(0) { $0 + OrderedInner.bytes(separator: $1.length) }
        let nodes = (total + OrderedInner.room - 1) / OrderedInner.room
        // A node may get one child more than its share, but never more than fits.
        let share = nodes == 1 ? OrderedInner.room : (total + nodes - 1) / nodes
        var index = 0
        while index < children.count {
            let node = OrderedInner.make(in: &pages)
            let first = children[index]
            var bytes = 0
            var entries = 0
            while index < children.count {
                let child = children[index]
                let length = bytes == 0 ? 0 : child.length
                let more = OrderedInner.bytes(separator: length)
                if bytes > 0, bytes + more > OrderedInner.room || bytes >= share { break }
                arena.withUnsafeBytes { arena in
                    node.append(
                        child.page, entries: child.entries,
                        separator: UnsafeRawBufferPointer(
                            rebasing: arena[child.offset..<child.offset + length]))
                }
                bytes += more
                entries += child.entries
                index += 1
            }
            results.append(
                Child(
                    page: node.page, entries: entries, offset: first.offset, length: first.length))
        }
    }
}
