// Finds the symbols that make texts short, and codes texts with them.                             Format 50.16
//
// This is FSST (Boncz, Neumann, Leis: Fast Static Symbol Table compression, 2020), which codes a text without those before it:
//
//   1. A sample of the cells is coded with the symbols so far. What occurs, and what follows what, is counted.
//   2. Of symbols and of pairs of them those become the new symbols that stand for the most bytes.
//   3. This is done a few times: a symbol is as long as twice the one before at most.
//   4. Symbols that save less than they take in the slice are left out at last.
//
// Texts are coded from left to right, with the longest symbol that fits: one of three bytes and more is found by a hash of the
// first three, of which each place has one symbol; one or two bytes by a table.
//
// Training takes about a millisecond, so what was found is used for the blocks after it as long as it does nearly as well.
//
// Threads: belongs to one encoder.

final class SymbolEncoder {
    /// A symbol of three bytes or more; where there is none, one that no text begins with.
    private struct Long {
        var bytes: UInt64 = 1
        var mask: UInt64 = 0
        var length: UInt16 = 0
        var code: UInt16 = 0
    }

    private struct Symbol {
        var bytes: UInt64
        var length: Int
    }

    private struct Candidate {
        var symbol = Symbol(bytes: 0, length: 0)
        var count = 0
        var gain: Int { count * symbol.length * (symbol.length == 1 ? 8 : 1) }
    }

    private static let longSlots = 2048
    private static let candidateSlots = 8192
    private static let rounds = 5
    private static let longestPause = 511
    /// How much of the texts is looked at.
    private static let sampleBytes = 8192
    /// A short code that is none.
    private static let none: UInt16 = 0xFFFF

    private let longs: UnsafeMutablePointer<Long>
    /// By two bytes: the code of a symbol of two, or of the first of them, and above it how many they are.
    private let shorts: UnsafeMutablePointer<UInt16>
    /// By a byte: its code.
    private let singles: UnsafeMutablePointer<UInt16>
    private var symbols: [Symbol] = []
    /// What was coded with the symbols when they were found: how many bytes became how many.
    private var trained = (raw: 0, coded: 0)
    /// The blocks that were coded since.
    private var uses = 0
    /// How many blocks are not tried any more because it was not worth it, and how many of them are left.
    private var pause = (length: 0, left: 0)

    init() {
        longs = .allocate(capacity: Self.longSlots)
        shorts = .allocate(capacity: 1 << 16)
        singles = .allocate(capacity: 256)
        forget()
    }

    deinit {
        longs.deallocate()
        shorts.deallocate()
        singles.deallocate()
    }

    /// Codes the cells of a column.
    ///
    /// - Parameters:
    ///   - starts: where each cell begins in the data.
    ///   - best: what the column takes otherwise, about.
    ///   - places: where the codes of each cell begin, and one more where they end.
    ///   - codes: what is written.
    /// - Returns: whether it is worth it: at least an eighth less with the symbols, whose bytes are `tableSize`. Where it is
    ///   not, some of the next blocks are not tried, and symbols are found anew after them.
    func encode(
        _ data: UnsafePointer<UInt8>, _ starts: UnsafePointer<UInt32>,
        _ lengths: UnsafePointer<UInt32>, _ rows: Int, total: Int, best: Int,
        places: UnsafeMutablePointer<UInt32>, codes: inout ByteWriter
    ) -> Bool {
        if pause.left > 0 {
            pause.left -= 1
            return false
        }
        codeOrTrain(data, starts, lengths, rows, total, places, &codes)
        let isWorthIt = codes.count + tableSize <= best - best / 8
        if !isWorthIt { trained.raw = 0 }
        pause.length = isWorthIt ? 0 : min(pause.length * 4 + 3, Self.longestPause)
        pause.left = pause.length
        return isWorthIt
    }

    private func codeOrTrain(
        _ data: UnsafePointer<UInt8>, _ starts: UnsafePointer<UInt32>,
        _ lengths: UnsafePointer<UInt32>, _ rows: Int, _ total: Int,
        _ places: UnsafeMutablePointer<UInt32>, _ codes: inout ByteWriter
    ) {
        if trained.raw == 0 {
            train(data, starts, lengths, rows, total)
            code(data, starts, lengths, rows, total, places, &codes)
            trained = (total, codes.count)
        } else {
            code(data, starts, lengths, rows, total, places, &codes)
            uses += 1
            // By more than a sixteenth worse than it was. What changes all the time is not worth learning all the time.
            let isWorse = codes.count * 16 * trained.raw > trained.coded * 17 * total
            if isWorse, uses >= 4 || total > trained.raw * 4 {
                train(data, starts, lengths, rows, total)
                code(data, starts, lengths, rows, total, places, &codes)
                trained = (total, codes.count)
                uses = 0
            }
        }
    }

    // MARK: The table

    /// The bytes of the table.
    var tableSize: Int {
        3 + symbols.count * 2 + symbols.reduce(0) { $0 + $1.length } + PackedNumbers.slack
    }

    /// Appends the table.
    func appendTable(to writer: inout ByteWriter) {
        writer.append(UInt8(symbols.count))
        writer.append(UInt16(symbols.reduce(0) { $0 + $1.length }))
        var start = 0
        for symbol in symbols {
            writer.append(UInt16(start << 4 | symbol.length))
            start += symbol.length
        }
        for symbol in symbols {
            withUnsafeBytes(of: symbol.bytes.littleEndian) {
                writer.append(UnsafeRawBufferPointer(rebasing: $0[..<symbol.length]))
            }
        }
        writer.appendZeros(PackedNumbers.slack)
    }

    private func forget() {
        symbols = []
        longs.initialize(repeating: Long(), count: Self.longSlots)
        shorts.initialize(repeating: Self.none, count: 1 << 16)
        singles.initialize(repeating: Self.none, count: 256)
    }

    /// Takes a symbol in, unless its place is taken.
    private func add(_ symbol: Symbol) {
        let code = UInt16(symbols.count)
        switch symbol.length {
        case 1:
            let byte = Int(symbol.bytes)
            singles[byte] = code
            for second in 0..<256 where shorts[second << 8 | byte] == Self.none {
                shorts[second << 8 | byte] = code | 1 << 12
            }
        case 2: shorts[Int(symbol.bytes)] = code | 2 << 12
        default:
            let slot = Self.slot(symbol.bytes)
            guard longs[slot].length == 0 else { return }
            longs[slot] = Long(
                bytes: symbol.bytes, mask: PackedNumbers.mask(symbol.length * 8),
                length: UInt16(symbol.length), code: code)
        }
        symbols.append(symbol)
    }

    @inline(__always)
    private static func slot(_ word: UInt64) -> Int {
        let mixed = (word & 0xFF_FFFF) &* 2_971_215_073
        return Int(truncatingIfNeeded: (mixed ^ mixed >> 15)) & (longSlots - 1)
    }

    // MARK: Coding

    /// The bytes from a position on, eight or as many as there are.
    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer, _ position: Int, _ count: Int) -> UInt64 {
        let left = count &- position
        if left >= 8 {
            return UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        }
        if count >= 8 {
            return UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
                &>> UInt64((8 &- left) &* 8)
        }
        var word: UInt64 = 0
        for index in 0..<left {
            word |=
                UInt64(bytes.load(fromByteOffset: position &+ index, as: UInt8.self))
                &<< UInt64(index &* 8)
        }
        return word
    }

    /// The symbol that the bytes begin with; none if the first byte has to be said itself.
    @inline(__always)
    private func match(_ word: UInt64, _ left: Int) -> (code: UInt16, length: Int)? {
        let long = longs + Self.slot(word)
        if Int(long.pointee.length) <= left, word & long.pointee.mask == long.pointee.bytes {
            return (long.pointee.code, Int(long.pointee.length))
        }
        if left == 1 {
            let code = singles[Int(word & 0xFF)]
            return code == Self.none ? nil : (code, 1)
        }
        let short = shorts[Int(word & 0xFFFF)]
        return short == Self.none ? nil : (short & 0xFFF, Int(short >> 12))
    }

    private func code(
        _ data: UnsafePointer<UInt8>, _ starts: UnsafePointer<UInt32>,
        _ lengths: UnsafePointer<UInt32>, _ rows: Int, _ total: Int,
        _ places: UnsafeMutablePointer<UInt32>, _ codes: inout ByteWriter
    ) {
        codes.reset()
        let target = codes.reserve(total * 2)
        var end = target
        for row in 0..<rows {
            places[row] = UInt32(truncatingIfNeeded: end - target)
            let bytes = UnsafeRawPointer(data + Int(starts[row]))
            let count = Int(lengths[row])
            var position = 0
            while position < count {
                let word = Self.word(bytes, position, count)
                if let (code, length) = match(word, count &- position) {
                    end.storeBytes(of: UInt8(truncatingIfNeeded: code), as: UInt8.self)
                    end += 1
                    position &+= length
                } else {
                    end.storeBytes(of: SymbolTable.escape, as: UInt8.self)
                    end.storeBytes(
                        of: UInt8(truncatingIfNeeded: word), toByteOffset: 1, as: UInt8.self)
                    end += 2
                    position &+= 1
                }
            }
        }
        places[rows] = UInt32(truncatingIfNeeded: end - target)
        codes.cut(to: end - target)
    }

    // MARK: Training

    private func train(
        _ data: UnsafePointer<UInt8>, _ starts: UnsafePointer<UInt32>,
        _ lengths: UnsafePointer<UInt32>, _ rows: Int, _ total: Int
    ) {
        forget()
        // Every so many rows, so that the sample is of all.
        let stride = max(1, total / Self.sampleBytes)
        var sampled = 0
        for row in Swift.stride(from: 0, to: rows, by: stride) { sampled += Int(lengths[row]) }
        guard sampled > 0 else { return }
        let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: 512)
        let pairs = UnsafeMutablePointer<UInt16>.allocate(capacity: 512 * 512)
        let table = UnsafeMutablePointer<Candidate>.allocate(capacity: Self.candidateSlots)
        defer {
            counts.deallocate()
            pairs.deallocate()
            table.deallocate()
        }
        for round in 0..<Self.rounds {
            counts.initialize(repeating: 0, count: 512)
            pairs.initialize(repeating: 0, count: 512 * 512)
            for row in Swift.stride(from: 0, to: rows, by: stride) {
                // The beginning of a long text is enough of it.
                count(
                    UnsafeRawPointer(data + Int(starts[row])),
                    min(Int(lengths[row]), Self.sampleBytes), counts, pairs)
            }
            choose(
                counts, pairs, table,
                times: round == Self.rounds - 1 ? max(1, total / sampled) : nil)
        }
    }

    /// Counts what a text is coded as: bytes by themselves, and symbols behind 256.
    private func count(
        _ bytes: UnsafeRawPointer, _ count: Int, _ counts: UnsafeMutablePointer<UInt32>,
        _ pairs: UnsafeMutablePointer<UInt16>
    ) {
        var (position, before) = (0, -1)
        while position < count {
            let word = Self.word(bytes, position, count)
            let first = Int(word & 0xFF)
            var (code, length) = (first, 1)
            if let found = match(word, count - position) {
                (code, length) = (256 + Int(found.code), found.length)
            }
            counts[code] += 1
            // So that a byte can become a symbol beside those that begin with it.
            if length > 1 { counts[first] += 1 }
            if before >= 0 {
                let pair = before << 9 | code
                pairs[pair] = pairs[pair] == .max ? .max : pairs[pair] + 1
                if length > 1 {
                    let pair = before << 9 | first
                    pairs[pair] = pairs[pair] == .max ? .max : pairs[pair] + 1
                }
            }
            before = code
            position += length
        }
    }

    private func symbol(_ code: Int) -> Symbol {
        code < 256 ? Symbol(bytes: UInt64(code), length: 1) : symbols[code - 256]
    }

    /// Makes the symbols anew of what was counted.
    ///
    /// - Parameter times: how much more there is than was counted; nil as long as the symbols are not written.
    private func choose(
        _ counts: UnsafePointer<UInt32>, _ pairs: UnsafePointer<UInt16>,
        _ table: UnsafeMutablePointer<Candidate>, times: Int?
    ) {
        table.initialize(repeating: Candidate(), count: Self.candidateSlots)
        var filled = 0
        for first in 0..<256 + symbols.count where counts[first] > 0 {
            let symbol = symbol(first)
            Self.note(symbol, Int(counts[first]), table, &filled)
            if symbol.length == SymbolTable.longest { continue }
            for second in 0..<256 + symbols.count where pairs[first << 9 | second] > 1 {
                let next = self.symbol(second)
                let length = min(symbol.length + next.length, SymbolTable.longest)
                let bytes =
                    (symbol.bytes | next.bytes << UInt64(symbol.length * 8))
                    & PackedNumbers.mask(length * 8)
                Self.note(
                    Symbol(bytes: bytes, length: length), Int(pairs[first << 9 | second]), table,
                    &filled)
            }
        }
        var candidates: [(gain: Int, index: Int)] = []
        for index in 0..<Self.candidateSlots where table[index].count > 0 {
            let candidate = table[index]
            if let times {
                let saved = candidate.count * times * max(1, candidate.symbol.length - 1)
                if saved <= candidate.symbol.length + 2 { continue }
            }
            candidates.append((candidate.gain, index))
        }
        candidates.sort { ($1.gain, $0.index) < ($0.gain, $1.index) }
        forget()
        for candidate in candidates where symbols.count < SymbolTable.most {
            add(table[candidate.index].symbol)
        }
    }

    private static func note(
        _ symbol: Symbol, _ count: Int, _ table: UnsafeMutablePointer<Candidate>,
        _ filled: inout Int
    ) {
        var slot = Int(
            truncatingIfNeeded: ((symbol.bytes ^ UInt64(symbol.length)) &* 0x9e37_79b9_7f4a_7c15)
                >> 40)
        while true {
            slot &= candidateSlots - 1
            if table[slot].count == 0 {
                // A table that is nearly full takes no more: there are enough to choose from.
                guard filled < candidateSlots * 3 / 4 else { return }
                filled += 1
                table[slot] = Candidate(symbol: symbol, count: count)
                return
            }
            if table[slot].symbol.bytes == symbol.bytes,
                table[slot].symbol.length == symbol.length
            {
                table[slot].count += count
                return
            }
            slot += 1
        }
    }
}
