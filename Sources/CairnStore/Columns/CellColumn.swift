// The stored values of one column for the rows of a batch, wherever they are: in a decoded block, or gathered row by row.
//
//   integers   distances from `base`, `width` bytes each; 8 bytes: the value itself
//   doubles, floats, 16-byte values: themselves
//   bytes      cell or dictionary entry i begins at starts[i]; its length is ends[i] - (starts[i] & mask): with all ones
//              for a mask the second list holds ends, with zero it holds lengths
//
// A column with a dictionary may come with room for the texts of its entries: each is then made when it is first read, and
// the rows that have it share it.
//
// Invariants: whoever makes one has shown that every row of its batch lies inside the memory.
// Threads: a view: good as long as the batch that it came with.

/// The cells of one column of a `RowBatch`.
public struct CellColumn: BitwiseCopyable {
    @usableFromInline package let values: UnsafeRawPointer?
    @usableFromInline package let starts: UnsafePointer<UInt32>?
    @usableFromInline package let ends: UnsafePointer<UInt32>?
    /// The entry of each row; nil if there is no dictionary.
    @usableFromInline package let codes: UnsafePointer<UInt16>?
    /// A byte a row, `nilMark` for nil; nil if every row has a value.
    @usableFromInline package let nils: UnsafePointer<UInt8>?
    /// A byte a row, 1 where the bytes only say where a large value is; nil if they do so nowhere.
    package let externals: UnsafePointer<UInt8>?
    /// Of integers what is added to each distance; of bytes where there is room for the texts of the dictionary, or 0.
    @usableFromInline package private(set) var base: Int64
    @usableFromInline package let mask: UInt32
    @usableFromInline package let width: UInt8
    @usableFromInline package let nilMark: UInt8
    package let kind: ColumnBuffer.Kind
    /// Whether the column was asked for.
    @usableFromInline package let isLoaded: Bool

    /// Where the texts of a dictionary's entries are as soon as they were read; nil if there is no room for them.
    @inlinable var texts: UnsafeMutablePointer<String?>? {
        @inline(__always) get { UnsafeMutablePointer(bitPattern: Int(truncatingIfNeeded: base)) }
    }

    /// Gives a column of texts that has a dictionary room for them.
    ///
    /// - Parameter texts: nil for each entry; good as long as the cells are.
    package mutating func keepTexts(in texts: UnsafeMutablePointer<String?>) {
        precondition(kind == .bytes && codes != nil, "only strings of a dictionary are shared")
        base = Int64(Int(bitPattern: texts))
    }

    /// Cells of a column with a dictionary or not, as a decoder leaves them.
    package init(
        kind: ColumnBuffer.Kind, values: UnsafeRawPointer, base: Int64 = 0, width: Int = 8,
        offsets: UnsafePointer<UInt32>? = nil, codes: UnsafePointer<UInt16>? = nil,
        nils: UnsafePointer<UInt8>? = nil, externals: UnsafePointer<UInt8>? = nil
    ) {
        self.values = values
        starts = offsets
        ends = offsets.map { $0 + 1 }
        self.codes = codes
        self.nils = nils
        self.externals = externals
        self.base = base
        mask = .max
        self.width = UInt8(truncatingIfNeeded: width)
        nilMark = 1
        self.kind = kind
        isLoaded = true
    }

    /// The cells of a column that was filled row by row, until it is changed. Every row of it is set or nil.
    package init(_ column: ColumnBuffer) {
        let isBytes = column.kind == .bytes
        values = isBytes ? UnsafeRawPointer(column.data) : UnsafeRawPointer(column.values)
        starts = isBytes ? UnsafePointer(column.values.assumingMemoryBound(to: UInt32.self)) : nil
        ends = isBytes ? UnsafePointer(column.lengths) : nil
        codes = nil
        nils = UnsafePointer(column.states)
        externals = nil
        base = 0
        mask = 0
        width = 8
        nilMark = ColumnBuffer.State.null
        kind = column.kind
        isLoaded = true
    }

    /// Cells that are all nil.
    ///
    /// - Parameter ones: at least as many bytes of 1 as there are rows.
    package init(allNil kind: ColumnBuffer.Kind, ones: UnsafePointer<UInt8>) {
        self.init(kind: kind, values: UnsafeRawPointer(ones), nils: ones)
    }

    /// A column that was not asked for.
    package static var absent: CellColumn { CellColumn() }

    private init() {
        values = nil
        starts = nil
        ends = nil
        codes = nil
        nils = nil
        externals = nil
        base = 0
        mask = 0
        width = 0
        nilMark = 0
        kind = .integer
        isLoaded = false
    }

    // MARK: Cells

    /// Whether a row is nil.
    @inlinable @inline(__always) public func isNil(_ row: Int) -> Bool {
        if let nils { return nils[row] == nilMark }
        return false
    }

    /// Whether the bytes of a cell only say where its large value is.
    package func isExternal(_ row: Int) -> Bool {
        if let externals { return externals[row] != 0 }
        return false
    }

    /// The integer of a row that is not nil.
    @inlinable @inline(__always) public func integer(_ row: Int) -> Int64 {
        let values = self.values.unsafelyUnwrapped
        return switch width {
        case 8: values.load(fromByteOffset: row &* 8, as: Int64.self)
        case 2: base &+ Int64(values.load(fromByteOffset: row &* 2, as: UInt16.self))
        case 1: base &+ Int64(values.load(fromByteOffset: row, as: UInt8.self))
        case 4: base &+ Int64(values.load(fromByteOffset: row &* 4, as: UInt32.self))
        default: base
        }
    }

    /// The double of a row that is not nil.
    @inlinable @inline(__always) public func double(_ row: Int) -> Double {
        values.unsafelyUnwrapped.load(fromByteOffset: row &* 8, as: Double.self)
    }

    /// The float of a row that is not nil.
    @inlinable @inline(__always) public func float(_ row: Int) -> Float {
        values.unsafelyUnwrapped.load(fromByteOffset: row &* 4, as: Float.self)
    }

    /// The 16 bytes of a row that is not nil.
    @inlinable @inline(__always) public func fixed16(_ row: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: values.unsafelyUnwrapped + row &* 16, count: 16)
    }

    /// The bytes of a row that is not nil.
    @inlinable @inline(__always) public func bytes(_ row: Int) -> UnsafeRawBufferPointer {
        let index = if let codes { Int(codes[row]) } else { row }
        let start = starts.unsafelyUnwrapped[index]
        let length = ends.unsafelyUnwrapped[index] &- (start & mask)
        return UnsafeRawBufferPointer(
            start: values.unsafelyUnwrapped + Int(start), count: Int(length))
    }

    /// The text of a row that is not nil.
    @inlinable @inline(__always) public func string(_ row: Int) -> String {
        if let codes, let texts {
            let place = texts + Int(codes[row])
            if let text = place.pointee { return text }
            return Self.makeText(bytes(row), place)
        }
        return String(decoding: bytes(row), as: UTF8.self)
    }

    /// Makes a text that the rows after it share. Of the cells it is given what it needs: as a method of theirs it would
    /// have all of them written to memory for each row.
    @usableFromInline @inline(never) static func makeText(
        _ bytes: UnsafeRawBufferPointer, _ place: UnsafeMutablePointer<String?>
    ) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        place.pointee = text
        return text
    }
}
