// Individual cells of one column, in the bytes of a slice or in a decoded column.                Format 50.13
//
//   integers    numbers
//   decimals    numbers divided by a power of ten
//   bits        numbers that are the bits of doubles or floats
//   fixed16     16 bytes each
//   cells       bytes from places[i] to places[i + 1]
//   symbols     the same, coded by a symbol table
//   dictionary  numbers that are entry codes; entry e is the bytes from places[e] to places[e + 1]
//
// Exceptions store the values of their rows separately: the row's number is the largest that the bits allow.
//
// Invariants: the creator has checked that the numbers of all rows are inside the memory; the places of bytes
// are checked against the end of the bytes on each read.
// Threads: a view: good as long as the memory.

/// Reads individual cells of a column of a block. It has the size of a CPU cache line.
///
/// It is public so that its functions are inlined in other modules; functions with package access are not.
public struct CellReader: BitwiseCopyable {
    /// The memory layout of the cells.
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
        /// Bytes, coded by a symbol table.
        case symbols
        /// Codes of dictionary entries.
        case dictionary
    }

    /// Additional data of a form: exceptions (rows, two bytes each, then values, eight bytes each), the
    /// entries of a symbol table, or one bit or byte per row that marks a reference to a large value.
    @usableFromInline let extra: UnsafeRawPointer?
    /// Values, codes of a dictionary, or the first of 16 bytes.
    @usableFromInline let words: UnsafeRawPointer
    /// For numbers, the base that is added to each; for bytes, their count.
    @usableFromInline let base: Int64
    @usableFromInline let places: UnsafeRawPointer
    @usableFromInline let data: UnsafeRawPointer
    /// One bit or byte per row.
    @usableFromInline let nils: UnsafePointer<UInt8>?
    @usableFromInline let placeBase: Int32
    @usableFromInline let placeStep: UInt32
    /// The number of exceptions, symbols or dictionary entries.
    @usableFromInline let count: UInt16
    @usableFromInline let width: UInt8
    /// For bits, the shift of the numbers; for decimals, the power of ten.
    @usableFromInline let detail: UInt8
    @usableFromInline let placeWidth: UInt8
    /// Locates the bit of a row in a list of nils or references: byte `row >> bitShift`.
    @usableFromInline let bitShift: UInt8
    package let kind: ColumnKind
    /// The memory layout of the cells.
    public let form: Form

    /// - Parameters:
    ///   - numbers: values, or dictionary codes.
    ///   - extra: see the property; for symbols the entries, followed by the symbols.
    ///   - count: the number of elements in `extra`, or of dictionary entries.
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

    /// Creates a reader of the cells of a decoded column.
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

    /// Creates a reader of nil cells, for as many rows as a block may have.
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
        // Never written after this.
        let size = FormatLimits.maximumRows / 8
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0xFF, count: size)
        return UnsafeRawPointer(memory)
    }()

    private nonisolated(unsafe) static let zeros: UnsafeRawPointer = {
        // Never written after this.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: 16)
        return UnsafeRawPointer(memory)
    }()

    /// Returns the same reader with a symbol table in other memory.
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

    /// The largest number that the bits allow: with exceptions, the mark of an exception.
    @inlinable
    var mark: UInt64 { @inline(__always) get { PackedNumbers.mask(Int(width)) } }

    @inlinable @inline(__always)
    func place(_ index: Int) -> Int64 {
        PackedNumbers(
            places, width: Int(placeWidth), base: Int64(placeBase), step: Int64(placeStep))[index]
    }

    // MARK: Cells

    /// Returns whether a row is nil.
    @inlinable @inline(__always)
    public func isNil(_ row: Int) -> Bool {
        guard let nils else { return false }
        return isSet(nils, row)
    }

    @inlinable @inline(__always)
    func isSet(_ list: UnsafePointer<UInt8>, _ row: Int) -> Bool {
        // Bit 0 in a list of bytes.
        let bit = bitShift == 0 ? 0 : UInt8(truncatingIfNeeded: row & 7)
        return list[row &>> Int(bitShift)] &>> bit & 1 != 0
    }

    /// Returns whether the bytes of a cell are a reference to a large value.
    @inlinable @inline(__always)
    public func isExternal(_ row: Int) -> Bool {
        guard case .cells = form, let extra else { return false }
        return isSet(extra.assumingMemoryBound(to: UInt8.self), row)
    }

    /// Returns the integer of a row that is not nil.
    @inlinable @inline(__always)
    public func integer(_ row: Int) -> Int64 {
        let bits = numbers.bits(row)
        if count > 0, bits == mark { return Int64(bitPattern: exception(row)) }
        return base &+ Int64(truncatingIfNeeded: bits)
    }

    /// Returns the double of a row that is not nil.
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

    /// Returns the float of a row that is not nil.
    @inlinable @inline(__always)
    public func float(_ row: Int) -> Float {
        let bits = numbers.bits(row)
        let word =
            count > 0 && bits == mark
            ? exception(row) : UInt64(bitPattern: base) &+ bits &<< UInt64(detail)
        return Float(bitPattern: UInt32(truncatingIfNeeded: word))
    }

    /// Returns the 16 bytes of a row that is not nil.
    @inlinable @inline(__always)
    public func fixed16(_ row: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: words + row &* 16, count: 16)
    }

    /// Returns the index of the cell or the dictionary entry with the bytes of a row; nil if its code has no
    /// entry.
    @inlinable @inline(__always)
    func index(_ row: Int) -> Int? {
        guard case .dictionary = form else { return row }
        let code = numbers.bits(row)
        return code < UInt64(count) ? Int(truncatingIfNeeded: code) : nil
    }

    /// Returns the bytes of a row that is not nil, as they are in memory: its codes if the form is symbols.
    /// Nil if its places are not in order.
    @inlinable @inline(__always)
    public func bytes(_ row: Int) -> UnsafeRawBufferPointer? {
        guard let index = index(row) else { return nil }
        let (start, end) = (place(index), place(index &+ 1))
        guard start >= 0, start <= end, end <= base else { return nil }
        return UnsafeRawBufferPointer(
            start: data + Int(truncatingIfNeeded: start),
            count: Int(truncatingIfNeeded: end &- start))
    }

    /// Returns the same bytes as `bytes(_:)`.
    ///
    /// - Throws: `FormatError` if its places are not in order.
    package func stored(_ row: Int) throws(FormatError) -> UnsafeRawBufferPointer {
        guard let bytes = bytes(row) else { throw badCell(row) }
        return bytes
    }

    /// The symbol table; only for the form `symbols`.
    package var symbols: SymbolTable { table }

    @inlinable
    var table: SymbolTable {
        @inline(__always) get {
            SymbolTable(entries: extra.unsafelyUnwrapped, count: Int(count))
        }
    }

    /// Returns the maximum number of bytes of a cell with these codes.
    @inlinable @inline(__always)
    public static func mostBytes(_ codes: UnsafeRawBufferPointer) -> Int {
        codes.count &* SymbolTable.longest
    }

    /// Expands the codes of a cell of symbols.
    ///
    /// - Parameters:
    ///   - codes: the stored bytes of the cell.
    ///   - target: has room for `mostBytes(codes)`, and eight more.
    /// - Returns: the number of bytes written; nil if a code is undefined.
    @inlinable @inline(__always)
    public func expand(_ codes: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer)
        -> Int?
    {
        table.expand(codes, into: target)
    }

    /// Returns whether the cell of a row has these bytes; the row must be neither nil nor a reference. Nil if
    /// its places are not in order, or a code is undefined.
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

    /// Returns the error for a cell that cannot be read.
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

    /// Whether a number column has exceptions.
    var hasExceptions: Bool { count > 0 && form != .dictionary && form != .symbols }

    /// Returns whether a row is an exception.
    func isException(_ row: Int) -> Bool { exceptionRow(nearest(row)) == row }

    private func exceptionRow(_ index: Int) -> Int {
        guard let extra else { return -1 }
        return Int(
            UInt16(littleEndian: extra.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)))
    }

    /// Returns the index of the first exception at or after a row, or of the last one.
    private func nearest(_ row: Int) -> Int {
        var (low, high) = (0, Int(count) - 1)
        while low < high {
            let middle = (low + high) / 2
            if exceptionRow(middle) < row { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the value of an exception. A marked row that is no exception, which no writer produces, has
    /// the value of another one.
    @usableFromInline @inline(never)
    func exception(_ row: Int) -> UInt64 {
        guard let extra else { return 0 }
        return UInt64(
            littleEndian: extra.loadUnaligned(
                fromByteOffset: Int(count) * 2 + nearest(row) * 8, as: UInt64.self))
    }

    // MARK: Memory

    /// Returns the address of the number of a row, or of the place of its bytes.
    @inlinable @inline(__always)
    public func address(_ row: Int) -> UnsafeRawPointer {
        switch form {
        case .fixed16: words + row &* 16
        case .cells, .symbols: places + (row &* Int(placeWidth)) &>> 3
        default: words + (row &* Int(width)) &>> 3
        }
    }

    /// Returns the address of the place of a row's dictionary entry.
    @inlinable @inline(__always)
    public func entryAddress(_ row: Int) -> UnsafeRawPointer {
        places + ((index(row) ?? 0) &* Int(placeWidth)) &>> 3
    }

    /// Returns the approximate address of the bytes of a row.
    @inlinable @inline(__always)
    public func dataAddress(_ row: Int) -> UnsafeRawPointer {
        data + Int(truncatingIfNeeded: max(0, min(place(index(row) ?? 0), base)))
    }

    /// Returns the address of the byte that contains the nil bit of a row.
    @inlinable @inline(__always)
    public func nilAddress(_ row: Int) -> UnsafeRawPointer? {
        nils.map { UnsafeRawPointer($0 + row &>> Int(bitShift)) }
    }
}
