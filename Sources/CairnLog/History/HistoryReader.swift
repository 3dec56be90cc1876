// Reads the history of a state: the frames of each transaction in turn.                        Format 77
//
// The state is pinned, so that segments which leave the store in the meantime stay readable until the end is
// reached, or until the engine releases it as it does with snapshots that keep too much (ST4). The numbers in
// a frame are translated to the names of the state's model; what the model does not have is omitted.
//
// Threads: one at a time.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

final class HistoryReader: PersistentHistoryCursor {
    private let engine: Engine
    /// nil after the last transaction.
    private var pin: SnapshotPin?
    private var commit: UInt64
    /// The names of an entity's properties, by entity, once it was encountered.
    private var names: [Int: [ChangesPayload.Property: String]] = [:]

    init(_ engine: Engine, _ pin: PinnedState<EngineState>, after commit: UInt64) {
        self.engine = engine
        self.commit = commit
        let kept = SnapshotPin(pin, name: "history")
        self.pin = kept
        engine.snapshots.add(kept)
    }

    deinit { release() }

    private func release() {
        guard let pin else { return }
        engine.snapshots.remove(pin)
        self.pin = nil
    }

    func next() throws(StoreError) -> PersistentHistoryTransaction? {
        guard let pin else { return nil }
        let pinned = try pin.readable()
        defer { withExtendedLifetime(pinned) {} }
        while let (number, frame) = pinned.state.history.next(after: commit) {
            commit = number
            if let transaction = try transaction(number, frame, pinned.state) {
                return transaction
            }
        }
        release()
        return nil
    }

    /// Returns nil if the model has nothing that it contains.
    private func transaction(_ number: UInt64, _ frame: HistoryFrame, _ state: EngineState)
        throws(StoreError) -> PersistentHistoryTransaction?
    {
        guard let segment = state.segments[frame.place.segment] else {
            throw .damaged(
                "the segment of changes is missing (F-779)", segment: frame.place.segment)
        }
        var head: ChangesPayload.Head?
        var groups: [PersistentHistoryChanges.Group] = []
        var offset = UInt64(frame.place.byteOffset)
        let end = offset + frame.length
        var part: UInt32 = 0
        var isLast = false
        // By entity: the targets of the deleted objects' redirects.
        var redirects: [Int: [UInt64: UInt64]] = [:]
        while !isLast {
            guard offset < end else {
                throw .damaged(
                    "the parts of changes do not follow each other (F-774)",
                    segment: segment.number, offset: offset)
            }
            let (header, payload) = try segment.frame(at: offset, storeTag: engine.storeID.tag)
            let changes: ChangesPayload
            do throws(FormatError) {
                changes = try Self.decode(header, payload, of: number, part)
            } catch {
                throw StoreError(
                    error, at: Place(segment: segment.number, byteOffset: Int(offset)))
            }
            if head == nil { head = changes.head }
            for entry in changes.entries {
                if entry.operation == .redirect {
                    Self.take(entry, into: &redirects, state.catalog)
                } else if let group = group(entry, state.catalog) {
                    groups.append(group)
                }
            }
            part += 1
            isLast = changes.head.isLast
            offset += UInt64(header.frameLength)
        }
        guard let head, !groups.isEmpty else { return nil }
        for index in groups.indices where groups[index].type == .delete {
            if let led = redirects[groups[index].entity] { groups[index].redirects = led }
        }
        return PersistentHistoryTransaction(
            timestamp: Date(timeIntervalSinceReferenceDate: head.time), transactionNumber: number,
            storeID: engine.identity.identifier,
            bundleID: head.program.isEmpty ? nil : head.program,
            processID: Int32(bitPattern: head.process),
            contextName: head.context.isEmpty ? nil : head.context,
            author: head.author.isEmpty ? nil : head.author,
            changes: PersistentHistoryChanges(
                groups, transaction: number, identity: engine.identity))
    }

    private static func decode(
        _ header: FrameHeader, _ payload: RawBytes, of number: UInt64, _ part: UInt32
    ) throws(FormatError) -> ChangesPayload {
        guard header.kind == .changes else {
            throw FormatError(.malformed, "F-774", "there is a frame of another kind here")
        }
        let changes = try ChangesPayload(decoding: payload.bytes)
        guard changes.head.commit == number, changes.head.part == part else {
            throw FormatError(.malformed, "F-775", "these are the changes of another commit")
        }
        return changes
    }

    private static func take(
        _ entry: ChangesPayload.Entry, into redirects: inout [Int: [UInt64: UInt64]],
        _ catalog: Catalog
    ) {
        guard let entity = catalog.entityIndex(id: entry.entity) else { return }
        for (number, target) in zip(entry.runs.joined(), entry.targets) {
            redirects[entity, default: [:]][UInt64(number)] = UInt64(target)
        }
    }

    private func group(_ entry: ChangesPayload.Entry, _ catalog: Catalog)
        -> PersistentHistoryChanges.Group?
    {
        guard let operation = entry.operation, let type = operation.type,
            let entity = catalog.entityIndex(id: entry.entity),
            entity < catalog.schema.entities.count
        else { return nil }
        var numbers = ObjectNumbers()
        for run in entry.runs { numbers.append(UInt64(run.lowerBound)...UInt64(run.upperBound)) }
        var group = PersistentHistoryChanges.Group(
            entity: entity, entityName: catalog.schema.entities[entity].name,
            type: type, numbers: numbers)
        switch operation {
        case .insert, .redirect: break
        case .update:
            let names = self.names(of: entity, catalog)
            group.updatedProperties = Set(entry.properties.compactMap { names[$0] })
        case .delete: addValues(of: entry, to: &group, catalog)
        }
        return group
    }

    private func names(of entity: Int, _ catalog: Catalog) -> [ChangesPayload.Property: String] {
        if let known = names[entity] { return known }
        let found = catalog.historyNames(of: entity)
        names[entity] = found
        return found
    }

    /// Adds the values that were kept of deleted objects, for properties that the model still has.
    private func addValues(
        of entry: ChangesPayload.Entry, to group: inout PersistentHistoryChanges.Group,
        _ catalog: Catalog
    ) {
        if entry.properties.isEmpty { return }
        let stored = catalog.entities[group.entity]
        let description = catalog.schema.entities[group.entity]
        let columns = entry.properties.map { property in
            stored.columns.firstIndex { $0.propertyID == property.id && property.through == 0 }
        }
        group.names = columns.compactMap { $0.map { description.columns[$0].name } }
        if group.names.isEmpty { return }
        var builder = RowCellsBuilder(columns: stored.columns.count)
        var cells = entry.cells[...]
        while !cells.isEmpty {
            for (index, cell) in cells.prefix(columns.count).enumerated() {
                guard let column = columns[index] else { continue }
                builder.set(column, cell, of: stored.columns[column].kind)
            }
            cells = cells.dropFirst(columns.count)
            let row = builder.finish()
            for column in columns {
                guard let column else { continue }
                group.values.append(row.value(column, of: description, in: engine.identity))
            }
        }
    }
}

extension RowCellsBuilder {
    /// Sets a cell to a kept value; one of a different kind than the column's stays nil.
    fileprivate mutating func set(
        _ column: Int, _ cell: ChangesPayload.Cell, of kind: ColumnBuffer.Kind
    ) {
        switch (cell, kind) {
        case (.integer(let number), .integer): set(column, word: UInt64(bitPattern: number))
        case (.double(let bits), .double): set(column, word: bits)
        case (.float(let bits), .float): set(column, word: UInt64(bits))
        // It was deleted before the attribute became a double.                                          F-721
        case (.float(let bits), .double):
            set(column, word: Double(Float(bitPattern: bits)).bitPattern)
        case (.bytes(let bytes), .bytes), (.fixed16(let bytes), .fixed16):
            bytes.withUnsafeBytes { set(column, bytes: $0) }
        default: break
        }
    }
}

extension ChangesPayload.Operation {
    /// The public change type; nil for an operation that adds to changes reported already.
    fileprivate var type: PersistentHistoryChangeType? {
        switch self {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        case .redirect: nil
        }
    }
}
