// The recorded rows of a batch: for a store that may have to execute the request a second time, or in parts.
//
// The rows are as they were filled, before anything is checked: they are checked each time. The first of them are kept in
// memory, what comes behind lies in a file.
//
// Threads: one at a time, but for what is asked of rows that are all there.

package import CairnModel

/// Recorded rows of an earlier iteration: all of them, or a range.
package struct RecordedRows: Sendable {
    fileprivate let record: RowRecord
    /// Which batches of the record.
    fileprivate let batches: Range<Int>

    /// Whether they could be given again by themselves, which says how a store treats several rows about one object.
    package var canRepeat: Bool { record.canRepeat }

    /// How many rows there are.
    package var count: Int { batches.reduce(0) { $0 + record.rows(inBatch: $1) } }

    /// How many bytes their values take.
    package var byteCount: Int { record.byteCount }

    /// Some of the rows, from one on: as many as are whole batches of about so many rows, and so many bytes. None if there are
    /// none left.
    package func part(from start: RowPlace, rows most: Int, bytes: Int) -> RecordedRows? {
        var end = start.batch
        var (rows, size) = (0, 0)
        while end < batches.upperBound, end == start.batch || rows < most && size < bytes {
            rows += record.rows(inBatch: end)
            size += record.bytes(inBatch: end)
            end += 1
        }
        if end == start.batch { return nil }
        return RecordedRows(record: record, batches: start.batch..<end)
    }

    /// A place among rows, between two batches.
    package struct RowPlace: Sendable {
        fileprivate var batch = 0

        /// Before all of them.
        package init() {}

        /// Behind a part that begins here.
        package mutating func move(behind part: RecordedRows) { batch = part.batches.upperBound }
    }

    /// What giving the rows ended with; then there may be others that nobody knows.
    package var failure: StoreError? { record.failure }

    /// The columns of references that rows name, as indexes of the entity's.
    package var namedReferences: Set<Int> { record.namedReferences }

    /// Whether rows say anything of to-many relationships.
    package var namesMembers: Bool { record.namesMembers }

    /// Gives the rows from the first one on.
    var filler: some RowFiller { RecordedFiller(rows: self) }
}

extension BatchInsertRequest {
    /// The rows of the request, to be given as often as anybody likes.
    ///
    /// - Throws: `StoreError` if the request is none for the entity, or there is no room for the rows. What goes wrong with a row
    ///   is thrown when it is given.
    package func recorded(for entity: SchemaEntity) throws(StoreError) -> RecordedRows {
        let record = try RowRecord(self, for: entity)
        return RecordedRows(record: record, batches: 0..<record.batchCount)
    }

    /// The same request with other rows.
    package func with(_ rows: RecordedRows) -> BatchInsertRequest {
        var request = self
        request.source = .recorded(rows)
        return request
    }
}

/// What keeps the rows.
private final class RowRecord: @unchecked Sendable {
    // Nothing of it changes once it is made; a file is read at places that are written once.
    private enum Place {
        case here(ColumnBatch)
        case inFile(Range<Int>)
    }

    private let entity: SchemaEntity
    private var places: [(place: Place, rows: Int, bytes: Int)] = []
    private var file: RowsFile?
    private(set) var byteCount = 0
    private(set) var failure: StoreError?
    private(set) var namedReferences: Set<Int> = []
    private(set) var namesMembers = false
    let canRepeat: Bool

    /// What is kept in memory.
    private static let mostBytes = 32 << 20

    /// Takes all rows of a request.
    init(_ request: BatchInsertRequest, for entity: SchemaEntity) throws(StoreError) {
        self.entity = entity
        canRepeat = request.canRepeat
        var filler = try request.makeFiller(for: entity)
        let references = entity.columns.indices.filter { entity.columns[$0].relationship != nil }
        var bytes: [UInt8] = []
        var batch = ColumnBatch(entity)
        var firstRow = 0
        var isEnd = false
        while !isEnd {
            do throws(StoreError) {
                isEnd = try filler.fill(batch, firstRow: firstRow)
            } catch {
                failure = error
                isEnd = true
            }
            firstRow += batch.rows
            note(batch, references)
            let (rows, size) = (batch.rows, batch.byteCount)
            if byteCount < Self.mostBytes || !batch.isPlain {
                places.append((.here(batch), rows, size))
                batch = ColumnBatch(entity)
            } else {
                bytes.removeAll(keepingCapacity: true)
                batch.append(to: &bytes)
                places.append((.inFile(try keep(bytes)), rows, size))
                batch.reset()
            }
            byteCount += size
        }
    }

    private func keep(_ bytes: [UInt8]) throws(StoreError) -> Range<Int> {
        if let file { return try file.append(bytes) }
        let file = try RowsFile()
        self.file = file
        return try file.append(bytes)
    }

    private func note(_ batch: ColumnBatch, _ references: [Int]) {
        if !batch.isPlain { namesMembers = true }
        for column in references where !namedReferences.contains(column) {
            let states = UnsafeBufferPointer(
                start: batch.columns[column].states, count: batch.rows)
            if states.contains(where: { $0 != ColumnBuffer.State.untouched }) {
                namedReferences.insert(column)
            }
        }
    }

    var batchCount: Int { places.count }

    func rows(inBatch index: Int) -> Int { places[index].rows }

    func bytes(inBatch index: Int) -> Int { places[index].bytes }

    func batch(_ index: Int) throws(StoreError) -> ColumnBatch {
        switch places[index].place {
        case .here(let batch): return batch
        case .inFile(let place):
            guard let file else { preconditionFailure("stored rows have a file") }
            let bytes = try file.read(place)
            let batch = ColumnBatch(entity)
            bytes.withUnsafeBytes { batch.take(places[index].rows, from: $0) }
            return batch
        }
    }
}

/// Gives recorded rows.
private struct RecordedFiller: RowFiller {
    private let rows: RecordedRows
    private var next: Int
    private var batch: ColumnBatch?
    private var row = 0

    init(rows: RecordedRows) {
        self.rows = rows
        next = rows.batches.lowerBound
    }

    mutating func fill(_ target: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool {
        while true {
            if let batch {
                while row < batch.rows {
                    if target.rows == ColumnBatch.capacity || target.isLarge { return false }
                    target.append(row, of: batch)
                    row += 1
                }
            }
            guard next < rows.batches.upperBound else { break }
            batch = try rows.record.batch(next)
            row = 0
            next += 1
        }
        // What is behind a part is given by another one.
        if let failure = rows.failure, next == rows.record.batchCount { throw failure }
        return true
    }
}

extension ColumnBatch {
    /// Appends a row as another batch of the same entity has it.
    fileprivate func append(_ row: Int, of source: ColumnBatch) {
        // The store may have room for the places of the row behind its columns.
        for index in source.columns.indices {
            columns[index].take(source.columns[index], row, to: rows)
        }
        for list in source.lists.pointee.lists(of: row) {
            lists.pointee.append(list.targets, relationship: list.relationship, row: rows)
        }
        rows += 1
    }
}

extension ColumnBuffer {
    /// Sets a cell to what a cell of another buffer of the same kind is set to.
    fileprivate mutating func take(_ source: ColumnBuffer, _ from: Int, to row: Int) {
        let state = source.states[from]
        switch state {
        case State.untouched: return
        case State.null where source.noNumberRow == from: setNoNumber(row: row)
        case State.null: setNil(row: row)
        case State.linked: setLink(source.link(row: from), row: row)
        default:
            guard kind != .bytes else { return setBytes(source.bytes(row: from), row: row) }
            let width = kind.width
            (values + row * width).copyMemory(from: source.values + from * width, byteCount: width)
            states[row] = state
        }
    }
}
