// Runs of bytes one after the other in one piece of memory, and their order.
//
// Sorting looks at one word of each at a time: the 8 bytes behind what all have in common, as a number whose order is
// theirs. What has the same word is sorted by what is behind it. So a run is looked at as often as it has words that are
// needed, and not as often as it is compared.
//
// Threads: one reading.

import CCairn

/// Runs of bytes by position.
final class ByteRuns {
    private var bytes: UnsafeMutableRawPointer
    private var room = 4096
    /// Where each run ends; the first begins at the first of them, 0.
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

    /// Fetches where a run is into the processor's cache.
    @inline(__always)
    func prefetchEnd(_ index: Int) { cairn_prefetch(ends + index) }

    /// Fetches a run into the processor's cache.
    @inline(__always)
    func prefetch(_ index: Int) { cairn_prefetch(bytes + ends[index]) }

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
        if count + 1 == most {
            let memory = UnsafeMutablePointer<Int>.allocate(capacity: most * 2)
            memory.initialize(from: ends, count: most)
            ends.deallocate()
            ends = memory
            most *= 2
        }
        count += 1
        ends[count] = start + run.count
    }

    // MARK: Order

    /// A run that is sorted.
    private struct Key: BitwiseCopyable {
        let index: UInt32
        /// How many bytes are left where the word begins, 9 for more than it holds. Of two runs with the same word the one
        /// that ends in it is the beginning of the other.
        var rest: UInt32
        var word: UInt64
    }

    private typealias Keys = UnsafeMutableBufferPointer<Key>

    /// Sorts the runs at some positions by their bytes.
    ///
    /// - Complexity: what sorting words takes, for each word of a run that others share.
    func sort(_ positions: inout [UInt32]) {
        var keys = positions.map { Key(index: $0, rest: 0, word: 0) }
        keys.withUnsafeMutableBufferPointer { keys in
            // Parts that are still to be sorted, and how many bytes all in one have in common.
            var parts = [(range: 0..<keys.count, prefix: 0)]
            while let part = parts.popLast() {
                var keys = Keys(rebasing: keys[part.range])
                if keys.count <= 8 {
                    sortFew(keys)
                    continue
                }
                let prefix = load(keys, behind: part.prefix)
                keys.sort { $0.word != $1.word ? $0.word < $1.word : $0.rest < $1.rest }
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

    /// Each run's place among all that differ.
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

    private func sortFew(_ keys: Keys) {
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

    /// Gives keys their words, and says behind how many bytes.
    private func load(_ keys: Keys, behind known: Int) -> Int {
        let prefix = commonPrefix(keys, known)
        for place in keys.indices {
            let ahead = place + 16
            if ahead < keys.count { prefetch(Int(keys[ahead].index)) }
            let run = self[Int(keys[place].index)]
            keys[place].rest = UInt32(min(run.count &- prefix, 9))
            keys[place].word = Self.word(run, behind: prefix)
        }
        return prefix
    }

    /// How many bytes all of some runs begin with, of which some are known.
    private func commonPrefix(_ keys: Keys, _ known: Int) -> Int {
        let first = self[Int(keys[0].index)]
        var common = first.count
        for place in 1..<keys.count {
            if common <= known { return known }
            let ahead = place + 16
            if ahead < keys.count { prefetch(Int(keys[ahead].index)) }
            let run = self[Int(keys[place].index)]
            common = min(common, run.count)
            var same = known
            while same < common, run[same] == first[same] { same += 1 }
            common = same
        }
        return common
    }

    /// The 8 bytes of a run behind so many, as a number whose order is theirs; what is missing counts as zeros.
    @inline(__always)
    private static func word(_ run: UnsafeRawBufferPointer, behind prefix: Int) -> UInt64 {
        let count = run.count &- prefix
        if count >= 8 {
            return UInt64(bigEndian: run.loadUnaligned(fromByteOffset: prefix, as: UInt64.self))
        }
        var word: UInt64 = 0
        for place in 0..<count {
            word |= UInt64(run[prefix &+ place]) &<< UInt64(56 &- 8 &* place)
        }
        return word
    }
}
