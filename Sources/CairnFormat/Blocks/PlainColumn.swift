// A column on its way into a block: plain values that somebody else owns.        Format 50
//
// Threads: borrowed memory; valid for the call that it is passed to.

/// Borrowed plain values of one column.
package struct PlainColumn {
    package let kind: ColumnKind
    package let propertyID: UInt32
    /// One byte a row, not 0 for nil; without it no row is nil.
    package let nils: UnsafePointer<UInt8>?
    /// Int64, Double, Float or 16 bytes a row; of bytes, where each cell begins in `data` (UInt32).
    let values: UnsafeRawPointer
    let lengths: UnsafePointer<UInt32>?
    let data: UnsafePointer<UInt8>?
    /// One byte a row, not 0 where the 24 bytes of the cell are a reference to a large value.
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

    /// Integers, booleans (0 and 1), references, order keys.
    package static func integers(
        _ propertyID: UInt32, _ values: UnsafePointer<Int64>, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.integer, propertyID, nils, UnsafeRawPointer(values))
    }

    /// Doubles, and dates in seconds since 2001-01-01 UTC.
    package static func doubles(
        _ propertyID: UInt32, _ values: UnsafePointer<Double>, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.double, propertyID, nils, UnsafeRawPointer(values))
    }

    /// Floats.
    package static func floats(
        _ propertyID: UInt32, _ values: UnsafePointer<Float>, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.float, propertyID, nils, UnsafeRawPointer(values))
    }

    /// UUIDs, 16 bytes a row.
    package static func fixed16(
        _ propertyID: UInt32, _ values: UnsafeRawPointer, nils: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(.fixed16, propertyID, nils, values)
    }

    /// Strings, data, URIs, decimals: row `i` has `lengths[i]` bytes from `starts[i]` on in `data`.
    /// Of a row that is nil neither is looked at.
    package static func bytes(
        _ propertyID: UInt32, starts: UnsafePointer<UInt32>, lengths: UnsafePointer<UInt32>,
        data: UnsafePointer<UInt8>, nils: UnsafePointer<UInt8>? = nil,
        externals: UnsafePointer<UInt8>? = nil
    ) -> PlainColumn {
        PlainColumn(
            .bytes, propertyID, nils, UnsafeRawPointer(starts), lengths: lengths, data: data,
            externals: externals)
    }

    /// Any kind whose values lie as `ColumnBuffer` has them.
    /// - Parameter values: as in the functions above; of bytes the starts.
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
