// A leaf of an ordered index: entries in order, each without the prefix that it shares with the previous one.
//
//   header  count 2 | bytes in use 2, header included | zero 4
//   entry   shared 1 | rest 1 | the bytes after the shared ones
//
// An entry is the bytes of a key followed by the object's number, big-endian, so that entries are compared as
// bytes and a value that a million rows share costs three bytes per row: only the end of the number differs.
//
// A search reads the entries from the front. It depends on how many bytes the wanted entry shares with the
// previous one: an entry that shares more with the previous one is on the same side of the wanted one, an
// entry that shares less is larger; only if both numbers are equal are bytes compared.
//
// Invariants: entries are strictly ascending; `shared` is the full length that an entry shares with the
// previous one, 0 in the first; no entry is a prefix of another, since encodings of keys are not.
// Threads: a value; see `PageTransaction`.

import CCairn

/// A leaf of an ordered index.
struct OrderedLeaf {
    let page: Page

    static let headerBytes = 8
    /// The maximum length of an entry.
    static let longestEntry = IndexKey.longest + 4
    static var capacity: Int { PageSize.node.bytes }

    @inline(__always) init(_ page: Page) { self.page = page }

    /// Creates an empty leaf.
    static func make(in pages: inout PageTransaction) -> OrderedLeaf {
        let leaf = OrderedLeaf(pages.allocate(.node))
        leaf.page.data.storeBytes(of: UInt64(0), as: UInt64.self)
        leaf.used = headerBytes
        return leaf
    }

    @inline(__always) var count: Int {
        get { Int(page.data.load(as: UInt16.self)) }
        nonmutating set {
            page.data.storeBytes(of: UInt16(truncatingIfNeeded: newValue), as: UInt16.self)
        }
    }

    /// The number of bytes in use, including the header.
    @inline(__always) var used: Int {
        get { Int(page.data.load(fromByteOffset: 2, as: UInt16.self)) }
        nonmutating set {
            page.data.storeBytes(
                of: UInt16(truncatingIfNeeded: newValue), toByteOffset: 2, as: UInt16.self)
        }
    }

    @inline(__always) private func byte(_ offset: Int) -> Int {
        Int(page.data.load(fromByteOffset: offset, as: UInt8.self))
    }

    @inline(__always) private func set(_ offset: Int, _ value: Int) {
        page.data.storeBytes(
            of: UInt8(truncatingIfNeeded: value), toByteOffset: offset, as: UInt8.self)
    }

    // MARK: Searching

    /// The position of a wanted entry, or where it would be.
    struct Position {
        /// The number of smaller entries.
        var rank: Int
        /// The offset of the first entry that is not smaller; the end of the bytes in use if there is none.
        var offset: Int
        /// The number of bytes that the wanted entry shares with the previous one, and with the one found.
        var sharedBefore: Int
        var sharedHere: Int
        /// Whether the entry found begins with all of the wanted bytes.
        var isEqual: Bool
    }

    /// Finds the first entry that is not smaller than some bytes.
    func find(_ wanted: UnsafeRawBufferPointer) -> Position {
        let count = count
        let length = wanted.count
        var offset = Self.headerBytes
        var matched = 0
        var rank = 0
        while rank < count {
            let shared = byte(offset)
            let rest = byte(offset &+ 1)
            if shared < matched {
                return Position(
                    rank: rank, offset: offset, sharedBefore: matched, sharedHere: shared,
                    isEqual: false)
            }
            if shared == matched {
                let here = page.data + (offset &+ 2)
                var agreed = 0
                let most = min(rest, length &- matched)
                while agreed < most,
                    here.load(fromByteOffset: agreed, as: UInt8.self) == wanted[matched &+ agreed]
                { agreed &+= 1 }
                let reached = matched &+ agreed
                if reached == length {
                    return Position(
                        rank: rank, offset: offset, sharedBefore: matched, sharedHere: reached,
                        isEqual: true)
                }
                // An entry that ends before the wanted bytes do is a prefix of them: smaller.
                if agreed < rest,
                    here.load(fromByteOffset: agreed, as: UInt8.self) > wanted[reached]
                {
                    return Position(
                        rank: rank, offset: offset, sharedBefore: matched, sharedHere: reached,
                        isEqual: false)
                }
                matched = reached
            }
            offset &+= 2 &+ rest
            rank &+= 1
        }
        return Position(
            rank: rank, offset: offset, sharedBefore: matched, sharedHere: 0, isEqual: false)
    }

    // MARK: Changing in place

    /// The outcome of a change.
    enum Outcome {
        case done
        /// The leaf has no space for it.
        case full
        /// The entry exists already, or does not exist.
        case wrong
    }

    /// Inserts an entry into a leaf of this commit.
    func insert(_ entry: UnsafeRawBufferPointer) -> Outcome {
        let at = find(entry)
        if at.isEqual { return .wrong }
        let used = used
        let isLast = at.offset == used
        let added = entry.count &- at.sharedBefore
        // The next entry shares more with the new one than with the previous one.
        let saved = isLast ? 0 : at.sharedHere &- byte(at.offset)
        let growth = 2 &+ added &- saved
        guard used &+ growth <= Self.capacity else { return .full }
        let place = page.data + at.offset
        if !isLast {
            let rest = byte(at.offset &+ 1)
            let tail = at.offset &+ 2 &+ saved
            let target = at.offset &+ 2 &+ added &+ 2
            (page.data + target).copyMemory(from: page.data + tail, byteCount: used &- tail)
            set(target &- 2, at.sharedHere)
            set(target &- 1, rest &- saved)
        }
        place.storeBytes(of: UInt8(truncatingIfNeeded: at.sharedBefore), as: UInt8.self)
        place.storeBytes(of: UInt8(truncatingIfNeeded: added), toByteOffset: 1, as: UInt8.self)
        if let base = entry.baseAddress {
            (place + 2).copyMemory(from: base + at.sharedBefore, byteCount: added)
        }
        self.used = used &+ growth
        count &+= 1
        return .done
    }

    /// Removes an entry from a leaf of this commit.
    func remove(_ entry: UnsafeRawBufferPointer) -> Outcome {
        let at = find(entry)
        guard at.isEqual else { return .wrong }
        let shared = byte(at.offset)
        let rest = byte(at.offset &+ 1)
        guard shared &+ rest == entry.count else { return .wrong }
        let used = used
        let next = at.offset &+ 2 &+ rest
        if next == used {
            self.used = at.offset
        } else {
            let nextShared = byte(next)
            // Bytes that the next entry shared only with this one become its own.
            let own = max(0, nextShared &- shared)
            let nextRest = byte(next &+ 1)
            if own == 0 {
                (page.data + at.offset).copyMemory(
                    from: page.data + next, byteCount: used &- next)
                self.used = used &- (2 &+ rest)
            } else {
                set(at.offset &+ 1, nextRest &+ own)
                let target = at.offset &+ 2 &+ own
                (page.data + target).copyMemory(
                    from: page.data + (next &+ 2), byteCount: used &- next &- 2)
                self.used = used &- (2 &+ rest &- own)
            }
        }
        count &-= 1
        return .done
    }

    /// Appends an entry that shares some bytes with the last one; there must be room.
    @inline(__always)
    func append(_ entry: UnsafeRawBufferPointer, shared: Int) {
        let used = used
        let rest = entry.count &- shared
        let place = page.data + used
        place.storeBytes(of: UInt8(truncatingIfNeeded: shared), as: UInt8.self)
        place.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: 1, as: UInt8.self)
        if let base = entry.baseAddress {
            (place + 2).copyMemory(from: base + shared, byteCount: rest)
        }
        self.used = used &+ 2 &+ rest
        count &+= 1
    }

    // MARK: Reading

    /// Iterates over the entries of a leaf and completes them.
    struct Reader {
        private let base: UnsafeMutableRawPointer
        private let end: Int
        private var offset: Int
        /// The length of the current entry.
        private(set) var length = 0

        @inline(__always)
        init(_ leaf: OrderedLeaf) {
            base = leaf.page.data
            end = leaf.used
            offset = OrderedLeaf.headerBytes
        }

        /// Reads the next entry into a buffer that contains the previous one; false if there is none.
        @inline(__always)
        mutating func next(into buffer: UnsafeMutableRawPointer) -> Bool {
            guard offset < end else { return false }
            let shared = Int(base.load(fromByteOffset: offset, as: UInt8.self))
            let rest = Int(base.load(fromByteOffset: offset &+ 1, as: UInt8.self))
            (buffer + shared).copyMemory(from: base + (offset &+ 2), byteCount: rest)
            length = shared &+ rest
            offset &+= 2 &+ rest
            return true
        }
    }

    /// Reads all complete entries, contiguously, and the end of each.
    func readEntries(into bytes: inout [UInt8], _ ends: inout [Int]) {
        ends.removeAll(keepingCapacity: true)
        ends.reserveCapacity(count)
        let used = used
        var offset = Self.headerBytes
        var total = 0
        while offset < used {
            let rest = byte(offset &+ 1)
            total &+= byte(offset) &+ rest
            ends.append(total)
            offset &+= 2 &+ rest
        }
        bytes = [UInt8](unsafeUninitializedCapacity: total) { buffer, count in
            guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
            var offset = Self.headerBytes
            var (before, start) = (0, 0)
            while offset < used {
                let (shared, rest) = (byte(offset), byte(offset &+ 1))
                (base + start).copyMemory(from: base + before, byteCount: shared)
                (base + start + shared).copyMemory(
                    from: page.data + (offset &+ 2), byteCount: rest)
                before = start
                start &+= shared &+ rest
                offset &+= 2 &+ rest
            }
            count = start
        }
    }

    // MARK: Checking

    /// Whether bytes from a file are a leaf.
    static func isLeaf(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= headerBytes, bytes.count <= capacity else { return false }
        let count = Int(bytes.loadUnaligned(as: UInt16.self))
        guard Int(bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) == bytes.count,
            count > 0
        else { return false }
        var offset = headerBytes
        var before = 0
        var found = 0
        while offset < bytes.count {
            guard offset + 2 <= bytes.count else { return false }
            let (shared, rest) = (Int(bytes[offset]), Int(bytes[offset + 1]))
            guard shared <= before, rest > 0, shared + rest <= longestEntry, shared + rest >= 5,
                offset + 2 + rest <= bytes.count
            else { return false }
            before = shared + rest
            offset += 2 + rest
            found += 1
        }
        return found == count
    }
}
