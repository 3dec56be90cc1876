// A block in memory: its stored bytes, and the columns that have been loaded.
//
// A column is decoded when it is first requested, and kept as long as the block is. The decoding thread
// stores the column under a lock and only then sets its flag, so that a thread that sees the flag needs no
// lock.
//
// A patch is joined with the block that it patches (Format 45): the columns that the patch does not contain
// are in the other payload.
//
// A block is read with the columns of the current schema: a column that an older version lacks, or has as
// another kind of number, is built once (`ColumnPast`, Format 70.5).
//
// Threads: any.

package import CairnFormat
package import CairnStore
import Synchronization

/// A block of rows that can be read.
package final class CachedBlock: @unchecked Sendable {
    // A column and its cells are written once, before `isDecoded` of the column says so, and under the lock.

    let place: Place
    /// For a patch: joined with the head of the patched block.
    let head: BlockHead
    let rows: Int
    /// The payload at the place: a block, or a patch.
    let payload: RawBytes
    /// For a patch: the patched block.
    let base: Base?
    /// By column of the head.
    private let columns: UnsafeMutablePointer<DecodedColumn?>
    private let cells: UnsafeMutablePointer<CellColumn>
    private let isDecoded: UnsafeMutablePointer<Atomic<Bool>>
    private let decoding = Mutex(())
    /// By column of the head: a reader of its single cells, once `isAddressed` is set.
    private let readers: UnsafeMutablePointer<CellReader>
    private let isAddressed: UnsafeMutablePointer<Atomic<Bool>>
    /// The cells of all columns of the block's entity.
    private let cellLists = ColumnLists<CellColumn>()
    let readerLists = ColumnLists<CellReader>()
    private let damaged = Atomic<Bool>(false)
    private let anyDecoded = Atomic<Bool>(false)
    /// The number of rows that were read individually without knowing how many would follow.
    let rowsReadAlone = Atomic<Int>(0)
    /// Symbol tables that blocks share.
    private let tables: SymbolTables?
    private let sharedTables = Mutex<[SharedSymbols]>([])
    private let leanCost: Int
    private let charge: CacheCharge
    private let largeValues: LargeValueReader
    /// Columns that were built from the block's columns, by what they were built for.
    private let made = Mutex<[MadeColumn: MadeCells]>([:])

    /// The block that a patch patches.
    struct Base {
        let place: Place
        let payload: RawBytes
        /// The bytes of its slices that the patch does not replace.
        let borrowedBytes: Int
    }

    /// Decodes the head of the block at a place.
    ///
    /// - Parameters:
    ///   - stored: a block, or a patch.
    ///   - base: the payload of the block that a patch is of.
    /// - Throws: `StoreError` with `.damaged` and the place.
    init(
        _ stored: StoredPayload, place: Place, largeValues: LargeValueReader,
        tables: SymbolTables? = nil, base read: (Place) throws(StoreError) -> RawBytes
    ) throws(StoreError) {
        payload = stored.payload
        if stored.isPatch {
            let patch: PatchHead
            do {
                patch = try PatchHead(decoding: payload.bytes)
            } catch {
                throw StoreError(error, at: place)
            }
            let basePayload = try read(patch.base)
            let head: BlockHead
            do {
                head = try BlockHead(decoding: basePayload.bytes)
            } catch {
                throw StoreError(error, at: patch.base)
            }
            do {
                self.head = try patch.joined(to: head)
            } catch {
                throw StoreError(error, at: place)
            }
            base = Base(
                place: patch.base, payload: basePayload, borrowedBytes: patch.borrowedBytes)
        } else if let known = stored.head {
            head = known
            base = nil
        } else {
            do {
                head = try BlockHead(decoding: payload.bytes)
            } catch {
                throw StoreError(error, at: place)
            }
            base = nil
        }
        self.place = place
        self.largeValues = largeValues
        self.tables = tables
        rows = head.rows
        leanCost = Self.leanCost(payload, base, head)
        charge = CacheCharge(leanCost)
        (columns, cells, isDecoded, readers, isAddressed) = Self.allocate(head.columns.count)
    }

    /// A copy of a block without decoded columns.
    init(beside other: CachedBlock) {
        (payload, base, head, place) = (other.payload, other.base, other.head, other.place)
        largeValues = other.largeValues
        tables = other.tables
        rows = head.rows
        leanCost = other.leanCost
        charge = CacheCharge(leanCost)
        (columns, cells, isDecoded, readers, isAddressed) = Self.allocate(head.columns.count)
    }

    private static func allocate(_ count: Int) -> (
        UnsafeMutablePointer<DecodedColumn?>, UnsafeMutablePointer<CellColumn>,
        UnsafeMutablePointer<Atomic<Bool>>, UnsafeMutablePointer<CellReader>,
        UnsafeMutablePointer<Atomic<Bool>>
    ) {
        let columns = UnsafeMutablePointer<DecodedColumn?>.allocate(capacity: count)
        columns.initialize(repeating: nil, count: count)
        let cells = UnsafeMutablePointer<CellColumn>.allocate(capacity: count)
        cells.initialize(repeating: .absent, count: count)
        let readers = UnsafeMutablePointer<CellReader>.allocate(capacity: count)
        readers.initialize(repeating: .absent, count: count)
        let isDecoded = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: count)
        let isAddressed = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: count)
        for index in 0..<count {
            (isDecoded + index).initialize(to: Atomic(false))
            (isAddressed + index).initialize(to: Atomic(false))
        }
        return (columns, cells, isDecoded, readers, isAddressed)
    }

    /// The size of a block without decoded columns, in bytes.
    private static func leanCost(_ payload: RawBytes, _ base: Base?, _ head: BlockHead) -> Int {
        let perColumn =
            MemoryLayout<ColumnEntry>.stride + MemoryLayout<CellColumn>.stride
            + MemoryLayout<CellReader>.stride + 16
        return payload.ownCount + (base?.payload.ownCount ?? 0) + head.columns.count * perColumn
            + 512
    }

    deinit {
        columns.deinitialize(count: head.columns.count)
        columns.deallocate()
        cells.deallocate()
        isDecoded.deinitialize(count: head.columns.count)
        isDecoded.deallocate()
        readers.deallocate()
        isAddressed.deinitialize(count: head.columns.count)
        isAddressed.deallocate()
    }

    /// Whether damage was found in it: reading it again may succeed.
    var isDamaged: Bool { damaged.load(ordering: .relaxed) }

    /// The approximate size of the block in memory so far, in bytes.
    var cost: Int { charge.bytes }

    /// Its approximate size once all columns are decoded, in bytes.
    var decodedCost: Int { leanCost + head.rawLength }

    /// Whether columns are decoded whose cells could be read individually.
    var hasDecoded: Bool { anyDecoded.load(ordering: .relaxed) }

    /// Whether any columns are decoded.
    var hasColumns: Bool {
        charge.bytes > leanCost + head.columns.count * MemoryLayout<CellReader>.stride
    }

    /// Starts counting its bytes, and those of its columns as they are decoded.
    func charge(to meter: CacheMeter) { charge.begin(meter) }

    /// Stops counting them.
    func discharge(from meter: CacheMeter) { charge.end(meter) }

    /// The block in a form that can be rewritten; valid as long as the block is retained.
    var stored: StoredBlock {
        StoredBlock(
            head: head, payload: payload.bytes, basePayload: base?.payload.bytes,
            base: base?.place ?? place)
    }

    /// Returns the decoded column; nil if the block does not have it, so that every row is nil.
    package func column(_ column: Catalog.StoredColumn) throws(StoreError) -> DecodedColumn? {
        guard let index = index(of: column.propertyID) else {
            return column.past == nil ? nil : try makeMissing(column)?.column
        }
        try load(index)
        guard let cells = columns[index] else { preconditionFailure("the column is loaded") }
        if column.past == nil, cells.kind.rawValue == column.kind.rawValue + 1 { return cells }
        return try make(column, of: cells)?.column ?? cells
    }

    /// Returns the cells of a column for reading without counting references; valid as long as the block is
    /// retained. If the block does not have the column, they are all nil.
    ///
    /// - Parameter place: the column's position among those of its entity, which is usually its position in
    ///   the block.
    @inline(__always)
    package func cells(_ column: Catalog.StoredColumn, at place: Int) throws(StoreError)
        -> UnsafePointer<CellColumn>
    {
        guard let index = index(of: column.propertyID, near: place) else {
            return try missingCells(column)
        }
        try load(index)
        let cells = UnsafePointer(cells + index)
        if column.past == nil, cells.pointee.kind.rawValue == column.kind.rawValue { return cells }
        return try madeCells(column, index)
    }

    @inline(never)
    private func missingCells(_ column: Catalog.StoredColumn) throws(StoreError)
        -> UnsafePointer<CellColumn>
    {
        if column.past != nil, let made = try makeMissing(column) { return made.cells }
        return Self.allNil + Int(column.kind.rawValue)
    }

    @inline(never)
    private func madeCells(_ column: Catalog.StoredColumn, _ index: Int) throws(StoreError)
        -> UnsafePointer<CellColumn>
    {
        guard let decoded = columns[index] else { preconditionFailure("the column is loaded") }
        return try make(column, of: decoded)?.cells ?? UnsafePointer(cells + index)
    }

    // MARK: Columns of earlier versions

    /// What a column was built for.
    private struct MadeColumn: Hashable {
        let property: UInt32
        let kind: ColumnBuffer.Kind
        /// The cell that replaces a missing or nil one.
        let cell: PastCell
    }

    /// A column that was built, and its cells.
    private final class MadeCells: @unchecked Sendable {
        // Written before another thread can see it.
        let column: DecodedColumn
        let cells: UnsafePointer<CellColumn>

        init(_ column: DecodedColumn) {
            self.column = column
            let memory = UnsafeMutablePointer<CellColumn>.allocate(capacity: 1)
            memory.initialize(to: CellColumn(column))
            cells = UnsafePointer(memory)
        }

        deinit { cells.deallocate() }
    }

    /// The values of rows in a column that the block lacks; nil if they are all nil.
    @inline(never)
    private func makeMissing(_ column: Catalog.StoredColumn) throws(StoreError) -> MadeCells? {
        guard let cell = column.past?.value(forMissingIn: head.schemaVersion), !cell.isNull else {
            return nil
        }
        return made(column, cell) {
            .constant(cell, kind: column.kind.stored, rows: rows)
        }
    }

    /// A column in its current kind, with its nils replaced; nil if it needs no change.
    @inline(never)
    private func make(_ column: Catalog.StoredColumn, of stored: DecodedColumn) throws(StoreError)
        -> MadeCells?
    {
        let isWidened = stored.kind == .float && column.kind == .double
        guard isWidened || stored.kind == column.kind.stored else { throw wrongKind }
        let cell =
            stored.nilCount > 0
            ? column.past?.value(forNilIn: head.schemaVersion) ?? .null : .null
        if !isWidened, cell.isNull { return nil }
        return made(column, cell) {
            (isWidened ? stored.widened() : stored).filled(with: cell)
        }
    }

    private func made(
        _ column: Catalog.StoredColumn, _ cell: PastCell, _ make: () -> DecodedColumn
    ) -> MadeCells {
        let key = MadeColumn(property: column.propertyID, kind: column.kind, cell: cell)
        return made.withLock { known in
            if let cells = known[key] { return cells }
            let cells = MadeCells(make())
            known[key] = cells
            return cells
        }
    }

    /// The cells of all columns of the block's entity, in its order, for reading whole rows; valid as long as
    /// the block is retained.
    ///
    /// - Parameter version: the version of the catalog that has these columns.
    @inline(__always)
    func allCells(_ columns: [Catalog.StoredColumn], version: UInt32) throws(StoreError)
        -> UnsafePointer<CellColumn>
    {
        if let list = cellLists[version] { return list }
        return try gatherCells(columns, version: version)
    }

    @inline(never)
    private func gatherCells(_ columns: [Catalog.StoredColumn], version: UInt32) throws(StoreError)
        -> UnsafePointer<CellColumn>
    {
        try cellLists.add(version, count: columns.count) { index throws(StoreError) in
            try cells(columns[index], at: index).pointee
        }
    }

    /// The cells of the object numbers.
    func numberCells() throws(StoreError) -> CellColumn { try hiddenCells(HiddenProperty.number) }

    /// The cells of the row versions.
    func versionCells() throws(StoreError) -> CellColumn {
        try hiddenCells(HiddenProperty.version)
    }

    private func hiddenCells(_ property: UInt32) throws(StoreError) -> CellColumn {
        guard let index = index(of: property) else { throw noHiddenColumn }
        try load(index)
        guard cells[index].kind == .integer, cells[index].nils == nil else { throw noHiddenColumn }
        return cells[index]
    }

    private var wrongKind: StoreError {
        .damaged(
            "a column does not have the kind of its property (F-415)", segment: place.segment,
            offset: UInt64(place.byteOffset))
    }

    /// The decoded column with a property id.
    func column(propertyID: UInt32) throws(StoreError) -> DecodedColumn? {
        guard let index = index(of: propertyID) else { return nil }
        try load(index)
        return columns[index]
    }

    @inline(__always)
    func index(of propertyID: UInt32, near place: Int) -> Int? {
        if place < head.columns.count, head.columns[place].propertyID == propertyID { return place }
        return index(of: propertyID)
    }

    private func index(of propertyID: UInt32) -> Int? {
        head.columns.firstIndex { $0.propertyID == propertyID }
    }

    @inline(__always)
    private func load(_ index: Int) throws(StoreError) {
        if !isDecoded[index].load(ordering: .acquiring) { try decode(index) }
    }

    /// The slice of a column, and the place of the frame that contains it.
    private func slice(_ entry: ColumnEntry) -> (UnsafeRawBufferPointer, Place) {
        if entry.isBorrowed, let base {
            return (
                UnsafeRawBufferPointer(rebasing: base.payload.bytes[entry.range]), base.place
            )
        }
        return (UnsafeRawBufferPointer(rebasing: payload.bytes[entry.range]), place)
    }

    /// A reader of single cells of a column of the head.
    @inline(__always)
    func reader(_ index: Int) throws(StoreError) -> CellReader {
        if !isAddressed[index].load(ordering: .acquiring) { try address(index) }
        return readers[index]
    }

    @inline(never)
    private func address(_ index: Int) throws(StoreError) {
        let entry = head.columns[index]
        var cells: CellReader?
        if !isDecoded[index].load(ordering: .acquiring) {
            let (slice, holder) = slice(entry)
            do {
                cells = try CellReader(verifying: slice, entry, rows: rows).map(share)
            } catch {
                damaged.store(true, ordering: .relaxed)
                throw StoreError(error, at: holder)
            }
        }
        if cells == nil {
            try load(index)
            cells = columns[index].map { CellReader($0) }
        }
        guard let cells else { preconditionFailure("the column is loaded") }
        // Its element in the list of all columns.
        charge.grow(MemoryLayout<CellReader>.stride)
        decoding.withLock { _ in
            if isAddressed[index].load(ordering: .relaxed) { return }
            readers[index] = cells
            isAddressed[index].store(true, ordering: .releasing)
        }
    }

    /// Returns cells with a symbol table that other blocks share, so that it is in the processor's cache for
    /// all of them.
    private func share(_ cells: CellReader) -> CellReader {
        guard cells.form == .symbols, let tables else { return cells }
        let shared = tables.shared(cells.symbols)
        sharedTables.withLock { $0.append(shared) }
        return cells.with(entries: shared.entries)
    }

    @inline(never)
    private func decode(_ index: Int) throws(StoreError) {
        let entry = head.columns[index]
        let (slice, holder) = slice(entry)
        let column: DecodedColumn
        do {
            column = try DecodedColumn.decode(slice: slice, entry, rows: rows)
        } catch {
            damaged.store(true, ordering: .relaxed)
            throw StoreError(error, at: holder)
        }
        decoding.withLock { _ in
            // Another thread may have been faster, and readers may use its column.
            if isDecoded[index].load(ordering: .relaxed) { return }
            columns[index] = column
            cells[index] = CellColumn(column)
            isDecoded[index].store(true, ordering: .releasing)
            if entry.encoding.isAddressable { anyDecoded.store(true, ordering: .relaxed) }
            charge.grow(column.byteCount)
        }
    }

    /// By kind, cells that are nil in as many rows as a block may have.
    private nonisolated(unsafe) static let allNil: UnsafePointer<CellColumn> = {
        // Never written again.
        let ones = UnsafeMutablePointer<UInt8>.allocate(capacity: FormatLimits.maximumRows)
        ones.initialize(repeating: 1, count: FormatLimits.maximumRows)
        let kinds: [ColumnBuffer.Kind] = [.integer, .double, .float, .bytes, .fixed16]
        let cells = UnsafeMutablePointer<CellColumn>.allocate(capacity: kinds.count)
        for kind in kinds {
            (cells + Int(kind.rawValue)).initialize(to: CellColumn(allNil: kind, ones: ones))
        }
        return UnsafePointer(cells)
    }()

    /// Returns the object numbers of the rows.
    package func numbers() throws(StoreError) -> DecodedColumn { try hidden(HiddenProperty.number) }

    /// Returns the row versions.
    package func versions() throws(StoreError) -> DecodedColumn {
        try hidden(HiddenProperty.version)
    }

    private func hidden(_ property: UInt32) throws(StoreError) -> DecodedColumn {
        guard let column = try column(propertyID: property), column.kind == .integer,
            column.nils == nil
        else { throw noHiddenColumn }
        return column
    }

    private var noHiddenColumn: StoreError {
        .damaged(
            "a block lacks its hidden columns", segment: place.segment,
            offset: UInt64(place.byteOffset))
    }

    /// Reads a value that has frames of its own, by the reference in its cell.
    func large(
        _ reference: UnsafeRawBufferPointer, owner: LargeValueReader.Owner? = nil
    ) throws(StoreError) -> [UInt8] {
        try largeValues.read(reference, from: place, owner: owner)
    }

    /// Calls a closure with the bytes of a cell, wherever they are stored.
    func withBytes<R>(
        _ cells: DecodedColumn, _ row: Int, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(StoreError) -> R {
        if cells.isExternal(at: row) {
            let bytes = try large(cells.cell(row))
            return bytes.withUnsafeBytes { body($0) }
        }
        return body(cells.cell(row))
    }
}

extension ColumnBuffer.Kind {
    /// The kind of such a column in a block.
    var stored: ColumnKind {
        switch self {
        case .integer: .integer
        case .double: .double
        case .float: .float
        case .bytes: .bytes
        case .fixed16: .fixed16
        }
    }
}

extension CellColumn {
    /// The cells of a column that is retained as long as they are used.
    fileprivate init(_ column: DecodedColumn) {
        guard let kind = ColumnBuffer.Kind(rawValue: column.kind.rawValue - 1) else {
            preconditionFailure("stored columns are of the kinds of plain ones")
        }
        self.init(
            kind: kind, values: column.values, base: column.base,
            width: column.kind == .integer ? column.width : kind.width,
            offsets: kind.isBytes ? column.offsets : nil,
            codes: column.codes, nils: column.nils, externals: column.externals)
    }
}

extension DecodedColumn {
    /// Returns an object number or row version. Numbers out of range were rejected when the block was
    /// registered.
    @inline(__always) package func number(_ row: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: integer(at: row))
    }

    /// The bytes of a string, binary or UUID cell.
    @inline(__always) func cell(_ row: Int) -> UnsafeRawBufferPointer {
        kind == .fixed16 ? fixed16(at: row) : bytes(at: row)
    }
}

extension StoreError {
    /// An error for bytes that violate the format, with the place of their frame.
    init(_ error: FormatError, at place: Place) {
        self = .damaged(
            "\(error.what) (\(error.rule))", segment: place.segment,
            offset: UInt64(place.byteOffset))
    }
}
