// A column to be encoded into a block: plain values in the caller's memory.      Format 50
//
// Threads: borrowed memory; valid for the call that it is passed to.

/// Borrowed plain values of one column.
package struct PlainColumn {
    package let kind: ColumnKind
    package let propertyID: UInt32
    /// One byte per row, not 0 for nil; nil: no row is nil.
    package let nils: UnsafePointer<UInt8>?
    /// Int64, Double, Float or 16 bytes per row; for bytes, the start of each cell in `data` (UInt32).
    let values: UnsafeRawPointer
    let lengths: UnsafePointer<UInt32>?
    let data: UnsafePointer<UInt8>?
    /// One byte per row, not 0 if the 24 bytes of the cell are a reference to a large value.
    let externals: UnsafePointer<UInt8>?

    private init(
        _ kind: ColumnKind, _ propertyID: UInt32, _ nils: UnsafePointer<UInt8>?,
        _ values: UnsafeRawPointer, lengths: UnsafePointer<UInt32>? = nil,
        data: UnsafePointer<UInt8>? = nil, externals: UnsafePointer<UInt8>? = nil
    ) {
        self.kind = kind
        self.propertyID = propertyID
        self.nils = nils
        self.values = values
        self.lengths = lengths
        self.data = data
        self.externals = externals
    }

    /// Returns a column of integers, booleans (0 and 1), references or order keys.
    package static func integers(
        _ propertyID: UInt32, _ values: UnsafePointer<Int64>, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.integer, propertyID, nils, UnsafeRawPointer(values))
    }

    /// Returns a column of doubles, or of dates in seconds since 2001-01-01 UTC.
    package static func doubles(
        _ propertyID: UInt32, _ values: UnsafePointer<Double>, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.double, propertyID, nils, UnsafeRawPointer(values))
    }

    /// Returns a column of floats.
    package static func floats(
        _ propertyID: UInt32, _ values: UnsafePointer<Float>, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.float, propertyID, nils, UnsafeRawPointer(values))
    }

    /// Returns a column of UUIDs, 16 bytes per row.
    package static func fixed16(
        _ propertyID: UInt32, _ values: UnsafeRawPointer, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.fixed16, propertyID, nils, values)
    }

    /// Returns a column of strings, data, URIs or decimals: row `i` has `lengths[i]` bytes from `starts[i]`
    /// on in `data`. Both are ignored for a nil row.
    package static func bytes(
        _ propertyID: UInt32, starts: UnsafePointer<UInt32>, lengths: UnsafePointer<UInt32>,
        data: UnsafePointer<UInt8>, nils: UnsafePointer<UInt8>? = nil,
        externals: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(
            .bytes, propertyID, nils, UnsafeRawPointer(starts), lengths: lengths, data: data,
            externals: externals)
    }

    /// Returns a column of any kind with the memory layout of `ColumnBuffer`.
    ///
    /// - Parameter values: as in the functions above; for bytes the starts.
    package static func plain(
        _ kind: ColumnKind, _ propertyID: UInt32, values: UnsafeRawPointer,
        lengths: UnsafePointer<UInt32>? = nil, data: UnsafePointer<UInt8>? = nil,
        nils: UnsafePointer<UInt8>? = nil, externals: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        precondition(
            kind != .bytes || (lengths != nil && data != nil), "bytes have lengths and data")
        return PlainColumn(
            kind, propertyID, nils, values, lengths: lengths, data: data, externals: externals)
    }
}
