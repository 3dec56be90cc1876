// Checks before a migration whether the disk has the space that it is likely to need.                 ENGINE-NOTES 16
//
// What a migration writes is written beside what is there: rows of entities that have columns to be computed or led elsewhere, and
// all rows where a mapping makes them anew. What only changes names, places or rules takes next to nothing, and is not asked for.
//
// It is an estimate by the sizes of encoded blocks. A disk that is full after all ends the migration, too: the store is as it was.
//
// Threads: the writer's.

import CairnFileSystem
import CairnFormat
import CairnLog
import CairnModel
import CairnStore

extension Engine {
    /// The approximate size of a pair's row in bytes.
    private static let bytesOfPair: UInt64 = 16

    /// Bytes that a plan has written anew, about. Large values stay where they are, but those of a hierarchy that is split off,
    /// which name it.
    func bytesToMigrate(_ plan: ModelMigrationPlan) throws(StoreError) -> UInt64 {
        var rewritten: Set<Int> = []
        for entity in plan.entities {
            let isWritten = entity.columns.contains {
                $0.origin == .links || $0.origin == .derivation
            }
            if isWritten, let source = entity.sourceIndex { rewritten.insert(source) }
        }
        var splitOff: Set<Int> = []
        for hierarchy in plan.hierarchies where hierarchy.isSplitOff {
            splitOff.formUnion(
                plan.newSchema.entities[hierarchy.root].family.compactMap {
                    plan.entities[$0].sourceIndex
                })
        }
        let pin = registry.pin()
        defer { withExtendedLifetime(pin) {} }
        let state = pin.state
        var pairs = 0
        for origin in plan.pairs.lazy.filter({ $0.kept == nil }).flatMap(\.origins) {
            switch origin.form {
            case .column(let entity, _):
                pairs += plan.oldSchema.entities[entity].family.reduce(0) { $0 + state.counts[$1] }
            case .pairs(let index): pairs += state.counts[plan.oldSchema.entities.count + index]
            }
        }
        var use = RowUse(state, self)
        for entity in rewritten { try use.add(entity, largeValues: false) }
        for entity in splitOff { try use.addThoseWithLargeValues(entity) }
        return use.total.addingSaturated(UInt64(pairs) * Self.bytesOfPair)
    }

    /// Bytes of the rows that a store has, with their large values, about.
    func bytesInUse() throws(StoreError) -> UInt64 {
        let pin = registry.pin()
        defer { withExtendedLifetime(pin) {} }
        var use = RowUse(pin.state, self)
        for entity in pin.state.catalog.entities.indices { try use.add(entity, largeValues: true) }
        return use.total
    }

    /// Refuses what needs more room than the disk of the store has.
    func requireSpace(_ bytes: UInt64) throws(StoreError) {
        guard bytes > 0, let available = files.fileSystem.availableBytes(in: files.folder),
            available < bytes
        else { return }
        let (needed, remainder) = bytes.quotientAndRemainder(dividingBy: 1 << 20)
        throw StoreError(
            .noSpace,
            """
            the migration needs about \(needed + (remainder > 0 ? 1 : 0)) MiB of disk space, but the disk has \(available >> 20) MiB; \
            the store is unchanged
            """,
            context: .init(path: "\(files.folder)"))
    }
}

/// Bytes of rows, and of their large values.
private struct RowUse {
    private let state: EngineState
    private let engine: Engine
    private var rows: UInt64 = 0
    private var values: UInt64 = 0

    init(_ state: EngineState, _ engine: Engine) {
        self.state = state
        self.engine = engine
    }

    /// What was added. Damaged references may claim any length: no more lies there than the files have.
    var total: UInt64 {
        let files =
            state.segments.sides.reduce(0) { $0 + $1.end }
            + state.segments.mains.reduce(0) { $0 + state.end(of: $1) }
        return rows.addingSaturated(min(values, files))
    }

    mutating func add(_ entity: Int, largeValues: Bool) throws(StoreError) {
        for handle in state.blocks.all(ofEntity: entity) {
            try add(state.blocks.entry(handle), largeValues: largeValues)
        }
    }

    mutating func addThoseWithLargeValues(_ entity: Int) throws(StoreError) {
        for handle in state.blocks.all(ofEntity: entity) {
            let entry = state.blocks.entry(handle)
            if entry.hasReferences { try add(entry, largeValues: true) }
        }
    }

    private mutating func add(_ entry: BlockEntry, largeValues: Bool) throws(StoreError) {
        guard entry.live > 0, entry.rows > 0 else { return }
        rows +=
            (UInt64(entry.length) + UInt64(entry.borrowedBytes)) * UInt64(entry.live)
            / UInt64(entry.rows)
        guard largeValues, entry.hasReferences else { return }
        var sum: UInt64 = 0
        try engine.reader.passingBlock(entry, in: state).forEachReference(entry) { _, reference in
            sum = sum.addingSaturated(ValuePayload.storedLength(reference.length))
        }
        values = values.addingSaturated(sum)
    }
}

extension UInt64 {
    /// The sum, or the largest number.
    func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
