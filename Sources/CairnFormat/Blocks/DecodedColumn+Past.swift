// Columns that replace missing ones of older blocks.                                Format 70.5, F-720, F-721
//
// They are built from a cell, or from a column and a cell for its nil rows, and are used like decoded
// columns.

/// A cell that replaces missing ones; of a column of one of the five kinds.
package enum PastCell: Sendable, Hashable {
    /// No cell: the rows are nil.
    case null
    case integer(Int64)
    /// By its bits, so that every value equals itself.
    case double(bits: UInt64)
    case float(bits: UInt32)
    /// For a column of bytes, or of 16 bytes.
    case bytes([UInt8])

    /// Returns a cell with a double.
    package static func double(_ value: Double) -> PastCell { .double(bits: value.bitPattern) }

    /// Whether there is no cell.
    package var isNull: Bool { self == .null }

    /// The number of bytes of a cell of bytes; 0 for others.
    package var count: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
}

extension DecodedColumn {
    /// Returns a column with the same cell in every row.
    ///
    /// - Parameter cell: a cell of that kind, or `.null`.
    package static func constant(_ cell: PastCell, kind: ColumnKind, rows: Int) -> DecodedColumn {
        precondition(rows >= 1 && rows <= FormatLimits.maximumRows, "a block has 1 to 1,024 rows")
        switch cell {
        case .null: return allNil(kind: kind, rows: rows)
        case .integer(let value):
            var parts = DecodedParts(kind: kind, count: rows, hasNils: false, valueBytes: 8)
            parts.base = value
            parts.values.storeBytes(of: 0, as: UInt64.self)
            return DecodedColumn(parts)
        case .double(let bits):
            let parts = DecodedParts(kind: kind, count: rows, hasNils: false, valueBytes: rows * 8)
            parts.values.initializeMemory(as: UInt64.self, repeating: bits, count: rows)
            return DecodedColumn(parts)
        case .float(let bits):
            let parts = DecodedParts(kind: kind, count: rows, hasNils: false, valueBytes: rows * 4)
            parts.values.initializeMemory(as: UInt32.self, repeating: bits, count: rows)
            return DecodedColumn(parts)
        case .bytes(let bytes) where kind == .fixed16:
            let parts = DecodedParts(kind: kind, count: rows, hasNils: false, valueBytes: rows * 16)
            bytes.withUnsafeBytes { source in
                for row in 0..<rows {
                    UnsafeMutableRawBufferPointer(start: parts.values + row * 16, count: 16)
                        .copyMemory(from: source)
                }
            }
            return DecodedColumn(parts)
        case .bytes(let bytes):
            var parts = DecodedParts(
                kind: kind, count: rows, hasNils: false, offsets: 2, hasCodes: true,
                valueBytes: bytes.count)
            parts.offsets[0] = 0
            parts.offsets[1] = UInt32(bytes.count)
            parts.codes?.initialize(repeating: 0, count: rows)
            parts.dictionaryCount = 1
            parts.values.copyMemory(from: bytes, byteCount: bytes.count)
            return DecodedColumn(parts)
        }
    }

    /// Returns the same column with a cell in its nil rows. Large values stay where they are.
    ///
    /// - Parameter cell: a cell of the column's kind.
    package func filled(with cell: PastCell) -> DecodedColumn {
        guard nilCount > 0, !cell.isNull else { return self }
        switch cell {
        case .null: return self
        case .integer(let value):
            var parts = DecodedParts(
                kind: kind, count: count, hasNils: false, valueBytes: count * 8)
            parts.width = 8
            for row in 0..<count {
                parts.values.storeBytes(
                    of: isNil(at: row) ? value : integer(at: row), toByteOffset: row * 8,
                    as: Int64.self)
            }
            return DecodedColumn(parts)
        case .double(let bits):
            let parts = DecodedParts(
                kind: kind, count: count, hasNils: false, valueBytes: count * 8)
            for row in 0..<count {
                parts.values.storeBytes(
                    of: isNil(at: row) ? bits : double(at: row).bitPattern, toByteOffset: row * 8,
                    as: UInt64.self)
            }
            return DecodedColumn(parts)
        case .float(let bits):
            let parts = DecodedParts(
                kind: kind, count: count, hasNils: false, valueBytes: count * 4)
            for row in 0..<count {
                parts.values.storeBytes(
                    of: isNil(at: row) ? bits : float(at: row).bitPattern, toByteOffset: row * 4,
                    as: UInt32.self)
            }
            return DecodedColumn(parts)
        case .bytes(let bytes) where kind == .fixed16:
            let parts = DecodedParts(
                kind: kind, count: count, hasNils: false, valueBytes: count * 16)
            bytes.withUnsafeBytes { filling in
                for row in 0..<count {
                    UnsafeMutableRawBufferPointer(start: parts.values + row * 16, count: 16)
                        .copyMemory(from: isNil(at: row) ? filling : fixed16(at: row))
                }
            }
            return DecodedColumn(parts)
        case .bytes(let bytes): return bytes.withUnsafeBytes { filled(with: $0) }
        }
    }

    private func filled(with filling: UnsafeRawBufferPointer) -> DecodedColumn {
        var total = 0
        for row in 0..<count { total += isNil(at: row) ? filling.count : bytes(at: row).count }
        // The limit of a block and a default cell in each of its rows fit the offsets. (F-717)
        let parts = DecodedParts(
            kind: kind, count: count, hasNils: false, hasExternals: externals != nil,
            offsets: count + 1, valueBytes: total)
        var end = 0
        for row in 0..<count {
            let cell = isNil(at: row) ? filling : bytes(at: row)
            parts.offsets[row] = UInt32(end)
            UnsafeMutableRawBufferPointer(start: parts.values + end, count: cell.count)
                .copyMemory(from: cell)
            parts.externals?[row] = isExternal(at: row) ? 1 : 0
            end += cell.count
        }
        parts.offsets[count] = UInt32(end)
        return DecodedColumn(parts)
    }

    /// Returns a column of floats as one of doubles.
    package func widened() -> DecodedColumn {
        precondition(kind == .float, "floats are widened to doubles")
        var parts = DecodedParts(
            kind: .double, count: count, hasNils: nils != nil, valueBytes: count * 8)
        if let nils { parts.nils?.update(from: nils, count: count) }
        parts.nilCount = nilCount
        for row in 0..<count {
            parts.values.storeBytes(
                of: Double(float(at: row)), toByteOffset: row * 8, as: Double.self)
        }
        return DecodedColumn(parts)
    }
}
