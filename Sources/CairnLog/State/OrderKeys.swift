// The keys that order the members of a list.
//
// A key is a 64-bit number next to the reference that makes a row a member. The position of a row without a
// key follows from its number: its key is that number times 2^31. A list filled in the order of creation
// therefore has no keys at all.
//
//   1. Of the rows that are not written anyway, the longest sequence already in order keeps its keys.
//   2. Rows between two of these get keys between theirs, with equal gaps; at the end, keys below those of
//      all future numbers, so that new rows need none.
//   3. If a gap has no room, the smallest range of keys around it that is sparse enough is respaced. Ranges
//      begin and end at multiples of their length, and the longer one is, the sparser it must be: so n
//      insertions at any positions write O(n log n) rows.
//
// Invariants: keys of one list differ, and all are below those of future numbers.
// Threads: functions of values only.

/// Computes order keys.
package enum OrderKeys {
    /// The distance between the keys of two neighbors that have no explicit keys.
    static let gap: Int64 = 1 << 31

    /// Returns the key of a row without an explicit key; `number` is its own number, as a member or a pair.
    @inline(__always) package static func key(of number: UInt32) -> Int64 { Int64(number) << 31 }

    /// Returns the largest number whose implicit key is not greater than a key; nil if there is none.
    static func number(_ key: Int64) -> UInt32? { key < 0 ? nil : UInt32(key >> 31) }

    /// A row of a list.
    struct Place {
        /// Its stored key.
        var key: Int64
        /// Whether the row is written in any case.
        var isWritten: Bool
    }

    /// Returns the keys that must change for rows to be in the given order.
    ///
    /// - Parameter limit: the key of the next number.
    static func assign(_ places: [Place], below limit: Int64) -> [(position: Int, key: Int64)] {
        guard places.indices.dropFirst().contains(where: { places[$0 - 1].key >= places[$0].key })
        else { return [] }
        var spacing = Spacing(
            keys: places.map(\.key), isKept: longestRise(places), limit: limit)
        var start = 0
        while start < places.count {
            if spacing.isKept[start] {
                start += 1
                continue
            }
            var end = start
            while end < places.count, !spacing.isKept[end] { end += 1 }
            let isFree = places[start..<end].allSatisfy(\.isWritten)
            start = isFree && spacing.isInOrder(start..<end) ? end : spacing.settle(start..<end)
        }
        return places.indices.compactMap { position in
            spacing.keys[position] == places[position].key
                ? nil : (position, spacing.keys[position])
        }
    }

    /// Returns the longest sequence of rows that are not written anyway and whose keys ascend.
    private static func longestRise(_ places: [Place]) -> [Bool] {
        // By length: the row with the smallest key that ends such a sequence.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: places.count)
        for position in places.indices where !places[position].isWritten {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if places[ends[middle]].key < places[position].key {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            previous[position] = low > 0 ? ends[low - 1] : -1
            if low < ends.count { ends[low] = position } else { ends.append(position) }
        }
        var isKept = [Bool](repeating: false, count: places.count)
        var position = ends.last ?? -1
        while position >= 0 {
            isKept[position] = true
            position = previous[position]
        }
        return isKept
    }

    /// The assignment of keys in progress.
    private struct Spacing {
        var keys: [Int64]
        /// Rows that keep their position, so far.
        var isKept: [Bool]
        let limit: Int64

        /// Whether rows between two kept ones are already in order.
        func isInOrder(_ run: Range<Int>) -> Bool {
            var last = run.lowerBound > 0 ? keys[run.lowerBound - 1] : nil
            for position in run {
                if let last, keys[position] <= last { return false }
                last = keys[position]
            }
            guard run.upperBound < keys.count, let last else { return true }
            return last < keys[run.upperBound]
        }

        /// Assigns keys to rows between two kept ones; returns the end of the settled rows.
        mutating func settle(_ run: Range<Int>) -> Int {
            let count = UInt64(run.count)
            let low = run.lowerBound > 0 ? keys[run.lowerBound - 1] : nil
            let high = run.upperBound < keys.count ? keys[run.upperBound] : nil
            switch (low, high) {
            case (let low?, let high?):
                let step = UInt64(bitPattern: high &- low) / (count + 1)
                guard step > 0 else { return widen(run) }
                fill(run, from: low, step: Int64(step))
            case (let low?, nil):
                guard limit > low, UInt64(bitPattern: limit &- low) > count else {
                    return widen(run)
                }
                // A small part of the room at a time: much may be appended before there is a new number.
                let share = UInt64(bitPattern: limit &- low) / max(count + 1, 1024)
                fill(run, from: low, step: Int64(min(max(share, 1), UInt64(OrderKeys.gap))))
            case (nil, let high?):
                let step = min(
                    UInt64(bitPattern: high &- Int64.min) / (count + 1), UInt64(OrderKeys.gap))
                guard step > 0 else { return widen(run) }
                fill(run, from: high - Int64(step) * Int64(count + 1), step: Int64(step))
            case (nil, nil): fill(run, from: 0, step: OrderKeys.gap)
            }
            return run.upperBound
        }

        private mutating func fill(_ run: Range<Int>, from low: Int64, step: Int64) {
            var key = low
            for position in run {
                key &+= step
                keys[position] = key
                isKept[position] = true
            }
        }

        /// Respaces a range of keys that has room for rows between two kept ones.
        private mutating func widen(_ run: Range<Int>) -> Int {
            let center = run.lowerBound > 0 ? keys[run.lowerBound - 1] : keys[run.upperBound]
            for bits in 1...62 {
                let first = center & ~((1 << Int64(bits)) - 1)
                let last = first + ((1 << Int64(bits)) - 1)
                var window = run
                while window.lowerBound > 0, keys[window.lowerBound - 1] >= first {
                    window = window.lowerBound - 1..<window.upperBound
                }
                var next = window.upperBound
                while next < keys.count, !isKept[next] || keys[next] <= last {
                    next += 1
                    if isKept[next - 1] { window = window.lowerBound..<next }
                }
                let end = window.upperBound == keys.count ? min(last, limit - 1) : last
                guard end > first else { continue }
                let room = UInt64(bitPattern: end &- first)
                let step = room / UInt64(window.count + 1)
                guard step > 0, window.count <= Self.most(in: room) else { continue }
                fill(window, from: first, step: Int64(step))
                return window.upperBound
            }
            fill(0..<keys.count, from: 0, step: OrderKeys.gap)
            return keys.count
        }

        /// Returns the maximum number of rows in a range of keys: (4/3) to the power of its bits.
        private static func most(in room: UInt64) -> Int {
            var most = 1.0
            for _ in 0..<(63 - room.leadingZeroBitCount) { most *= 4.0 / 3.0 }
            return Int(most)
        }
    }
}
