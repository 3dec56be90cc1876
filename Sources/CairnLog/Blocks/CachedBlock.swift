// A block in memory: its stored bytes, and the columns that have been loaded.
//
// A column is decoded when it is first asked for, once, and kept as long as the block is. Who decodes it does so under a
// lock, fills its place and only then says that it is there, so that whoever sees that needs no lock.
//
// A block that a patch is of is joined with it (Format 45): then the columns that the patch does not bring are in the other
// payload.
//
// A block is read as today's schema has its rows: what an older one does not have of a column, or has as another kind of
// number, is made once (`ColumnPast`, Format 70.5).
//
// Threads: any.

package import CairnFormat
package import CairnStore
import Synchronization

/// A block of rows that can be read.
package final class CachedBlock: @unchecked Sendable {
    // A column and its cells are written once, before `isDecoded` of the column says so, and under the lock.

    let place: Place
    /// Of a patch: joined with that of the block it is of.
    let head: BlockHead
    let rows: Int
    /// What is at the place: a block, or a patch.
    let payload: RawBytes
    /// Of a patch: the block that it is of.
    let base: Base?
    /// By column of the head.
    private let columns: UnsafeMutablePointer<DecodedColumn?>
    private let cells: UnsafeMutablePointer<CellColumn>
    private let isDecoded: UnsafeMutablePointer<Atomic<Bool>>
    private let decoding = Mutex(())
    /// By column of the head: its cells as they are read one by one, once `isAddressed` says so.
    private let readers: UnsafeMutablePointer<CellReader>
    private let isAddressed: UnsafeMutablePointer<Atomic<Bool>>
    /// The cells of all columns of the block's entity.
    private let cellLists = ColumnLists<CellColumn>()
    let readerLists = ColumnLists<CellReader>()
    private let damaged = Atomic<Bool>(false)
    private let anyDecoded = Atomic<Bool>(false)
    /// How many rows were asked for of which nobody knew how many there would be.
    let rowsReadAlone = Atomic<Int>(0)
    /// Tables of symbols that blocks share.
    private let tables: SymbolTables?
    private let sharedTables = Mutex<[SharedSymbols]>([])
    private let leanCost: Int
    private let charge: CacheCharge
    private let largeValues: LargeValueReader
    /// Columns that were made of what the block has, by what for.
    private let made = Mutex<[MadeColumn: MadeCells]>([:])

    /// A block that a patch is of.
    struct Base {
        let place: Place
        let payload: RawBytes
        /// The bytes of its slices that the patch does not replace.
        let borrowedBytes: Int
    }

    /// Reads the head of what is stored at a place.
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

    /// The same block with none of its columns decoded.
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

    /// What a block takes without decoded columns.
    private static func leanCost(_ payload: RawBytes, _ base: Base?, _ head: BlockHead) -> Int {
        let perColumn =
            MemoryLayout<ColumnEntry>.stride + MemoryLayout<CellColumn>.stride
            + MemoryLayout<CellReader>.stride + 16
        return payload.count + (base?.payload.count ?? 0) + head.columns.count * perColumn + 512
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

    /// Whether damage was found in it: what is stored may be read right another time.
    var isDamaged: Bool { damaged.load(ordering: .relaxed) }

    /// What the block takes in memory so far, about.
    var cost: Int { charge.bytes }

    /// What it will take once all columns are decoded, about.
    var decodedCost: Int { leanCost + head.rawLength }

    /// Whether some columns are decoded whose cells could be read by themselves.
    var hasDecoded: Bool { anyDecoded.load(ordering: .relaxed) }

    /// Whether any columns are decoded.
    var hasColumns: Bool {
        charge.bytes > leanCost + head.columns.count * MemoryLayout<CellReader>.stride
    }

    /// Its bytes are counted, and those of its columns as they are decoded.
    func charge(to meter: CacheMeter) { charge.begin(meter) }

    /// They are counted no more.
    func discharge(from meter: CacheMeter) { charge.end(meter) }

    /// The block as it can be written once more; good as long as it is kept.
    var stored: StoredBlock {
        StoredBlock(
            head: head, payload: payload.bytes, basePayload: base?.payload.bytes,
            base: base?.place ?? place)
    }

    /// The cells of a column; nil if the block does not have it, so that every row is nil.
    package func column(_ column: Catalog.StoredColumn) throws(StoreError) -> DecodedColumn? {
        guard let index = index(of: column.propertyID) else {
            return column.past == nil ? nil : try makeMissing(column)?.column
        }
        try load(index)
        guard let cells = columns[index] else { preconditionFailure("the column is loaded") }
        if column.past == nil, cells.kind.rawValue == column.kind.rawValue + 1 { return cells }
        return try make(column, of: cells)?.column ?? cells
    }

    /// The same as they are read without counting references; good as long as the block is kept. Of a column that the
    /// block does not have, cells that are all nil.
    ///
    /// - Parameter place: where the column is among those of its entity, which is mostly where the block has it.
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

    /// What a column was made for.
    private struct MadeColumn: Hashable {
        let property: UInt32
        let kind: ColumnBuffer.Kind
        /// What stands where the block has nothing.
        let cell: PastCell
    }

    /// A column that was made, and its cells.
    private final class MadeCells: @unchecked Sendable {
        // Written before anybody else knows it.
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

    /// What rows have in a column that the block lacks; nil if that is nothing.
    @inline(never)
    private func makeMissing(_ column: Catalog.StoredColumn) throws(StoreError) -> MadeCells? {
        guard let cell = column.past?.value(forMissingIn: head.schemaVersion), !cell.isNull else {
            return nil
        }
        return made(column, cell) {
            .constant(cell, kind: column.kind.stored, rows: rows)
        }
    }

    /// A column in its kind of today, with what stands for nil in it; nil if it is as it should be.
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

    /// The cells of all columns of the block's entity, in its order, to read whole rows by; good as long as the block is
    /// kept.
    ///
    /// - Parameter version: that of the catalog whose columns these are.
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

    /// The object numbers in the same way.
    func numberCells() throws(StoreError) -> CellColumn { try hiddenCells(HiddenProperty.number) }

    /// The row versions in the same way.
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

    /// The cells of a column by its property id.
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

    /// The slice of a column, and the place of the frame that it is in.
    private func slice(_ entry: ColumnEntry) -> (UnsafeRawBufferPointer, Place) {
        if entry.isBorrowed, let base {
            return (
                UnsafeRawBufferPointer(rebasing: base.payload.bytes[entry.range]), base.place
            )
        }
        return (UnsafeRawBufferPointer(rebasing: payload.bytes[entry.range]), place)
    }

    /// The cells of a column of the head, to read some of them.
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
        // In the list of all columns.
        charge.grow(MemoryLayout<CellReader>.stride)
        decoding.withLock { _ in
            if isAddressed[index].load(ordering: .relaxed) { return }
            readers[index] = cells
            isAddressed[index].store(true, ordering: .releasing)
        }
    }

    /// Cells of symbols with a table that other blocks have too, so that it is in the processor's cache for all of them.
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
            // Somebody else may have been faster, and be reading.
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

    /// The object numbers of the rows.
    package func numbers() throws(StoreError) -> DecodedColumn { try hidden(HiddenProperty.number) }

    /// The row versions.
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

    /// A value that has frames of its own, by the reference in its cell.
    func large(
        _ reference: UnsafeRawBufferPointer, owner: LargeValueReader.Owner? = nil
    ) throws(StoreError) -> [UInt8] {
        try largeValues.read(reference, from: place, owner: owner)
    }

    /// The bytes of a cell, wherever they are.
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
    /// The kind in which a block has such a column.
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
    /// The cells of a column that is kept as long as they are used.
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
    /// An object number or row version. Numbers out of range were refused when the block was registered.
    @inline(__always) package func number(_ row: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: integer(at: row))
    }

    /// The bytes of a cell of text, bytes or a UUID.
    @inline(__always) func cell(_ row: Int) -> UnsafeRawBufferPointer {
        kind == .fixed16 ? fixed16(at: row) : bytes(at: row)
    }
}

extension StoreError {
    /// Bytes that break the format, at the place of their frame.
    init(_ error: FormatError, at place: Place) {
        self = .damaged(
            "\(error.what) (\(error.rule))", segment: place.segment,
            offset: UInt64(place.byteOffset))
    }
}
