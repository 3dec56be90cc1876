// The cells of one column, each read by itself: from the bytes of a slice, or from a column that was decoded.  Format 50.13
//
//   integers    numbers
//   decimals    numbers divided by a power of ten
//   bits        numbers that are the bits of doubles or floats
//   fixed16     16 bytes each
//   cells       bytes from places[i] to places[i + 1]
//   symbols     the same, coded by a table of symbols
//   dictionary  numbers that say which entry is meant; entry e is the bytes from places[e] to places[e + 1]
//
// A row among the exceptions has its value there: its number is the largest that the bits allow.
//
// Invariants: whoever makes one has shown that the numbers of all rows lie inside the memory; where bytes lie is held against
// their end when they are read.
// Threads: a view: good as long as the memory.

/// Reads single cells of a column of a block. It has the size of a line of the processor's cache.
///
/// It is public so that its functions are inlined in other modules, which those of the package alone are not.
public struct CellReader: BitwiseCopyable {
    /// How the cells lie in memory.
    public enum Form: UInt8, BitwiseCopyable, Sendable {
        /// Numbers.
        case integers
        /// Numbers divided by a power of ten.
        case decimals
        /// Numbers that are the bits of doubles or floats.
        case bits
        /// Sixteen bytes each.
        case fixed16
        /// Bytes.
        case cells
        /// Bytes, coded by a table of symbols.
        case symbols
        /// Codes of the entries of a dictionary.
        case dictionary
    }

    /// What else a form has: exceptions (rows, two bytes each, then values, eight bytes each), the entries of a table of symbols,
    /// or a bit or byte a row that says whether the cell is a reference to a large value.
    @usableFromInline let extra: UnsafeRawPointer?
    /// Values, codes of a dictionary, or the first of 16 bytes.
    @usableFromInline let words: UnsafeRawPointer
    /// Of numbers what is added to each; of bytes how many there are.
    @usableFromInline let base: Int64
    @usableFromInline let places: UnsafeRawPointer
    @usableFromInline let data: UnsafeRawPointer
    /// A bit or a byte a row.
    @usableFromInline let nils: UnsafePointer<UInt8>?
    @usableFromInline let placeBase: Int32
    @usableFromInline let placeStep: UInt32
    /// How many exceptions, symbols or entries of a dictionary there are.
    @usableFromInline let count: UInt16
    @usableFromInline let width: UInt8
    /// Of bits what numbers are shifted by; of decimals the power of ten.
    @usableFromInline let detail: UInt8
    @usableFromInline let placeWidth: UInt8
    /// The bit of a row in a list of nils or references: byte `row >> bitShift`.
    @usableFromInline let bitShift: UInt8
    package let kind: ColumnKind
    /// How the cells lie in memory.
    public let form: Form

    /// - Parameters:
    ///   - numbers: values, or codes of a dictionary.
    ///   - extra: see the property; of symbols the entries, behind which the symbols lie.
    ///   - count: how many of what `extra` says, or of a dictionary's entries.
    init(
        kind: ColumnKind, form: Form, numbers: PackedNumbers? = nil, detail: UInt8 = 0,
        nils: UnsafePointer<UInt8>? = nil, extra: UnsafeRawPointer? = nil, count: Int = 0,
        places: PackedNumbers? = nil, data: UnsafeRawBufferPointer? = nil, bitShift: UInt8 = 3
    ) {
        self.kind = kind
        self.form = form
        self.detail = detail
        self.nils = nils
        self.extra = extra
        self.count = UInt16(truncatingIfNeeded: count)
        self.bitShift = bitShift
        words = numbers?.words ?? Self.zeros
        width = numbers?.width ?? 0
        base = data.map { Int64($0.count) } ?? numbers?.base ?? 0
        self.data = data?.baseAddress ?? Self.zeros
        self.places = places?.words ?? Self.zeros
        placeWidth = places?.width ?? 0
        placeBase = Int32(truncatingIfNeeded: places?.base ?? 0)
        placeStep = UInt32(truncatingIfNeeded: places?.step ?? 0)
    }

    /// The cells of a column that is decoded.
    package init(_ column: DecodedColumn) {
        let externals = column.externals.map { UnsafeRawPointer($0) }
        switch column.kind {
        case .integer:
            self.init(
                kind: column.kind, form: .integers,
                numbers: PackedNumbers(column.values, width: column.width * 8, base: column.base),
                nils: column.nils, bitShift: 0)
        case .double, .float:
            self.init(
                kind: column.kind, form: .bits,
                numbers: PackedNumbers(column.values, width: column.kind == .double ? 64 : 32),
                nils: column.nils, bitShift: 0)
        case .fixed16:
            self.init(
                kind: column.kind, form: .fixed16,
                numbers: PackedNumbers(column.values, width: 64), nils: column.nils, bitShift: 0)
        case .bytes:
            let cells = column.codes == nil ? column.count : column.dictionaryCount
            self.init(
                kind: column.kind, form: column.codes == nil ? .cells : .dictionary,
                numbers: column.codes.map { PackedNumbers(UnsafeRawPointer($0), width: 16) },
                nils: column.nils, extra: externals, count: column.dictionaryCount,
                places: PackedNumbers(UnsafeRawPointer(column.offsets), width: 32),
                data: UnsafeRawBufferPointer(
                    start: column.values, count: Int(column.offsets[cells])), bitShift: 0)
        }
    }

    /// Cells that are nil in as many rows as a block may have.
    package init(allNil kind: ColumnKind) {
        let form: Form =
            switch kind {
            case .integer: .integers
            case .double, .float: .bits
            case .fixed16: .fixed16
            case .bytes: .cells
            }
        self.init(kind: kind, form: form, nils: Self.ones.assumingMemoryBound(to: UInt8.self))
    }

    private nonisolated(unsafe) static let ones: UnsafeRawPointer = {
        // Never written again.
        let size = FormatLimits.maximumRows / 8
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0xFF, count: size)
        return UnsafeRawPointer(memory)
    }()

    private nonisolated(unsafe) static let zeros: UnsafeRawPointer = {
        // Never written again.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: 16)
        return UnsafeRawPointer(memory)
    }()

    /// The same with a table of symbols that lies elsewhere.
    package func with(entries: UnsafeRawPointer) -> CellReader {
        precondition(form == .symbols, "only symbols have a table")
        return CellReader(
            kind: kind, form: form, nils: nils, extra: entries, count: Int(count),
            places: PackedNumbers(
                places, width: Int(placeWidth), base: Int64(placeBase), step: Int64(placeStep)),
            data: allBytes, bitShift: bitShift)
    }

    @inlinable
    var numbers: PackedNumbers {
        @inline(__always) get { PackedNumbers(words, width: Int(width)) }
    }

    /// The largest number that the bits allow: where there are exceptions, the mark of one.
    @inlinable
    var mark: UInt64 { @inline(__always) get { PackedNumbers.mask(Int(width)) } }

    @inlinable @inline(__always)
    func place(_ index: Int) -> Int64 {
        PackedNumbers(
            places, width: Int(placeWidth), base: Int64(placeBase), step: Int64(placeStep))[index]
    }

    // MARK: Cells

    /// Whether a row is nil.
    @inlinable @inline(__always)
    public func isNil(_ row: Int) -> Bool {
        guard let nils else { return false }
        return isSet(nils, row)
    }

    @inlinable @inline(__always)
    func isSet(_ list: UnsafePointer<UInt8>, _ row: Int) -> Bool {
        // Of a list of bytes bit 0.
        let bit = bitShift == 0 ? 0 : UInt8(truncatingIfNeeded: row & 7)
        return list[row &>> Int(bitShift)] &>> bit & 1 != 0
    }

    /// Whether the bytes of a cell only say where its large value is.
    @inlinable @inline(__always)
    public func isExternal(_ row: Int) -> Bool {
        guard case .cells = form, let extra else { return false }
        return isSet(extra.assumingMemoryBound(to: UInt8.self), row)
    }

    /// The integer of a row that is not nil.
    @inlinable @inline(__always)
    public func integer(_ row: Int) -> Int64 {
        let bits = numbers.bits(row)
        if count > 0, bits == mark { return Int64(bitPattern: exception(row)) }
        return base &+ Int64(truncatingIfNeeded: bits)
    }

    /// The double of a row that is not nil.
    @inlinable @inline(__always)
    public func double(_ row: Int) -> Double {
        let bits = numbers.bits(row)
        if count > 0, bits == mark { return Double(bitPattern: exception(row)) }
        if case .decimals = form {
            return Double(base &+ Int64(truncatingIfNeeded: bits))
                / ScaledDoubles.power(Int(detail))
        }
        return Double(bitPattern: UInt64(bitPattern: base) &+ bits &<< UInt64(detail))
    }

    /// The float of a row that is not nil.
    @inlinable @inline(__always)
    public func float(_ row: Int) -> Float {
        let bits = numbers.bits(row)
        let word =
            count > 0 && bits == mark
            ? exception(row) : UInt64(bitPattern: base) &+ bits &<< UInt64(detail)
        return Float(bitPattern: UInt32(truncatingIfNeeded: word))
    }

    /// The 16 bytes of a row that is not nil.
    @inlinable @inline(__always)
    public func fixed16(_ row: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: words + row &* 16, count: 16)
    }

    /// The cell, or the entry of the dictionary, whose bytes a row has; nil where a code has no entry.
    @inlinable @inline(__always)
    func index(_ row: Int) -> Int? {
        guard case .dictionary = form else { return row }
        let code = numbers.bits(row)
        return code < UInt64(count) ? Int(truncatingIfNeeded: code) : nil
    }

    /// The bytes of a row that is not nil, as they are in memory: of symbols their codes. Nil if its places are not in order.
    @inlinable @inline(__always)
    public func bytes(_ row: Int) -> UnsafeRawBufferPointer? {
        guard let index = index(row) else { return nil }
        let (start, end) = (place(index), place(index &+ 1))
        guard start >= 0, start <= end, end <= base else { return nil }
        return UnsafeRawBufferPointer(
            start: data + Int(truncatingIfNeeded: start),
            count: Int(truncatingIfNeeded: end &- start))
    }

    /// The same.
    ///
    /// - Throws: `FormatError` if its places are not in order.
    package func stored(_ row: Int) throws(FormatError) -> UnsafeRawBufferPointer {
        guard let bytes = bytes(row) else { throw badCell(row) }
        return bytes
    }

    /// The table of symbols: of symbols alone.
    package var symbols: SymbolTable { table }

    @inlinable
    var table: SymbolTable {
        @inline(__always) get {
            SymbolTable(entries: extra.unsafelyUnwrapped, count: Int(count))
        }
    }

    /// The most bytes that the cell of a row has, if its codes are so long.
    @inlinable @inline(__always)
    public static func mostBytes(_ codes: UnsafeRawBufferPointer) -> Int {
        codes.count &* SymbolTable.longest
    }

    /// Writes the bytes of a cell of symbols.
    ///
    /// - Parameters:
    ///   - codes: what is stored of the cell.
    ///   - target: room for `mostBytes(codes)`, and eight more.
    /// - Returns: how many there are; nil if a code stands for nothing.
    @inlinable @inline(__always)
    public func expand(_ codes: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer)
        -> Int?
    {
        table.expand(codes, into: target)
    }

    /// Whether the cell of a row, which is not nil and no reference, has these bytes; nil if its places are not in order, or a
    /// code stands for nothing.
    @inlinable @inline(__always)
    public func hasBytes(_ row: Int, _ bytes: UnsafeRawBufferPointer) -> Bool? {
        guard let stored = self.bytes(row) else { return nil }
        if case .symbols = form { return table.equals(stored, bytes) }
        if stored.count != bytes.count { return false }
        guard let here = stored.baseAddress, let there = bytes.baseAddress else { return true }
        var position = 0
        while position &+ 8 <= stored.count {
            if here.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                != there.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            {
                return false
            }
            position &+= 8
        }
        while position < stored.count {
            if stored[position] != bytes[position] { return false }
            position &+= 1
        }
        return true
    }

    /// What is wrong with a cell that cannot be read.
    package func badCell(_ row: Int) -> FormatError {
        FormatError(
            .malformed, bytes(row) == nil ? "F-564" : "F-566",
            bytes(row) == nil
                ? "the bytes of a cell lie outside the slice" : "a code stands for no symbol",
            at: row, found: UInt64(row))
    }

    /// The bytes of all cells, as they are in memory.
    var allBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: data, count: Int(truncatingIfNeeded: base))
    }

    // MARK: Exceptions

    /// Whether there are any, of numbers.
    var hasExceptions: Bool { count > 0 && form != .dictionary && form != .symbols }

    /// Whether a row is among the exceptions.
    func isException(_ row: Int) -> Bool { exceptionRow(nearest(row)) == row }

    private func exceptionRow(_ index: Int) -> Int {
        guard let extra else { return -1 }
        return Int(
            UInt16(littleEndian: extra.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)))
    }

    /// The first exception that is not before a row, or the last of all.
    private func nearest(_ row: Int) -> Int {
        var (low, high) = (0, Int(count) - 1)
        while low < high {
            let middle = (low + high) / 2
            if exceptionRow(middle) < row { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The value of an exception. A row that is marked and is not among them, which no writer makes, has that of another.
    @usableFromInline @inline(never)
    func exception(_ row: Int) -> UInt64 {
        guard let extra else { return 0 }
        return UInt64(
            littleEndian: extra.loadUnaligned(
                fromByteOffset: Int(count) * 2 + nearest(row) * 8, as: UInt64.self))
    }

    // MARK: Memory

    /// Where the number of a row begins, or the place of its bytes.
    @inlinable @inline(__always)
    public func address(_ row: Int) -> UnsafeRawPointer {
        switch form {
        case .fixed16: words + row &* 16
        case .cells, .symbols: places + (row &* Int(placeWidth)) &>> 3
        default: words + (row &* Int(width)) &>> 3
        }
    }

    /// Where the place of a row's entry in a dictionary begins.
    @inlinable @inline(__always)
    public func entryAddress(_ row: Int) -> UnsafeRawPointer {
        places + ((index(row) ?? 0) &* Int(placeWidth)) &>> 3
    }

    /// About where the bytes of a row begin.
    @inlinable @inline(__always)
    public func dataAddress(_ row: Int) -> UnsafeRawPointer {
        data + Int(truncatingIfNeeded: max(0, min(place(index(row) ?? 0), base)))
    }

    /// Where the bit of a row is that says whether it is nil.
    @inlinable @inline(__always)
    public func nilAddress(_ row: Int) -> UnsafeRawPointer? {
        nils.map { UnsafeRawPointer($0 + row &>> Int(bitShift)) }
    }
}
