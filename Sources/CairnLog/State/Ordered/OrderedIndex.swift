// Keys in order, each with the number of its object: a B+-tree over copy-on-write pages.
//
// Nodes are pages of 1 KiB. A leaf has entries (see `OrderedLeaf`), an inner node its children with the
// number of entries below each (see `OrderedInner`), so that the rank of a key costs one descent, and the
// count of a range, from two ranks, costs two. An entry is the bytes of a key (see `IndexKey`) followed by
// the object's number, big-endian: entries with one key are in the order of their numbers.
//
// Changes are a sorted list (see `IndexChanges`) and descend the tree together: a node that many of them
// affect is copied once. Applied to an empty tree, a list builds it from full leaves.
//
// Keys are truncated at 64 bytes: a caller that must know the order of the rest, or whether two truncated
// keys are equal, reads the rows.
//
// Invariants: IX1: one entry for each live row of the indexed entities. The counts in inner nodes are those
// of the leaves. Only the commit that allocated a page changes it in place (ST1).
// Threads: a value; see `PageTransaction`. What reads it keeps the state that it is of.

import CCairn

/// The objects in the order of a key.
struct OrderedIndex: Sendable {
    private(set) var root = Page.none
    /// The number of levels above the leaves.
    private(set) var height = 0
    /// The number of entries.
    private(set) var count = 0

    // MARK: Asking

    /// Returns the number of entries less than some bytes: those of an entry, a key, or a prefix of keys.
    func rank(_ bytes: UnsafeRawBufferPointer) -> Int {
        if root.isNone { return 0 }
        var page = root
        var rank = 0
        for _ in 0..<height {
            let node = OrderedInner(page)
            let index = node.index(of: bytes)
            rank &+= node.entries(before: index)
            page = node.child(index)
        }
        return rank &+ OrderedLeaf(page).find(bytes).rank
    }

    /// The size of its pages in bytes. Nodes above the leaves are in memory.
    var byteCount: Int { root.isNone ? 0 : Self.pageCount(root, height) * PageSize.node.bytes }

    private static func pageCount(_ page: Page, _ height: Int) -> Int {
        if height == 0 { return 1 }
        let node = OrderedInner(page)
        if height == 1 { return 1 + node.count }
        return (0..<node.count).reduce(1) { $0 + pageCount(node.child($1), height - 1) }
    }

    /// Returns the number of entries that begin with some bytes.
    func count(prefix bytes: UnsafeRawBufferPointer) -> Int {
        if bytes.isEmpty { return count }
        return withUnsafeTemporaryAllocation(
            byteCount: bytes.count, alignment: 1
        ) { end in
            end.copyMemory(from: bytes)
            let length = IndexKey.raise(end)
            let above =
                length > 0 ? rank(UnsafeRawBufferPointer(rebasing: end[..<length])) : count
            return above - rank(bytes)
        }
    }

    /// Returns the leaf that contains the entry of a rank, and the number of its entries before that; nil if
    /// the rank is out of range.
    func leaf(rank: Int) -> (leaf: OrderedLeaf, position: Int)? {
        guard rank >= 0, rank < count else { return nil }
        var page = root
        var left = rank
        for _ in 0..<height {
            let node = OrderedInner(page)
            var index = 0
            while index < node.count - 1, left >= node.entries(index) {
                left -= node.entries(index)
                index += 1
            }
            page = node.child(index)
        }
        return (OrderedLeaf(page), left)
    }

    /// Calls the body with each leaf that has entries of some ranks, and the range of these entries in the
    /// leaf, in order, until it returns false.
    func forEachLeaf(ranks: Range<Int>, _ body: (OrderedLeaf, Range<Int>) -> Bool) {
        let ranks = ranks.clamped(to: 0..<count)
        if ranks.isEmpty { return }
        _ = Self.forEachLeaf(root, height, ranks, body)
    }

    private static func forEachLeaf(
        _ page: Page, _ height: Int, _ ranks: Range<Int>, _ body: (OrderedLeaf, Range<Int>) -> Bool
    ) -> Bool {
        if height == 0 { return body(OrderedLeaf(page), ranks) }
        let node = OrderedInner(page)
        var start = 0
        for index in 0..<node.count {
            if start >= ranks.upperBound { break }
            let end = start &+ node.entries(index)
            if end > ranks.lowerBound {
                let part = max(ranks.lowerBound, start) - start..<min(ranks.upperBound, end) - start
                if !forEachLeaf(node.child(index), height - 1, part, body) { return false }
            }
            start = end
        }
        return true
    }

    /// Whether it has the same entries as another index.
    func isEqual(to other: OrderedIndex) -> Bool {
        guard count == other.count else { return false }
        var here = OrderedCursor(self, ranks: 0..<count)
        var there = OrderedCursor(other, ranks: 0..<count)
        while let number = here.next() {
            guard there.next() == number, here.key == there.key else { return false }
        }
        return true
    }

    /// Calls the body with each leaf and its separator, in order.
    func forEachLeaf<E: Error>(
        _ body: (OrderedLeaf, UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        if root.isNone { return }
        try Self.forEachLeaf(root, height, UnsafeRawBufferPointer(start: nil, count: 0), body)
    }

    private static func forEachLeaf<E: Error>(
        _ page: Page, _ height: Int, _ separator: UnsafeRawBufferPointer,
        _ body: (OrderedLeaf, UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        if height == 0 { return try body(OrderedLeaf(page), separator) }
        let node = OrderedInner(page)
        for index in 0..<node.count {
            try forEachLeaf(
                node.child(index), height - 1, index == 0 ? separator : node.separator(index), body)
        }
    }

    /// A tree over leaves from a checkpoint, or their placeholders. There is an inner node even above a
    /// single leaf, so that a placeholder is always in a page.
    init(restoring leaves: [UInt], _ outline: OrderedOutline, in pages: inout PageTransaction) {
        if leaves.isEmpty { return }
        var step = OrderedStep(arena: outline.bytes)
        var nodes = leaves.enumerated().map { index, address in
            let separator = outline.range(index)
            return OrderedStep.Child(
                page: Page(address: address), entries: outline.entries(index),
                offset: separator.lowerBound, length: separator.count)
        }
        repeat {
            step.pack(nodes, in: &pages)
            nodes = step.takeResults()
            height += 1
        } while nodes.count > 1
        root = nodes[0].page
        count = outline.total
    }

    // MARK: Changing

    /// Removes and inserts entries. Returns the number of contradictions: insertions of existing entries, and
    /// removals of missing ones.
    mutating func apply(_ changes: IndexChanges, in pages: inout PageTransaction) -> Int {
        var step = OrderedStep(changes.all)
        apply(&step, in: &pages)
        return step.wrongCount
    }

    /// Inserts one entry; false if it exists.
    mutating func insert(_ entry: UnsafeRawBufferPointer, in pages: inout PageTransaction) -> Bool {
        var step = OrderedStep(entry, isInsert: true)
        apply(&step, in: &pages)
        return step.wrongCount == 0
    }

    /// Removes one entry; false if it does not exist.
    mutating func remove(_ entry: UnsafeRawBufferPointer, in pages: inout PageTransaction) -> Bool {
        var step = OrderedStep(entry, isInsert: false)
        apply(&step, in: &pages)
        return step.wrongCount == 0
    }

    private mutating func apply(_ step: inout OrderedStep, in pages: inout PageTransaction) {
        if step.isEmpty { return }
        if root.isNone {
            step.changeLeaf(.none, isLast: true, in: &pages)
        } else {
            step.change(root, height: height, isLast: true, in: &pages)
        }
        grow(step.takeResults(), &step, in: &pages)
        count &+= step.balance
    }

    /// Creates nodes above those that a change left, until there is a single one.
    private mutating func grow(
        _ results: [OrderedStep.Child], _ step: inout OrderedStep, in pages: inout PageTransaction
    ) {
        guard !results.isEmpty else {
            root = .none
            height = 0
            return
        }
        var nodes = results
        while nodes.count > 1 {
            step.pack(nodes, in: &pages)
            nodes = step.takeResults()
            height += 1
        }
        root = nodes[0].page
        while height > 0, OrderedInner(root).count == 1 {
            let only = OrderedInner(root).child(0)
            pages.release(root)
            root = only
            height -= 1
        }
    }

    init() {}

    /// Releases all pages.
    mutating func removeAll(in pages: inout PageTransaction) {
        if !root.isNone { Self.release(root, height, in: &pages) }
        self = OrderedIndex()
    }

    private static func release(_ page: Page, _ height: Int, in pages: inout PageTransaction) {
        if height > 0 {
            let node = OrderedInner(page)
            for index in 0..<node.count { release(node.child(index), height - 1, in: &pages) }
        }
        pages.release(page)
    }

    // MARK: Checking

    /// Returns the problems of the tree, a sentence each.
    func _checkInvariants() -> [String] {
        var problems: [String] = []
        var before: [UInt8] = []
        let found = root.isNone ? 0 : check(root, height, [], nil, &before, &problems)
        if found != count { problems.append("the leaves have \(found) entries, not \(count)") }
        return problems
    }

    private func check(
        _ page: Page, _ height: Int, _ low: [UInt8], _ high: [UInt8]?, _ before: inout [UInt8],
        _ problems: inout [String]
    ) -> Int {
        if page.size != .node { problems.append("a page of an ordered index is not a node") }
        guard height == 0 else {
            let node = OrderedInner(page)
            var sum = 0
            if node.count == 0 || node.used > PageSize.node.bytes {
                problems.append("an inner node has \(node.count) children in \(node.used) bytes")
            }
            for index in 0..<node.count {
                let from = index == 0 ? low : Array(node.separator(index))
                let to = index + 1 < node.count ? Array(node.separator(index + 1)) : high
                if node.child(index).birth > page.birth {
                    problems.append("a node is younger than the one above it")
                }
                let found = check(node.child(index), height - 1, from, to, &before, &problems)
                if found != node.entries(index) {
                    problems.append("below a child are \(found), not \(node.entries(index))")
                }
                sum += found
            }
            return sum
        }
        let leaf = OrderedLeaf(page)
        let bytes = UnsafeRawBufferPointer(start: page.data, count: leaf.used)
        if !OrderedLeaf.isLeaf(bytes) { problems.append("a leaf page does not hold a leaf") }
        var reader = OrderedLeaf.Reader(leaf)
        var buffer = [UInt8](repeating: 0, count: OrderedLeaf.longestEntry)
        var isFirst = true
        while buffer.withUnsafeMutableBytes({ memory in
            memory.baseAddress.map { reader.next(into: $0) } ?? false
        }) {
            let entry = Array(buffer[..<reader.length])
            if !before.isEmpty, !before.lexicographicallyPrecedes(entry) {
                problems.append("entries do not rise")
            }
            if entry.lexicographicallyPrecedes(low)
                || high.map({ !entry.lexicographicallyPrecedes($0) }) ?? false
            {
                problems.append("an entry is not within the separators of its leaf")
            }
            isFirst = false
            before = entry
        }
        if isFirst { problems.append("a leaf is empty") }
        return leaf.count
    }
}
