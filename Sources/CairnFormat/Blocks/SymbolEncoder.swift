// Finds the symbols that make strings short, and codes strings with them.                        Format 50.16
//
// This is FSST (Boncz, Neumann, Leis: Fast Static Symbol Table compression, 2020), which makes each string
// individually readable:
//
//   1. A sample of the cells is coded with the current symbols. Codes and pairs of codes are counted.
//   2. The symbols and pairs that cover the most bytes become the new symbols.
//   3. This repeats a few times, with a larger part of the sample each time: a symbol at most doubles in
//      length per round.
//   4. Finally, symbols that save less than they take in the slice are omitted.
//
// Strings are coded from left to right, with the longest symbol that fits: a hash of the first three bytes
// finds a symbol of three or more bytes, one per slot; a table finds one or two bytes.
//
// Training takes a good part of a millisecond. So the symbols are reused for the following blocks as long as
// they code nearly as well, or as long as new symbols would not stay better for long; and small columns are
// not tried.
//
// Threads: belongs to one encoder.

final class SymbolEncoder {
    /// A symbol of three bytes or more; an empty slot has one that no string begins with.
    private struct Long {
        var bytes: UInt64 = 1
        var mask: UInt64 = 0
        var length: UInt16 = 0
        var code: UInt16 = 0
    }

    private static let longSlots = 2048
    /// The part of the sample that each round uses, in eighths.
    private static let rounds = [1, 3, 5, 8, 8]
    private static let longestPause = 511
    private static let leastPatience = 4
    private static let mostPatience = 512
    /// The approximate size of the sample, in bytes.
    private static let sampleBytes = 8192
    /// Fewer bytes are not worth a table.
    static let fewestBytes = 1024
    /// A short code that means none.
    private static let none: UInt16 = 0xFFFF

    private let longs: UnsafeMutablePointer<Long>
    /// By two bytes: the code of a symbol of both bytes, or of the first one; above it the symbol's length.
    private let shorts: UnsafeMutablePointer<UInt16>
    /// By one byte: its code.
    private let singles: UnsafeMutablePointer<UInt16>
    private let symbols: UnsafeMutablePointer<Symbol>
    private var symbolCount = 0
    /// The size of all symbols, in bytes.
    private var symbolBytes = 0
    /// The sizes before and after coding the data that the symbols were trained with.
    private var trained = (raw: 0, coded: 0)
    /// The number of blocks coded since, and the size of the last one in bytes.
    private var uses = 0
    private var total = 0
    /// The number of blocks coded with the symbols before others are trained.
    private var patience = leastPatience
    /// The number of blocks that are skipped because coding was not worth it, and how many of them are left.
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

    /// Returns whether to code a column to measure the result.
    func isWorthTrying() -> Bool {
        if pause.left == 0 { return true }
        pause.left -= 1
        return false
    }

    /// Records whether coding was worth it. If not, some of the following columns are skipped, and symbols
    /// are trained again after them.
    func wasWorthIt(_ wasWorthIt: Bool) {
        if wasWorthIt {
            // Symbols fit their own training data even if it is random: other data show whether they are
            // useful.
            if uses > 0 { pause.length = 0 }
            return
        }
        // For so few bytes the table is too large, however good it is.
        if total * 4 < trained.raw { return }
        trained.raw = 0
        pause.length = min(pause.length * 4 + 3, Self.longestPause)
        pause.left = pause.length
    }

    /// Codes the cells of a column.
    ///
    /// - Parameters:
    ///   - starts: the start of each cell in the data.
    ///   - places: receives the start of each cell's codes, and one more for the end.
    ///   - codes: receives the codes.
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
            // Worse than before by more than a sixteenth. Data that change constantly are not worth constant
            // training.
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

    /// The size of the table, in bytes.
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

    /// Replaces the symbols by the best candidates.
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

    /// Adds a symbol, unless its slot is occupied.
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

    /// Returns the symbol that the bytes begin with; nil if the first byte must be escaped.
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
        // A row at regular intervals, so that the sample covers all. The beginning of a long string is
        // enough.
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

    /// Counts the codes of a string: single bytes, and symbols from 256 on.
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
