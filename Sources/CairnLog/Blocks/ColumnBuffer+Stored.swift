// Compares and copies cells of a batch and stored cells.

import CairnFormat
package import CairnStore

extension ColumnBuffer {
    /// Whether two cells of the batch have the same value.
    func isEqual(_ row: Int, _ other: Int) -> Bool {
        let (here, there) = (hasValue(row), hasValue(other))
        guard here && there else { return here == there }
        switch kind {
        case .integer, .double, .float: return word(row) == word(other)
        case .bytes, .fixed16:
            return (states[row] == State.external) == (states[other] == State.external)
                && compareCells(cell(row), cell(other)) == 0
        }
    }

    /// Whether a cell has the value of a stored one.
    @inline(__always)
    func isEqual(
        _ row: Int, _ cells: UnsafePointer<CellColumn>, _ view: BlockView, _ slot: Int
    ) throws(StoreError) -> Bool {
        let has = hasValue(row)
        if cells.pointee.isNil(slot) { return !has }
        guard has else { return false }
        switch kind {
        case .integer:
            return values.load(fromByteOffset: row &* 8, as: Int64.self)
                == cells.pointee.integer(slot)
        case .double: return word(row) == cells.pointee.double(slot).bitPattern
        case .float: return word(row) == UInt64(cells.pointee.float(slot).bitPattern)
        case .fixed16: return compareCells(cell(row), cells.pointee.fixed16(slot)) == 0
        case .bytes:
            let isReference = states[row] == State.external
            let stored = cells.pointee.bytes(slot)
            if cells.pointee.isExternal(slot) {
                if isReference { return compareCells(bytes(row: row), stored) == 0 }
                let whole = try view.block.large(stored)
                return whole.withUnsafeBytes { compareCells(bytes(row: row), $0) == 0 }
            }
            let given = bytes(row: row)
            return !isReference && given.count == stored.count && compareCells(given, stored) == 0
        }
    }

    /// Copies the bytes of a stored cell that is not nil; for a large value, the value itself.
    @inline(__always)
    mutating func setBytes(
        row: Int, of cells: UnsafePointer<CellReader>, _ slot: Int, _ view: PointView
    ) throws(StoreError) {
        guard let stored = cells.pointee.bytes(slot) else { throw view.block.badCell(cells, slot) }
        if case .symbols = cells.pointee.form {
            var isGood = true
            setBytes(upTo: CellReader.mostBytes(stored) + 8, row: row) { target in
                guard let count = cells.pointee.expand(stored, into: target) else {
                    isGood = false
                    return 0
                }
                return count
            }
            guard isGood else { throw view.block.badCell(cells, slot) }
            return
        }
        if !cells.pointee.isExternal(slot) { return setBytes(stored, row: row) }
        let value = try view.block.largeBytes(cells.pointee, slot)
        value.withUnsafeBytes { setBytes($0, row: row) }
    }

    /// Copies the value of a stored cell; for a large value, the value itself.
    @inline(__always)
    mutating func copyCell(
        from cells: UnsafePointer<CellReader>, _ view: PointView, _ slot: Int, to row: Int
    ) throws(StoreError) {
        if cells.pointee.isNil(slot) { return setNil(row: row) }
        switch cells.pointee.kind {
        case .integer: setInteger(cells.pointee.integer(slot), row: row)
        case .double: setDouble(cells.pointee.double(slot), row: row)
        case .float: setFloat(cells.pointee.float(slot), row: row)
        case .fixed16: setFixed16(cells.pointee.fixed16(slot), row: row)
        case .bytes: try setBytes(row: row, of: cells, slot, view)
        }
    }

    /// The hash of a cell that is a key by itself; nil for nil.
    @inline(__always)
    func keyHash(_ row: Int, seed: UInt64) -> UInt64? {
        if isNil(row: row) { return nil }
        return kind.isBytes
            ? StoredHash.of(bytes(row: row), seed: seed)
            : StoredHash.of(word: word(row), seed: seed)
    }

    /// Whether a cell that has a value has the same key as a stored one. A value with frames of its own is
    /// never a key.
    @inline(__always)
    func isKey(
        _ row: Int, _ cells: UnsafePointer<CellReader>, _ slot: Int, _ view: PointView
    ) throws(StoreError) -> Bool {
        if cells.pointee.isNil(slot) { return false }
        guard kind.isBytes else {
            return UInt64(bitPattern: cells.pointee.integer(slot)) == word(row)
        }
        if cells.pointee.isExternal(slot) { return false }
        guard let has = cells.pointee.hasBytes(slot, bytes(row: row)) else {
            throw view.block.badCell(cells, slot)
        }
        return has
    }

    /// The same for a decoded column.
    @inline(__always)
    func isKey(_ row: Int, _ cells: UnsafePointer<CellColumn>, _ slot: Int) -> Bool {
        if cells.pointee.isNil(slot) { return false }
        if kind.isBytes {
            if cells.pointee.isExternal(slot) { return false }
            let (stored, given) = (cells.pointee.bytes(slot), bytes(row: row))
            return stored.count == given.count && compareCells(stored, given) == 0
        }
        return UInt64(bitPattern: cells.pointee.integer(slot)) == word(row)
    }

    /// Sets a cell to a reference to a value that has frames of its own.
    mutating func setReference(_ reference: ValueReference, row: Int) {
        var writer = ByteWriter(capacity: ValueReference.size)
        reference.encode(to: &writer)
        setBytes(writer.bytes, row: row)
        states[row] = State.external
    }

    /// Sets a cell to the reference to a stored large value, if the cell has that value: it is not rewritten
    /// then, and did not change.
    mutating func keepReference(
        to cells: UnsafePointer<CellColumn>, _ view: BlockView, _ slot: Int, row: Int
    ) throws(StoreError) {
        if states[row] == State.external { return }
        guard try isEqual(row, cells, view, slot) else { return }
        setBytes(cells.pointee.bytes(slot), row: row)
        states[row] = State.external
    }

    /// Copies the value of another row of the batch.
    mutating func copyCell(from other: Int, to row: Int) {
        guard hasValue(other) else { return setNil(row: row) }
        switch kind {
        case .integer, .double:
            values.storeBytes(of: word(other), toByteOffset: row &* 8, as: UInt64.self)
        case .float:
            values.storeBytes(
                of: UInt32(truncatingIfNeeded: word(other)), toByteOffset: row &* 4, as: UInt32.self
            )
        case .fixed16: return setFixed16(cell(other), row: row)
        case .bytes:
            // Both cells share their bytes.
            values.storeBytes(
                of: values.load(fromByteOffset: other &* 4, as: UInt32.self),
                toByteOffset: row &* 4,
                as: UInt32.self)
            lengths[row] = lengths[other]
            states[row] = states[other] == State.external ? State.external : State.set
            return
        }
        states[row] = State.set
    }

    /// Copies the value of a row of another batch; a default becomes a value of its own.
    mutating func copyCell(
        of other: UnsafePointer<ColumnBuffer>, from source: Int, to row: Int
    ) {
        guard other.pointee.hasValue(source) else { return setNil(row: row) }
        switch kind {
        case .integer, .double:
            values.storeBytes(
                of: other.pointee.word(source), toByteOffset: row &* 8, as: UInt64.self)
            states[row] = State.set
        case .float:
            values.storeBytes(
                of: UInt32(truncatingIfNeeded: other.pointee.word(source)), toByteOffset: row &* 4,
                as: UInt32.self)
            states[row] = State.set
        case .fixed16: setFixed16(other.pointee.cell(source), row: row)
        case .bytes:
            setBytes(other.pointee.bytes(row: source), row: row)
            if other.pointee.states[source] == State.external { states[row] = State.external }
        }
    }

    /// Copies the value of a stored cell; for a large value the reference, so that it is not rewritten,
    /// unless the value itself is needed.
    package mutating func copyCell(
        from block: CachedBlock, _ column: Catalog.StoredColumn, _ slot: Int, to row: Int,
        isWhole: Bool = false
    ) throws(StoreError) {
        let cells = try block.column(column)
        if isWhole, let cells, !cells.isNil(at: slot), cells.isExternal(at: slot) {
            let value = try block.large(cells.bytes(at: slot))
            value.withUnsafeBytes { setBytes($0, row: row) }
            return
        }
        copyCell(from: cells, slot, to: row)
    }

    /// The same for a viewed block; copies a large value itself if that is needed.
    mutating func copyCell(
        from cells: CellColumn, _ view: BlockView, _ slot: Int, to row: Int, isWhole: Bool
    ) throws(StoreError) {
        if cells.isNil(slot) { return setNil(row: row) }
        switch kind {
        case .integer: setInteger(cells.integer(slot), row: row)
        case .double: setDouble(cells.double(slot), row: row)
        case .float: setFloat(cells.float(slot), row: row)
        case .fixed16: setFixed16(cells.fixed16(slot), row: row)
        case .bytes:
            if isWhole, cells.isExternal(slot) {
                let value = try view.block.large(cells.bytes(slot))
                return value.withUnsafeBytes { setBytes($0, row: row) }
            }
            setBytes(cells.bytes(slot), row: row)
            if cells.isExternal(slot) { states[row] = State.external }
        }
    }

    /// Copies the value of a stored cell; for a large value, the reference. Without a column every cell is
    /// nil.
    mutating func copyCell(from cells: DecodedColumn?, _ slot: Int, to row: Int) {
        guard let cells, !cells.isNil(at: slot) else { return setNil(row: row) }
        switch kind {
        case .integer: setInteger(cells.integer(at: slot), row: row)
        case .double: setDouble(cells.double(at: slot), row: row)
        case .float: setFloat(cells.float(at: slot), row: row)
        case .fixed16: setFixed16(cells.fixed16(at: slot), row: row)
        case .bytes:
            setBytes(cells.bytes(at: slot), row: row)
            if cells.isExternal(at: slot) { states[row] = State.external }
        }
    }
}
