// Consecutive byte strings in one piece of memory, and their order.
//
// Sorting examines one word of each at a time: the 8 bytes after the prefix that all share, as a number with
// the same order. Runs with equal words are sorted by what follows. So a run is read once for each word that
// is needed, and not once for each comparison. Large numbers of words are sorted byte by byte, by the bytes
// in which they differ.
//
// Threads: one reading.

import CCairn

/// Byte ranges by position.
final class ByteRuns {
    private var bytes: UnsafeMutableRawPointer
    private var room = 4096
    /// The end of each run; the first run begins at the first of them, 0.
    private var ends: UnsafeMutablePointer<Int>
    private var most = 64
    private(set) var count = 0

    init() {
        bytes = .allocate(byteCount: room, alignment: 16)
        ends = .allocate(capacity: most)
        ends[0] = 0
    }

    deinit {
        bytes.deallocate()
        ends.deallocate()
    }

    @inline(__always)
    subscript(_ index: Int) -> UnsafeRawBufferPointer {
        let start = ends[index]
        return UnsafeRawBufferPointer(start: bytes + start, count: ends[index &+ 1] &- start)
    }

    /// Prefetches the end of a run into the processor's cache.
    @inline(__always)
    func prefetchEnd(_ index: Int) { cairn_prefetch(ends + index) }

    /// Prefetches a run into the processor's cache.
    @inline(__always)
    func prefetch(_ index: Int) { cairn_prefetch(bytes + ends[index]) }

    /// Makes room for the ends of the given number of runs.
    func reserve(_ runs: Int) {
        if runs < most { return }
        let memory = UnsafeMutablePointer<Int>.allocate(capacity: runs + 1)
        memory.initialize(from: ends, count: count + 1)
        ends.deallocate()
        ends = memory
        most = runs + 1
    }

    func append(_ run: UnsafeRawBufferPointer) {
        let start = ends[count]
        if start + run.count > room {
            let more = max(room * 2, start + run.count)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: more, alignment: 16)
            memory.copyMemory(from: bytes, byteCount: start)
            bytes.deallocate()
            bytes = memory
            room = more
        }
        if let base = run.baseAddress {
            (bytes + start).copyMemory(from: base, byteCount: run.count)
        }
        if count + 1 == most { reserve(most * 2 - 1) }
        count += 1
        ends[count] = start + run.count
    }

    // MARK: Order

    /// A run to be sorted.
    private struct Key: BitwiseCopyable {
        let index: UInt32
        /// The number of bytes left where the word begins, 9 for more than it holds. Of two runs with the
        /// same word, the one that ends in it is a prefix of the other.
        var rest: UInt32
        var word: UInt64
    }

    private typealias Keys = UnsafeMutableBufferPointer<Key>

    /// Sorts the runs at some positions by their bytes.
    ///
    /// - Complexity: that of sorting words, for each word of a run that others share.
    func sort(_ positions: inout [UInt32]) {
        var keys = positions.map { Key(index: $0, rest: 0, word: 0) }
        keys.withUnsafeMutableBufferPointer { keys in
            // Parts that are still to be sorted, and the number of bytes that all runs in one share.
            var parts = [(range: 0..<keys.count, prefix: 0)]
            while let part = parts.popLast() {
                var keys = Keys(rebasing: keys[part.range])
                if keys.count <= 8 {
                    sortFew(keys)
                    continue
                }
                let prefix = load(keys, behind: part.prefix)
                if keys.count < Self.many {
                    keys.sort { $0.word != $1.word ? $0.word < $1.word : $0.rest < $1.rest }
                } else {
                    Self.sortMany(keys)
                }
                var start = 0
                for place in 1...keys.count {
                    if place < keys.count, keys[place].word == keys[start].word,
                        keys[place].rest == keys[start].rest
                    {
                        continue
                    }
                    if keys[start].rest > 8, place - start > 1 {
                        let first = part.range.lowerBound
                        parts.append((first + start..<first + place, prefix + 8))
                    }
                    start = place
                }
            }
            for (place, key) in keys.enumerated() { positions[place] = key.index }
        }
    }

    /// Returns each run's rank among all distinct runs.
    func ranks() -> [UInt32] {
        var order = (0..<UInt32(count)).map { $0 }
        sort(&order)
        var ranks = [UInt32](repeating: 0, count: count)
        for place in order.indices.dropFirst() {
            let (before, this) = (Int(order[place - 1]), Int(order[place]))
            ranks[this] = ranks[before] + (compareCells(self[before], self[this]) == 0 ? 0 : 1)
        }
        return ranks
    }

    /// The minimum number of words for the byte-by-byte sort.
    private static let many = 512

    /// Sorts by words, then by the bytes left: one pass for each byte that differs, the last byte first.
    private static func sortMany(_ keys: Keys) {
        var (differs, rests): (UInt64, UInt32) = (0, 0)
        for key in keys {
            differs |= key.word ^ keys[0].word
            rests |= key.rest ^ keys[0].rest
        }
        withUnsafeTemporaryAllocation(of: Key.self, capacity: keys.count) { spare in
            var (from, to) = (keys, spare)
            func pass(_ byte: (Key) -> Int) {
                withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
                    places.initialize(repeating: 0)
                    for key in from { places[byte(key)] &+= 1 }
                    var start = 0
                    for byte in places.indices {
                        (places[byte], start) = (start, start &+ places[byte])
                    }
                    for key in from {
                        let byte = byte(key)
                        to[places[byte]] = key
                        places[byte] &+= 1
                    }
                }
                swap(&from, &to)
            }
            if rests > 0 { pass { Int($0.rest) } }
            for shift in stride(from: UInt64(0), to: 64, by: 8) where differs >> shift & 0xFF > 0 {
                pass { Int(truncatingIfNeeded: $0.word &>> shift & 0xFF) }
            }
            if from.baseAddress != keys.baseAddress { _ = keys.update(from: from) }
        }
    }

    private func sortFew(_ keys: Keys) {
        for key in keys { prefetch(Int(key.index)) }
        for end in keys.indices.dropFirst() {
            let key = keys[end]
            var place = end
            while place > 0,
                compareCells(self[Int(key.index)], self[Int(keys[place - 1].index)]) < 0
            {
                keys[place] = keys[place - 1]
                place -= 1
            }
            keys[place] = key
        }
    }

    /// Loads the keys' words after the prefix that all share, part of which is known; returns the prefix's
    /// length.
    private func load(_ keys: Keys, behind known: Int) -> Int {
        var prefix = known
        while true {
            var (differs, least): (UInt64, Int) = (0, 9)
            for place in keys.indices {
                let (ahead, further) = (place &+ 16, place &+ 32)
                if further < keys.count {
                    prefetchEnd(Int(keys[further].index))
                    prefetch(Int(keys[ahead].index))
                }
                let run = self[Int(keys[place].index)]
                let rest = min(run.count &- prefix, 9)
                least = min(least, rest)
                keys[place].rest = UInt32(truncatingIfNeeded: rest)
                keys[place].word = OrderedWord.of(run, behind: prefix)
                differs |= keys[place].word ^ keys[0].word
            }
            if differs != 0 || least < 9 { return prefix }
            prefix += 8
        }
    }
}
