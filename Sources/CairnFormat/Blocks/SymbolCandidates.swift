// What could become a symbol, and what of it stands for the most bytes.                           Format 50.16
//
//   1. Codes and pairs of codes are counted while a sample is coded. Pairs that occur are kept in a list besides, since few of
//      all that are possible do.
//   2. Each code, and each pair that occurs twice, put together, is a candidate. Those of the same bytes are one, by a hash table.
//   3. They are handed out by what they gain, from a heap: hardly more than the best 255 of several thousand are wanted.
//
// Threads: belongs to one training.

struct SymbolCandidates: ~Copyable {
    private struct Candidate {
        var symbol = Symbol(bytes: 0, length: 0)
        var count = 0
        var gain: Int { count * symbol.length * (symbol.length == 1 ? 8 : 1) }
    }

    private static let slots = 8192
    /// Bytes by themselves, and symbols behind them.
    private static let codes = 512

    private let counts: UnsafeMutablePointer<UInt32>
    private let pairs: UnsafeMutablePointer<UInt16>
    /// The pairs that occurred.
    private let seen: UnsafeMutablePointer<Int32>
    private var seenCount = 0
    private let table: UnsafeMutablePointer<Candidate>
    /// A heap: what a candidate gains, and below it where it is in the table.
    private let ranks: UnsafeMutablePointer<UInt64>
    private var rankCount = 0

    /// - Parameter most: how many bytes are coded at most before what was counted is gathered.
    init(counting most: Int) {
        counts = .allocate(capacity: Self.codes)
        pairs = .allocate(capacity: Self.codes * Self.codes)
        // A code of two bytes and more makes two pairs.
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

    /// Counts a code, and it behind the one before; -1: there is none.
    ///
    /// - Parameter first: the byte that a symbol begins with, so that it can become a symbol beside it.
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

    /// Makes candidates of what was counted; the counts are empty then.
    ///
    /// - Parameters:
    ///   - symbols: what the codes from 256 on stand for.
    ///   - times: how much more there is than was counted, so that a symbol that saves less than it takes is left out; nil:
    ///     none is.
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
            // The one of two that was noted in an earlier slot is larger.
            ranks[kept] = UInt64(candidate.gain) << 13 | UInt64(Self.slots - 1 - slot)
            kept += 1
        }
        rankCount = kept
        for root in stride(from: rankCount / 2 - 1, through: 0, by: -1) { sink(root) }
    }

    /// Hands out the candidate that gains most of those that are left; nil if there is none.
    mutating func next() -> Symbol? {
        guard rankCount > 0 else { return nil }
        let slot = Self.slots - 1 - Int(ranks[0] & UInt64(Self.slots - 1))
        rankCount -= 1
        ranks[0] = ranks[rankCount]
        sink(0)
        table[slot].count = 0
        return table[slot].symbol
    }

    /// Lets go of the candidates that are left.
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
                // A table that is nearly full takes no more: there are enough to choose from.
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
