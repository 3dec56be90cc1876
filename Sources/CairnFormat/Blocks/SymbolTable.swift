// Byte sequences that occur often, and their codes.                                              Format 50.16
//
//   | entry 2 | entry 2 | … | symbols | 8 zeros |
//
// The low four bits of an entry are the length of a symbol, the bits above its start. A code below the count
// is a symbol; 255 escapes the byte after it.
//
// Threads: a view: good as long as the memory.

/// The symbol table of a slice.
@usableFromInline
package struct SymbolTable: BitwiseCopyable {
    /// The maximum length of a symbol, in bytes.
    @usableFromInline static let longest = 8
    /// The maximum number of symbols.
    static let most = 255
    /// Escapes the byte after it.
    @usableFromInline static let escape: UInt8 = 255

    @usableFromInline let entries: UnsafeRawPointer
    @usableFromInline let count: Int

    /// Creates a table from consecutive entries, followed by its symbols and eight more bytes.
    @inlinable
    init(entries: UnsafeRawPointer, count: Int) {
        self.entries = entries
        self.count = count
    }

    @inlinable
    var symbols: UnsafeRawPointer { @inline(__always) get { entries + count &* 2 } }

    /// The bytes of entries and symbols, and of the zeros after them.
    package var bytes: UnsafeRawBufferPointer {
        var end = 0
        for code in 0..<count {
            let (length, start) = entry(code)
            end = max(end, start + length)
        }
        return UnsafeRawBufferPointer(
            start: entries, count: count * 2 + end + PackedNumbers.slack)
    }

    /// Returns the length and the start of a symbol.
    @inlinable @inline(__always)
    func entry(_ code: Int) -> (length: Int, start: Int) {
        let entry = UInt16(
            littleEndian: entries.loadUnaligned(fromByteOffset: code &* 2, as: UInt16.self))
        return (Int(entry & 15), Int(entry >> 4))
    }

    /// Expands codes.
    ///
    /// - Parameter target: has room for eight bytes per code, and eight more.
    /// - Returns: the number of bytes written; nil if a code is undefined.
    @inlinable @inline(__always)
    func expand(_ codes: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer) -> Int? {
        guard let base = codes.baseAddress else { return 0 }
        let symbols = symbols
        var (position, end) = (0, target)
        while position < codes.count {
            let code = Int(base.load(fromByteOffset: position, as: UInt8.self))
            position &+= 1
            if code < count {
                let (length, start) = entry(code)
                end.storeBytes(
                    of: symbols.loadUnaligned(fromByteOffset: start, as: UInt64.self),
                    as: UInt64.self)
                end += length
            } else {
                guard code == Int(Self.escape), position < codes.count else { return nil }
                end.storeBytes(
                    of: base.load(fromByteOffset: position, as: UInt8.self), as: UInt8.self)
                position &+= 1
                end += 1
            }
        }
        return end - target
    }

    /// Returns whether codes expand to these bytes; nil if a code is undefined.
    @usableFromInline
    func equals(_ codes: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) -> Bool? {
        guard let base = codes.baseAddress, let text = bytes.baseAddress else {
            return codes.isEmpty && bytes.isEmpty
        }
        let (symbols, count, end) = (symbols, count, bytes.count)
        var (position, place) = (0, 0)
        while position < codes.count {
            let code = Int(base.load(fromByteOffset: position, as: UInt8.self))
            position &+= 1
            if place == end {
                let isCode = code < count || code == Int(Self.escape) && position < codes.count
                return isCode ? false : nil
            }
            let word = Self.word(text, place, end)
            if code < count {
                let (length, start) = entry(code)
                let symbol = UInt64(
                    littleEndian: symbols.loadUnaligned(fromByteOffset: start, as: UInt64.self))
                if (symbol ^ word) & PackedNumbers.mask(length &* 8) != 0 || length > end &- place {
                    return false
                }
                place &+= length
            } else {
                guard code == Int(Self.escape), position < codes.count else { return nil }
                if base.load(fromByteOffset: position, as: UInt8.self)
                    != UInt8(truncatingIfNeeded: word)
                {
                    return false
                }
                position &+= 1
                place &+= 1
            }
        }
        return place == end
    }

    /// Returns up to eight bytes from a position on, the first one lowest.
    @inline(__always)
    static func word(_ bytes: UnsafeRawPointer, _ position: Int, _ count: Int) -> UInt64 {
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

    /// Returns the number of bytes that codes expand to.
    ///
    /// - Throws: `FormatError` if a code is undefined.
    package func length(_ codes: UnsafeRawBufferPointer) throws(FormatError) -> Int {
        var (position, length) = (0, 0)
        while position < codes.count {
            let code = Int(codes[position])
            if code < count {
                length += entry(code).length
                position += 1
            } else {
                guard code == Int(Self.escape), position + 1 < codes.count else {
                    throw Self.unknown(code)
                }
                length += 1
                position += 2
            }
        }
        return length
    }

    @inline(never)
    private static func unknown(_ code: Int) -> FormatError {
        FormatError(
            .malformed, "F-566", "a code stands for no symbol", found: UInt64(code))
    }
}

extension ByteReader {
    /// Reads a symbol table.
    mutating func symbolTable() throws(FormatError) -> SymbolTable {
        let start = offset
        let count = Int(try integer(UInt8.self))
        let length = Int(try integer(UInt16.self))
        let entries = try take(count * 2 + length)
        try zeros(PackedNumbers.slack)
        guard count <= SymbolTable.most, let first = entries.baseAddress else {
            throw FormatError(
                .malformed, "F-565", "there are no symbols", at: start, found: UInt64(count))
        }
        let table = SymbolTable(entries: first, count: count)
        for code in 0..<count {
            let (size, place) = table.entry(code)
            guard size >= 1, size <= SymbolTable.longest, place + size <= length else {
                throw FormatError(
                    .malformed, "F-565", "a symbol is outside the table", at: start,
                    found: UInt64(code))
            }
        }
        return table
    }
}
