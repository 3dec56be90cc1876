// Applies sorted changes to the leaves of an ordered index: see `OrderedStep`.

import CCairn

extension OrderedStep {
    /// Applies changes to a leaf, or to none.
    mutating func changeLeaf(
        _ page: Page, isLast: Bool, limit: Int? = nil, in pages: inout PageTransaction
    ) {
        let limit = limit ?? end
        var leaf: OrderedLeaf?
        if !page.isNone {
            let own = OrderedLeaf(pages.writable(page))
            leaf = own
            while next < limit, limit - next <= Self.few {
                let entry = entry(next)
                let outcome = isInsert(next) ? own.insert(entry) : own.remove(entry)
                if case .full = outcome { break }
                if case .wrong = outcome { wrongCount += 1 } else { count(next) }
                next += 1
            }
            if next == limit {
                if own.count == 0 {
                    pages.release(own.page)
                } else {
                    results.append(Child(page: own.page, entries: own.count, offset: 0, length: 0))
                }
                return
            }
        }
        var list = LeafEntries()
        merge(leaf, limit, into: &list)
        if let leaf { pages.release(leaf.page) }
        cut(list, isAppended: isLast && list.isAppended, in: &pages)
    }

    private mutating func count(_ index: Int) { balance += isInsert(index) ? 1 : -1 }

    /// Complete entries in their order.
    private struct LeafEntries {
        var bytes: [UInt8] = []
        var ends: [Int] = [0]
        /// The number of bytes that each shares with the previous one.
        var shared: [UInt8] = []
        /// Whether all new entries come after all existing ones.
        var isAppended = true
        /// The size that they take in a leaf, in bytes.
        var size = 0

        mutating func append(_ entry: UnsafeRawBufferPointer) {
            let count = shared.count
            var common = 0
            if count > 0 {
                let first = ends[count - 1]
                let most = min(ends[count] - first, entry.count)
                while common < most, bytes[first + common] == entry[common] { common += 1 }
            }
            bytes.append(contentsOf: entry)
            ends.append(bytes.count)
            shared.append(UInt8(truncatingIfNeeded: common))
            size += 2 + entry.count - common
        }
    }

    /// Merges the remaining changes with a leaf's entries.
    private mutating func merge(_ leaf: OrderedLeaf?, _ limit: Int, into list: inout LeafEntries) {
        list.bytes.reserveCapacity(2048)
        withUnsafeTemporaryAllocation(byteCount: OrderedLeaf.longestEntry, alignment: 8) { memory in
            guard let buffer = memory.baseAddress else { return }
            if let leaf {
                var reader = OrderedLeaf.Reader(leaf)
                while reader.next(into: buffer) {
                    let old = UnsafeRawBufferPointer(start: buffer, count: reader.length)
                    var isKept = true
                    while next < limit {
                        let entry = entry(next)
                        if isLess(entry, old) {
                            list.isAppended = false
                            put(entry, into: &list)
                        } else if !isLess(old, entry) {
                            // The entry exists: it may be removed, and cannot be inserted again.
                            if isInsert(next) || !isKept {
                                wrongCount += 1
                            } else {
                                isKept = false
                                count(next)
                            }
                        } else {
                            break
                        }
                        next += 1
                    }
                    if isKept { list.append(old) }
                }
            }
            while next < limit {
                put(entry(next), into: &list)
                next += 1
            }
        }
    }

    /// Adds an entry that a leaf does not have, if the change is an insertion and has not just been applied.
    private mutating func put(_ entry: UnsafeRawBufferPointer, into list: inout LeafEntries) {
        let isTwice = next > 0 && changes != nil && !isLess(self.entry(next - 1), entry)
        if !isInsert(next) || (isTwice && isInsert(next - 1)) {
            wrongCount += 1
            return
        }
        list.append(entry)
        count(next)
    }

    /// Writes entries as leaves.
    private mutating func cut(
        _ list: LeafEntries, isAppended: Bool, in pages: inout PageTransaction
    ) {
        let count = list.shared.count
        let room = OrderedLeaf.capacity - OrderedLeaf.headerBytes
        let share: Int
        if list.size <= room || isAppended {
            share = room
        } else {
            // Room for future entries between them.
            let wanted = room * 15 / 16
            let leaves = max(2, (list.size + wanted - 1) / wanted)
            share = (list.size + leaves - 1) / leaves
        }
        list.bytes.withUnsafeBytes { bytes in
            var index = 0
            while index < count {
                let leaf = OrderedLeaf.make(in: &pages)
                let first = index
                var used = 0
                while index < count {
                    let length = list.ends[index + 1] - list.ends[index]
                    let shared = index == first ? 0 : Int(list.shared[index])
                    let more = 2 + length - shared
                    if used > 0, used + more > room || used >= share { break }
                    leaf.append(
                        UnsafeRawBufferPointer(
                            rebasing: bytes[list.ends[index]..<list.ends[index + 1]]),
                        shared: shared)
                    used += more
                    index += 1
                }
                // The bytes that it shares with the previous entry, and one more, separate the two.
                let offset = arena.count
                let length = first == 0 ? 0 : Int(list.shared[first]) + 1
                let start = list.ends[first]
                arena.append(contentsOf: bytes[start..<start + length])
                results.append(
                    Child(page: leaf.page, entries: index - first, offset: offset, length: length))
            }
        }
    }
}
