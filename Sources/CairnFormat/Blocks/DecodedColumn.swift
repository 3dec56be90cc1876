// A decoded column of a block, ready for kernels.                                   Format 50
//
// One allocation: nil bytes, externals, offsets, codes and values, each at a multiple of 16.
//
// Invariants: everything below `count` rows is inside the allocation; codes are below `dictionaryCount`;
// offsets are ascending and end inside the data. `decode` has checked all of it, so no accessor checks again.
// Threads: immutable after init; pointers into it are valid while the object lives, so who takes one keeps
// the object alive (`withExtendedLifetime`).

package final class DecodedColumn: @unchecked Sendable {
    // Immutable after init; the last reference frees the memory.

    @usableFromInline package let kind: ColumnKind
    /// The number of rows of the block.
    @usableFromInline package let count: Int
    /// One byte per row, 1 for nil; nil if every row has a value.
    @usableFromInline package let nils: UnsafePointer<UInt8>?
    package let nilCount: Int
    /// One byte per row, 1 if the cell is a reference to a large value; nil if no cell is.
    @usableFromInline package let externals: UnsafePointer<UInt8>?
    /// Integers: distances from `base` of `width` bytes. Doubles, floats, 16-byte values: the values
    /// themselves. Bytes: the cells, or the dictionary's entries, in sequence.
    @usableFromInline package let values: UnsafeRawPointer
    /// For integers, the bytes of a distance: 0, 1, 2, 4 or 8.
    @usableFromInline package let width: Int
    /// For integers, the base that is added to each distance.
    @usableFromInline package let base: Int64
    /// For bytes, the start of each cell, or of each dictionary entry; one more for the end.
    @usableFromInline package let offsets: UnsafePointer<UInt32>
    /// The code of each row; nil if the column has no dictionary.
    @usableFromInline package let codes: UnsafePointer<UInt16>?
    /// The number of distinct values of a column with a dictionary; otherwise 0.
    @usableFromInline package let dictionaryCount: Int
    /// The memory that the column uses in bytes, for the cache's budget.
    package let byteCount: Int
    private let allocation: UnsafeMutableRawPointer

    init(_ parts: consuming DecodedParts) {
        kind = parts.kind
        count = parts.count
        nils = parts.nils.map { UnsafePointer($0) }
        nilCount = parts.nilCount
        externals = parts.externals.map { UnsafePointer($0) }
        values = UnsafeRawPointer(parts.values)
        width = parts.width
        base = parts.base
        offsets = UnsafePointer(parts.offsets)
        codes = parts.codes.map { UnsafePointer($0) }
        dictionaryCount = parts.dictionaryCount
        byteCount = parts.byteCount
        allocation = parts.take()
    }

    deinit {
        allocation.deallocate()
    }

    /// Returns whether a row is nil.
    @inlinable
    package func isNil(at row: Int) -> Bool {
        if let nils { return nils[row] != 0 }
        return false
    }

    /// Returns whether the bytes of a cell are a reference to a large value.
    @inlinable
    package func isExternal(at row: Int) -> Bool {
        if let externals { return externals[row] != 0 }
        return false
    }

    /// Returns the integer of a row; an arbitrary integer if the row is nil.
    @inlinable
    package func integer(at row: Int) -> Int64 {
        switch width {
        case 0: base
        case 1: base &+ Int64(values.load(fromByteOffset: row, as: UInt8.self))
        case 2: base &+ Int64(values.load(fromByteOffset: row &* 2, as: UInt16.self))
        case 4: base &+ Int64(values.load(fromByteOffset: row &* 4, as: UInt32.self))
        default: values.load(fromByteOffset: row &* 8, as: Int64.self)
        }
    }

    /// All doubles; a nil row has an arbitrary double.
    @inlinable
    package var doubles: UnsafePointer<Double> { values.assumingMemoryBound(to: Double.self) }

    @inlinable
    package func double(at row: Int) -> Double {
        values.load(fromByteOffset: row &* 8, as: Double.self)
    }

    /// All floats; a nil row has an arbitrary float.
    @inlinable
    package var floats: UnsafePointer<Float> { values.assumingMemoryBound(to: Float.self) }

    @inlinable
    package func float(at row: Int) -> Float {
        values.load(fromByteOffset: row &* 4, as: Float.self)
    }

    /// Returns the 16 bytes of a row.
    @inlinable
    package func fixed16(at row: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: values + row &* 16, count: 16)
    }

    /// Returns the bytes of a row: empty if it is nil, 24 if it is external.
    @inlinable
    package func bytes(at row: Int) -> UnsafeRawBufferPointer {
        if let codes { return entry(Int(codes[row]), isNil: isNil(at: row)) }
        return entry(row, isNil: false)
    }

    /// Returns the code of a row in a column with a dictionary; 0 for a nil row.
    @inlinable
    package func code(at row: Int) -> Int {
        if let codes { return Int(codes[row]) }
        preconditionFailure("only a column with a dictionary has codes")
    }

    /// Returns a dictionary entry; its code must be below `dictionaryCount`.
    @inlinable
    package func dictionaryEntry(_ code: Int) -> UnsafeRawBufferPointer {
        entry(code, isNil: false)
    }

    @inlinable
    package func entry(_ index: Int, isNil: Bool) -> UnsafeRawBufferPointer {
        let start = Int(offsets[index])
        let length = isNil ? 0 : Int(offsets[index &+ 1]) &- start
        return UnsafeRawBufferPointer(start: values + start, count: length)
    }

    /// Checks that every integer that is not nil is in the range that its column allows.
    ///
    /// - Parameter rule: the rule that a violation reports.
    package func requireIntegers(in range: ClosedRange<Int64>, rule: String) throws(FormatError) {
        for row in 0..<count where !isNil(at: row) {
            let value = integer(at: row)
            guard range.contains(value) else {
                throw FormatError(
                    .malformed, rule, "an integer is outside the range of its column", at: row,
                    expected: UInt64(
                        bitPattern: value < range.lowerBound
                            ? range.lowerBound : range.upperBound),
                    found: UInt64(bitPattern: value))
            }
        }
    }
}
