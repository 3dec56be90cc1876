// Reads the members of a relationship for many owners.
//
//   1. Owner by owner, some at a time: the memory of the head of each list is prefetched, then that of its
//      first link and of the first row's directory cell, and only then are the lists read.
//   2. The found rows, some at a time: their directory cells, the memory of their cells, that of their bytes.
//   3. Consecutive rows of one block are passed together, as they are stored in the block. Only if a block
//      has values with frames of their own are rows gathered.
//
// Relationships stored otherwise than in columns of the other side are read owner by owner.
//
// Threads: one reader in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct RelatedReader: ~Copyable {
    private let request: StoreRelated
    private let reader: StoreReader
    private let pinned: PinnedState<EngineState>
    /// The table of rows that refer to an owner, if it is sufficient; nil: each owner is read individually.
    private let inverse: InverseTable?
    private let directory: RowDirectory
    private let width: Int
    private var views: BlockViews
    private var rows: RowGatherer
    /// The rows found for some owners, and the positions of these owners.
    private var numbers: [UInt32] = []
    private var positions: [Int] = []
    private var found: [Target] = []
    private let slots: UnsafeMutablePointer<UInt16>

    private struct Target {
        let cell: DirectoryCell
        /// The decoded columns of its block; nil if rows of that block are gathered one by one.
        var view: BlockView?
        var point: PointView?
    }

    /// The number of owners that are looked up together.
    private static let owners = 16
    /// The number of rows that are read together.
    private static let window = 64

    init(_ request: StoreRelated, _ reader: StoreReader, _ pinned: PinnedState<EngineState>) {
        self.request = request
        self.reader = reader
        self.pinned = pinned
        let state = pinned.state
        let relationship = request.entity.relationships[request.relationship]
        var inverse: InverseTable?
        if case .inverseColumn(let destination, let column) = relationship.storage,
            let reference = state.catalog.reference(ofColumn: column, entity: destination),
            state.catalog.references[reference].entity == destination, !relationship.keepsOrder
        {
            inverse = state.inverses[reference]
        }
        self.inverse = inverse
        let destination = request.destination
        directory = state.directories[state.catalog.entities[destination.index].tree]
        width = destination.columns.count
        views = BlockViews(
            columns: (0..<destination.columns.count).map {
                request.columns.contains($0) ? $0 : ViewedPlace.absent
            } + [ViewedPlace.numbers])
        rows = RowGatherer(reader, pinned, entity: destination.index, columns: request.columns)
        slots = .allocate(capacity: Self.window)
        found.reserveCapacity(Self.window)
    }

    deinit { slots.deallocate() }

    mutating func run(_ owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError)
    {
        defer { rows.finish() }
        for start in stride(from: 0, to: owners.count, by: Self.owners) {
            numbers.removeAll(keepingCapacity: true)
            positions.removeAll(keepingCapacity: true)
            try find(owners, start..<min(start + Self.owners, owners.count))
            var first = 0
            while first < numbers.count {
                let end = min(first + Self.window, numbers.count)
                if try !read(first..<end, body) { return }
                first = end
            }
        }
    }

    // MARK: Numbers

    /// Finds the rows of some owners.
    private mutating func find(_ owners: [ObjectID], _ range: Range<Int>) throws(StoreError) {
        let entity = request.entity.index
        guard let inverse else {
            let members = MemberReader(reader: reader, state: pinned.state)
            for index in range {
                let ids = try members.members(
                    request.relationship, entity: entity, owner: owners[index])
                for id in ids {
                    // A to-one relationship without a delete rule may refer to an object that does not exist.
                    guard let number = UInt32(exactly: id.reference), !directory[number].isEmpty
                    else { continue }
                    numbers.append(number)
                    positions.append(index)
                }
            }
            return
        }
        for index in range where !owners[index].isTemporary {
            guard reader.identity.owns(owners[index], entity: entity) else {
                throw .foreign(owners[index], request.entity)
            }
            if let number = UInt32(exactly: owners[index].reference) {
                inverse.prefetchHead(of: number)
            }
        }
        for index in range where !owners[index].isTemporary {
            guard let number = UInt32(exactly: owners[index].reference) else { continue }
            let first = inverse.prefetchFirst(of: number)
            if first != 0 { directory.cells.table.prefetch(first) }
        }
        for index in range where !owners[index].isTemporary {
            guard let number = UInt32(exactly: owners[index].reference) else { continue }
            inverse.sources(of: number, into: &numbers)
            while positions.count < numbers.count { positions.append(index) }
        }
        // The cells of neighbors share a cache line.
        var line = UInt32.max
        for number in numbers where number >> 3 != line {
            line = number >> 3
            directory.cells.table.prefetch(number)
        }
    }

    // MARK: Rows

    /// Passes some of the found rows; false if no more are wanted.
    private mutating func read(_ range: Range<Int>, _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError) -> Bool
    {
        views.trim(to: reader.cache.readingBudget)
        rows.begin()
        found.removeAll(keepingCapacity: true)
        var index = range.lowerBound
        var cell = try cell(index)
        while index < range.upperBound {
            // Consecutive rows mostly belong to one block.
            let (first, handle) = (found.count, cell.handle)
            repeat {
                found.append(Target(cell: cell))
                index += 1
                if index < range.upperBound { cell = try self.cell(index) }
            } while index < range.upperBound && cell.handle == handle
            let view = try view(handle, next: found.count - first)
            let point = view == nil ? try rows.view(handle) : nil
            view?.prefetchCells(columns: width + 1)
            point?.prefetchCells(columns: rows.width)
            for target in first..<found.count {
                found[target].view = view
                found[target].point = point
            }
        }
        for target in found {
            target.view?.prefetch(target.cell.slot, columns: width)
            target.point?.prefetch(target.cell.slot, columns: rows.width)
        }
        for target in found {
            target.view?.prefetchBytes(target.cell.slot, columns: width)
            target.point?.prefetchBytes(target.cell.slot, columns: rows.width)
        }
        for target in found {
            target.view?.prefetchEntries(target.cell.slot, columns: width)
            target.point?.prefetchEntries(target.cell.slot, columns: rows.width)
        }
        var first = 0
        while first < found.count {
            let handle = found[first].cell.handle
            var end = first
            while end < found.count, found[end].cell.handle == handle {
                slots[end - first] = UInt16(truncatingIfNeeded: found[end].cell.slot)
                end += 1
            }
            if try !hand(first..<end, from: range.lowerBound, body) { return false }
            first = end
        }
        return rows.flush(body)
    }

    /// Passes rows of one block.
    @inline(__always)
    private mutating func hand(
        _ run: Range<Int>, from start: Int, _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) -> Bool {
        guard let view = found[run.lowerBound].view else {
            return try gather(run, from: start, body)
        }
        // Gathered rows come before.
        if !rows.flush(body) { return false }
        for column in 0..<width where view.cells[column].externals != nil {
            return try gather(run, from: start, body)
        }
        return positions.withUnsafeBufferPointer { positions in
            body(
                RowBatch(
                    count: run.count, layout: request.destination.layout, origin: rows.origin,
                    columns: view.cells, numbers: view.cells + width, slots: slots,
                    positions: positions.baseAddress.map { $0 + start + run.lowerBound }))
        }
    }

    @inline(never)
    private mutating func gather(
        _ run: Range<Int>, from start: Int, _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) -> Bool {
        for index in run {
            let cell = found[index].cell
            let view =
                if let point = found[index].point { point } else { try rows.view(cell.handle) }
            let target = RowGatherer.Target(
                number: numbers[start + index], slot: cell.slot, view: view,
                position: positions[start + index])
            if try !rows.read(target, body) { return false }
        }
        return true
    }

    /// Returns the directory cell of a found row.
    @inline(__always)
    private func cell(_ index: Int) throws(StoreError) -> DirectoryCell {
        let cell = directory[numbers[index]]
        guard !cell.isEmpty else {
            throw .damaged("an inverse table names an object that does not exist")
        }
        return cell
    }

    /// Returns the decoded columns of a block; nil if single rows of it are read otherwise.
    ///
    /// - Parameter count: how many of its rows are read next. How many more of them will be read is unknown:
    ///   an owner mostly has few.
    @inline(__always)
    private mutating func view(_ handle: BlockHandle, next count: Int) throws(StoreError)
        -> BlockView?
    {
        if let view = views[handle] { return view }
        if let known = rows.known(handle), reader.readsAlone(known.block, next: count) {
            return nil
        }
        let entry = pinned.entry(handle)
        let block = try reader.block(entry, in: pinned)
        if reader.readsAlone(block, next: count) { return nil }
        let entity = Int(entry.entity)
        return try views.add(
            handle, block, pinned.catalog.entities[entity], entity: entity)
    }
}
