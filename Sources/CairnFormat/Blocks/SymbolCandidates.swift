// The candidates for symbols, and the choice of those that cover the most bytes.                 Format 50.16
//
//   1. While a sample is coded, codes and pairs of codes are counted. Pairs that occur are also kept in a
//      list, since few of all possible ones do.
//   2. Each code, and each pair that occurs twice, joined, is a candidate. A hash table merges those with the
//      same bytes.
//   3. A heap returns them by gain: of several thousand, hardly more than the best 255 are needed.
//
// Threads: belongs to one training.

struct SymbolCandidates: ~Copyable {
    private struct Candidate {
        var symbol = Symbol(bytes: 0, length: 0)
        var count = 0
        var gain: Int { count * symbol.length * (symbol.length == 1 ? 8 : 1) }
    }

    private static let slots = 8192
    /// Single bytes, then symbols.
    private static let codes = 512

    private let counts: UnsafeMutablePointer<UInt32>
    private let pairs: UnsafeMutablePointer<UInt16>
    /// The pairs that occurred.
    private let seen: UnsafeMutablePointer<Int32>
    private var seenCount = 0
    private let table: UnsafeMutablePointer<Candidate>
    /// A heap: a candidate's gain, and in the low bits its slot in the table.
    private let ranks: UnsafeMutablePointer<UInt64>
    private var rankCount = 0

    /// - Parameter most: the maximum number of bytes that are coded before the counts are gathered.
    init(counting most: Int) {
        counts = .allocate(capacity: Self.codes)
        pairs = .allocate(capacity: Self.codes * Self.codes)
        // A code of two or more bytes makes two pairs.
        seen = .allocate(capacity: most)
        table = .allocate(capacity: Self.slots)
        ranks = .allocate(capacity: Self.slots)
        counts.initialize(repeating: 0, count: Self.codes)
        pairs.initialize(repeating: 0, count: Self.codes * Self.codes)
        table.initialize(repeating: Candidate(), count: Self.slots)
    }

    deinit {
        counts.deallocate()
        pairs.deallocate()
        seen.deallocate()
        table.deallocate()
        ranks.deallocate()
    }

    /// Counts a code, and its pair with the code before; -1: there is none.
    ///
    /// - Parameter first: the first byte of a symbol; it is counted as well, so that it can become a symbol
    ///   itself.
    @inline(__always)
    mutating func count(_ code: Int, first: Int, after before: Int) {
        counts[code] &+= 1
        if code != first { counts[first] &+= 1 }
        if before >= 0 {
            countPair(before << 9 | code)
            if code != first { countPair(before << 9 | first) }
        }
    }

    @inline(__always)
    private mutating func countPair(_ pair: Int) {
        let known = pairs[pair]
        if known == 0 {
            seen[seenCount] = Int32(truncatingIfNeeded: pair)
            seenCount &+= 1
        }
        pairs[pair] = known == .max ? .max : known &+ 1
    }

    /// Turns the counts into candidates, and clears them.
    ///
    /// - Parameters:
    ///   - symbols: the symbols of the codes from 256 on.
    ///   - times: the ratio of all data to the counted sample, to omit symbols that save less than they take;
    ///     nil: omit none.
    mutating func gather(_ symbols: UnsafeBufferPointer<Symbol>, times: Int?) {
        func symbol(_ code: Int) -> Symbol {
            code < 256 ? Symbol(bytes: UInt64(code), length: 1) : symbols[code - 256]
        }
        rankCount = 0
        for code in 0..<256 + symbols.count where counts[code] > 0 {
            note(symbol(code), Int(counts[code]))
        }
        for index in 0..<seenCount {
            let pair = Int(seen[index])
            let count = Int(pairs[pair])
            pairs[pair] = 0
            let first = symbol(pair >> 9)
            if count == 1 || first.length == SymbolTable.longest { continue }
            note(first.followed(by: symbol(pair & 511)), count)
        }
        counts.update(repeating: 0, count: Self.codes)
        seenCount = 0
        var kept = 0
        for index in 0..<rankCount {
            let slot = Int(ranks[index])
            let candidate = table[slot]
            if let times {
                let saved = candidate.count * times * max(1, candidate.symbol.length - 1)
                if saved <= candidate.symbol.length + 2 {
                    table[slot].count = 0
                    continue
                }
            }
            // Of two with equal gain, the one in the earlier slot ranks higher.
            ranks[kept] = UInt64(candidate.gain) << 13 | UInt64(Self.slots - 1 - slot)
            kept += 1
        }
        rankCount = kept
        for root in stride(from: rankCount / 2 - 1, through: 0, by: -1) { sink(root) }
    }

    /// Returns and removes the remaining candidate with the largest gain; nil if there is none.
    mutating func next() -> Symbol? {
        guard rankCount > 0 else { return nil }
        let slot = Self.slots - 1 - Int(ranks[0] & UInt64(Self.slots - 1))
        rankCount -= 1
        ranks[0] = ranks[rankCount]
        sink(0)
        table[slot].count = 0
        return table[slot].symbol
    }

    /// Drops the remaining candidates.
    mutating func drop() {
        for index in 0..<rankCount {
            table[Self.slots - 1 - Int(ranks[index] & UInt64(Self.slots - 1))].count = 0
        }
        rankCount = 0
    }

    private func sink(_ start: Int) {
        var root = start
        let rank = ranks[root]
        while true {
            var child = root &* 2 &+ 1
            if child >= rankCount { break }
            if child &+ 1 < rankCount, ranks[child &+ 1] > ranks[child] { child &+= 1 }
            if ranks[child] <= rank { break }
            ranks[root] = ranks[child]
            root = child
        }
        ranks[root] = rank
    }

    private mutating func note(_ symbol: Symbol, _ count: Int) {
        var slot = Int(
            truncatingIfNeeded: ((symbol.bytes ^ UInt64(symbol.length)) &* 0x9e37_79b9_7f4a_7c15)
                >> 40)
        while true {
            slot &= Self.slots - 1
            if table[slot].count == 0 {
                // A nearly full table accepts no more: there are enough candidates.
                guard rankCount < Self.slots * 3 / 4 else { return }
                ranks[rankCount] = UInt64(slot)
                rankCount += 1
                table[slot] = Candidate(symbol: symbol, count: count)
                return
            }
            if table[slot].symbol == symbol {
                table[slot].count += count
                return
            }
            slot += 1
        }
    }
}
