// Finds the symbols that make texts short, and codes texts with them.                             Format 50.16
//
// This is FSST (Boncz, Neumann, Leis: Fast Static Symbol Table compression, 2020), which codes a text without those before it:
//
//   1. A sample of the cells is coded with the symbols so far. What occurs, and what follows what, is counted.
//   2. Of symbols and of pairs of them those become the new symbols that stand for the most bytes.
//   3. This is done a few times, with a larger part of the sample each time: a symbol is as long as twice the one before at most.
//   4. Symbols that save less than they take in the slice are left out at last.
//
// Texts are coded from left to right, with the longest symbol that fits: one of three bytes and more is found by a hash of the
// first three, of which each place has one symbol; one or two bytes by a table.
//
// Training takes a good part of a millisecond, so what was found is used for the blocks after it as long as it does nearly as
// well, or others would not do better for long; and columns of few bytes are not tried.
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

    private static let longSlots = 2048
    /// The part of the sample that each round looks at, in eighths.
    private static let rounds = [1, 3, 5, 8, 8]
    private static let longestPause = 511
    private static let leastPatience = 4
    private static let mostPatience = 512
    /// How much of the texts is looked at, about.
    private static let sampleBytes = 8192
    /// Fewer bytes are not worth a table beside them.
    static let fewestBytes = 1024
    /// A short code that is none.
    private static let none: UInt16 = 0xFFFF

    private let longs: UnsafeMutablePointer<Long>
    /// By two bytes: the code of a symbol of two, or of the first of them, and above it how many they are.
    private let shorts: UnsafeMutablePointer<UInt16>
    /// By a byte: its code.
    private let singles: UnsafeMutablePointer<UInt16>
    private let symbols: UnsafeMutablePointer<Symbol>
    private var symbolCount = 0
    /// The bytes of all symbols.
    private var symbolBytes = 0
    /// What was coded with the symbols when they were found: how many bytes became how many.
    private var trained = (raw: 0, coded: 0)
    /// The blocks that were coded since, and the bytes of the last one.
    private var uses = 0
    private var total = 0
    /// How many blocks are coded with the symbols before others are looked for.
    private var patience = leastPatience
    /// How many blocks are not tried any more because it was not worth it, and how many of them are left.
    private var pause = (length: 0, left: 0)

    init() {
        longs = .allocate(capacity: Self.longSlots)
        shorts = .allocate(capacity: 1 << 16)
        singles = .allocate(capacity: 256)
        symbols = .allocate(capacity: SymbolTable.most)
    }

    deinit {
        longs.deallocate()
        shorts.deallocate()
        singles.deallocate()
        symbols.deallocate()
    }

    /// Whether a column is to be coded to see what it takes.
    func isWorthTrying() -> Bool {
        if pause.left == 0 { return true }
        pause.left -= 1
        return false
    }

    /// Takes it that coding was worth it, or not: some of the next columns are not tried then, and symbols are found anew
    /// after them.
    func wasWorthIt(_ wasWorthIt: Bool) {
        if wasWorthIt {
            // Symbols fit the texts they were found in even if nothing but chance made them: others tell whether they are any good.
            if uses > 0 { pause.length = 0 }
            return
        }
        // Against so few bytes the table weighs too much, however good it is.
        if total * 4 < trained.raw { return }
        trained.raw = 0
        pause.length = min(pause.length * 4 + 3, Self.longestPause)
        pause.left = pause.length
    }

    /// Codes the cells of a column.
    ///
    /// - Parameters:
    ///   - starts: where each cell begins in the data.
    ///   - places: where the codes of each cell begin, and one more where they end.
    ///   - codes: what is written.
    func encode(
        _ data: UnsafePointer<UInt8>, _ starts: UnsafePointer<UInt32>,
        _ lengths: UnsafePointer<UInt32>, _ rows: Int, total: Int,
        places: UnsafeMutablePointer<UInt32>, codes: inout ByteWriter
    ) {
        self.total = total
        if trained.raw == 0 {
            train(data, starts, lengths, rows, total)
            code(data, starts, lengths, rows, total, places, &codes)
            trained = (total, codes.count)
            (uses, patience) = (0, Self.leastPatience)
        } else {
            code(data, starts, lengths, rows, total, places, &codes)
            uses += 1
            // By more than a sixteenth worse than it was. What changes all the time is not worth learning all the time.
            let isWorse = codes.count * 16 * trained.raw > trained.coded * 17 * total
            if !isWorse { patience = Self.leastPatience }
            if isWorse, uses >= patience || total > trained.raw * 4 {
                if uses >= patience { patience = min(patience * 2, Self.mostPatience) }
                train(data, starts, lengths, rows, total)
                code(data, starts, lengths, rows, total, places, &codes)
                trained = (total, codes.count)
                uses = 0
            }
        }
    }

    // MARK: The table

    /// The bytes of the table.
    var tableSize: Int { 3 + symbolCount * 2 + symbolBytes + PackedNumbers.slack }

    /// Appends the table.
    func appendTable(to writer: inout ByteWriter) {
        writer.append(UInt8(symbolCount))
        writer.append(UInt16(symbolBytes))
        var start = 0
        for code in 0..<symbolCount {
            writer.append(UInt16(start << 4 | symbols[code].length))
            start += symbols[code].length
        }
        for code in 0..<symbolCount {
            withUnsafeBytes(of: symbols[code].bytes.littleEndian) {
                writer.append(UnsafeRawBufferPointer(rebasing: $0[..<symbols[code].length]))
            }
        }
        writer.appendZeros(PackedNumbers.slack)
    }

    private func forget() {
        symbolCount = 0
        symbolBytes = 0
        longs.initialize(repeating: Long(), count: Self.longSlots)
        shorts.initialize(repeating: Self.none, count: 1 << 16)
        singles.initialize(repeating: Self.none, count: 256)
    }

    /// Makes the best candidates the symbols.
    private func take(_ candidates: inout SymbolCandidates) {
        symbolCount = 0
        symbolBytes = 0
        longs.update(repeating: Long(), count: Self.longSlots)
        singles.update(repeating: Self.none, count: 256)
        while symbolCount < SymbolTable.most, let symbol = candidates.next() { add(symbol) }
        candidates.drop()
        for second in 0..<256 { (shorts + second << 8).update(from: singles, count: 256) }
        for code in 0..<symbolCount where symbols[code].length == 2 {
            shorts[Int(symbols[code].bytes)] = UInt16(code) | 2 << 12
        }
    }

    /// Takes a symbol in, unless its place is taken.
    private func add(_ symbol: Symbol) {
        let code = UInt16(symbolCount)
        if symbol.length == 1 {
            singles[Int(symbol.bytes)] = code | 1 << 12
        } else if symbol.length > 2 {
            let slot = Self.slot(symbol.bytes)
            guard longs[slot].length == 0 else { return }
            longs[slot] = Long(
                bytes: symbol.bytes, mask: PackedNumbers.mask(symbol.length * 8),
                length: UInt16(symbol.length), code: code)
        }
        symbols[symbolCount] = symbol
        symbolCount += 1
        symbolBytes += symbol.length
    }

    @inline(__always)
    private static func slot(_ word: UInt64) -> Int {
        let mixed = (word & 0xFF_FFFF) &* 2_971_215_073
        return Int(truncatingIfNeeded: (mixed ^ mixed >> 15)) & (longSlots - 1)
    }

    // MARK: Coding

    /// The symbol that the bytes begin with; none if the first byte has to be said itself.
    @inline(__always)
    private func match(_ word: UInt64, _ left: Int) -> (code: UInt16, length: Int)? {
        let long = longs + Self.slot(word)
        if Int(long.pointee.length) <= left, word & long.pointee.mask == long.pointee.bytes {
            return (long.pointee.code, Int(long.pointee.length))
        }
        let short = left == 1 ? singles[Int(word & 0xFF)] : shorts[Int(word & 0xFFFF)]
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
                let word = SymbolTable.word(bytes, position, count)
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
        // Every so many rows, so that the sample is of all. The beginning of a long text is enough of it.
        let stride = max(1, total / Self.sampleBytes)
        var sampled = 0
        for row in Swift.stride(from: 0, to: rows, by: stride) {
            sampled += min(Int(lengths[row]), Self.sampleBytes)
        }
        guard sampled > 0 else { return }
        var candidates = SymbolCandidates(counting: sampled)
        for (round, share) in Self.rounds.enumerated() {
            var index = 0
            for row in Swift.stride(from: 0, to: rows, by: stride) where lengths[row] > 0 {
                if index & 7 < share {
                    count(
                        UnsafeRawPointer(data + Int(starts[row])),
                        min(Int(lengths[row]), Self.sampleBytes), &candidates)
                }
                index += 1
            }
            let isLast = round == Self.rounds.count - 1
            candidates.gather(
                UnsafeBufferPointer(start: symbols, count: symbolCount),
                times: isLast ? max(1, total / sampled) : nil)
            take(&candidates)
        }
    }

    /// Counts what a text is coded as: bytes by themselves, and symbols behind 256.
    private func count(
        _ bytes: UnsafeRawPointer, _ count: Int, _ candidates: inout SymbolCandidates
    ) {
        var (position, before) = (0, -1)
        while position < count {
            let word = SymbolTable.word(bytes, position, count)
            let first = Int(word & 0xFF)
            var (code, length) = (first, 1)
            if let found = match(word, count - position) {
                (code, length) = (256 + Int(found.code), found.length)
            }
            candidates.count(code, first: length > 1 ? first : code, after: before)
            before = code
            position += length
        }
    }
}
