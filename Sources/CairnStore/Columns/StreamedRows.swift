// Rows that a store passes to objects in batches: the rows of a block are created from its columns, column by column, with
// their cells in one slab.
//
//   1. The lengths of the rows are summed up, and as many rows are taken as a slab should hold.
//   2. Each column is written to all the rows in one loop; bytes go to the end of each row's tail so far.
//   3. The nil bits of 64 columns at a time are collected beside the rows.
//
// A row comes out byte by byte as `RowCellsBuilder` makes it. A slab is small, since one row that somebody keeps keeps it.
//
// Properties are not checked for exclusive access: nothing is called while one of them is being changed.
//
// Threads: one thread.

/// Rows of one entity, in the form that objects keep.
package final class StreamedRows {
    /// How many rows a slab holds at most.
    private static let mostRows = 32
    /// What the rows of a slab take together unless one is longer, in bytes.
    private static let mostBytes = 8160

    /// Of one row that is being made.
    private struct Place {
        var base: UnsafeMutableRawPointer
        /// While it is measured the length, then where its tail ends so far.
        var end: Int
        /// A bit for each of 64 columns: set where it is nil.
        var nils: UInt64
    }

    /// Their entity, as an index of the schema.
    package let entity: Int
    /// How many there are.
    @exclusivity(unchecked) package private(set) var count = 0
    /// The numbers of their objects.
    package let references: UnsafeMutablePointer<UInt64>
    /// Their versions.
    package let versions: UnsafeMutablePointer<UInt32>
    private let columns: Int
    private let start: Int
    private let places: UnsafeMutablePointer<Place>
    @exclusivity(unchecked) private var slab: CellSlab?
    /// Whether the cells were made here, and nobody else can have them yet.
    @exclusivity(unchecked) private var isOwn = true
    /// How many rows are measured for the next slab: about twice as many as went into the last one.
    @exclusivity(unchecked) private var expected = StreamedRows.mostRows

    /// No rows yet; there will be rows of an entity that has so many columns.
    package init(entity: Int, columns: Int) {
        self.entity = entity
        self.columns = columns
        start = RowCells.start(columns)
        references = .allocate(capacity: Self.mostRows)
        versions = .allocate(capacity: Self.mostRows)
        places = .allocate(capacity: Self.mostRows)
    }

    deinit {
        references.deallocate()
        versions.deallocate()
        places.deallocate()
    }

    /// Takes one row, in place of all.
    package func take(_ reference: UInt64, _ version: UInt32, _ cells: RowCells) {
        references[0] = reference
        versions[0] = version
        places[0].base = UnsafeMutableRawPointer(mutating: cells.base)
        slab = cells.slab
        isOwn = false
        count = 1
    }

    /// Lets all rows go.
    package func forget() {
        slab = nil
        count = 0
    }

    /// Makes the cells of the first of some rows, in place of all; none if the first has a value outside the columns. The
    /// caller sets their numbers and versions.
    ///
    /// - Parameters:
    ///   - cells: a column each of the entity.
    ///   - slots: where the rows lie in the columns; at least one.
    package func gather(
        _ cells: UnsafeBufferPointer<CellColumn>, _ slots: UnsafeBufferPointer<UInt16>
    ) {
        precondition(cells.count == columns, "the rows have different columns")
        count = arrange(measure(cells, slots))
        for index in cells.indices {
            if index & 63 == 0, index > 0 { putNils(count, index / 64 - 1) }
            put(cells[index], index, slots, count)
        }
        if columns > 0 { putNils(count, (columns - 1) / 64) }
    }

    /// The values of a row.
    package func cells(_ row: Int) -> RowCells {
        guard let slab, row >= 0, row < count else { preconditionFailure("there is no such row") }
        return RowCells(places[row].base, in: slab)
    }

    /// Enters the number of their store; see `StoreNumbers`. Nobody may have the cells yet.
    ///
    /// - Parameter columns: the columns that are references.
    package func move(to store: UInt32, _ columns: [Int]) {
        for row in 0..<count {
            references[row] = UInt64(store) << 32 | references[row] & StoreNumbers.mask
        }
        if columns.isEmpty || count == 0 { return }
        guard isOwn else {
            let cells = cells(0).moved(to: store, columns, columns: self.columns)
            return take(references[0], versions[0], cells)
        }
        for row in 0..<count {
            RowCells.move(places[row].base, to: store, columns, columns: self.columns)
        }
    }

    // MARK: Steps

    /// The lengths of the rows, and how many of them have all their values in the columns.
    private func measure(
        _ cells: UnsafeBufferPointer<CellColumn>, _ slots: UnsafeBufferPointer<UInt16>
    ) -> Int {
        var count = min(slots.count, expected)
        for row in 0..<count { places[row].end = start &+ columns &* 8 }
        for column in cells {
            switch column.kind {
            case .integer, .double, .float: break
            case .fixed16:
                for row in 0..<count where !column.isNil(Int(slots[row])) { places[row].end &+= 16 }
            case .bytes:
                if column.externals != nil {
                    count = (0..<count).first { column.isExternal(Int(slots[$0])) } ?? count
                }
                for row in 0..<count where !column.isNil(Int(slots[row])) {
                    places[row].end &+= column.bytes(Int(slots[row])).count
                }
            }
        }
        return count
    }

    /// Gives rows their places in a new slab, as many as go into it, and says how many.
    private func arrange(_ count: Int) -> Int {
        var (taken, total) = (0, 0)
        while taken < count {
            let size = (places[taken].end &+ 7) & ~7
            if taken > 0, total + size > Self.mostBytes { break }
            total += size
            taken += 1
        }
        expected = min(Self.mostRows, max(1, taken) * 2)
        guard taken > 0 else { return 0 }
        let slab = CellSlab.make(byteCount: total)
        var base = slab.base
        for row in 0..<taken {
            let length = places[row].end
            precondition(length <= Int(UInt32.max), "the values of a row exceed 4 GiB")
            RowCells.begin(base, length: length, in: slab)
            places[row] = Place(base: base, end: start &+ columns &* 8, nils: .max)
            base += (length &+ 7) & ~7
        }
        self.slab = slab
        isOwn = true
        return taken
    }

    private func put(
        _ column: CellColumn, _ index: Int, _ slots: UnsafeBufferPointer<UInt16>, _ count: Int
    ) {
        switch column.kind {
        case .integer:
            put(column, index, slots, count) { UInt64(bitPattern: column.integer($0)) }
        case .double: put(column, index, slots, count) { column.double($0).bitPattern }
        case .float: put(column, index, slots, count) { UInt64(column.float($0).bitPattern) }
        case .fixed16: putBytes(column, index, slots, count) { column.fixed16($0) }
        case .bytes: putBytes(column, index, slots, count) { column.bytes($0) }
        }
    }

    @inline(__always)
    private func put(
        _ column: CellColumn, _ index: Int, _ slots: UnsafeBufferPointer<UInt16>, _ count: Int,
        _ word: (Int) -> UInt64
    ) {
        let (bit, offset) = (UInt64(1) &<< UInt64(index & 63), start &+ index &* 8)
        for row in 0..<count {
            let slot = Int(slots[row])
            let isNil = column.isNil(slot)
            places[row].base.storeBytes(
                of: isNil ? 0 : word(slot), toByteOffset: offset, as: UInt64.self)
            if !isNil { places[row].nils &= ~bit }
        }
    }

    @inline(__always)
    private func putBytes(
        _ column: CellColumn, _ index: Int, _ slots: UnsafeBufferPointer<UInt16>, _ count: Int,
        _ bytes: (Int) -> UnsafeRawBufferPointer
    ) {
        let (bit, offset) = (UInt64(1) &<< UInt64(index & 63), start &+ index &* 8)
        for row in 0..<count {
            let (slot, place) = (Int(slots[row]), places[row])
            if column.isNil(slot) {
                place.base.storeBytes(of: 0, toByteOffset: offset, as: UInt64.self)
                continue
            }
            let cell = bytes(slot)
            place.base.storeBytes(
                of: UInt64(place.end) << 32 | UInt64(cell.count), toByteOffset: offset,
                as: UInt64.self)
            if let first = cell.baseAddress, cell.count > 0 {
                (place.base + place.end).copyMemory(from: first, byteCount: cell.count)
            }
            places[row].end = place.end &+ cell.count
            places[row].nils = place.nils & ~bit
        }
    }

    /// Writes the nil bits of 64 columns.
    private func putNils(_ count: Int, _ word: Int) {
        for row in 0..<count {
            places[row].base.storeBytes(
                of: places[row].nils, toByteOffset: 8 &+ word &* 8, as: UInt64.self)
            places[row].nils = .max
        }
    }
}
