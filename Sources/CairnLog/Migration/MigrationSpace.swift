// How much room a migration is likely to need, asked of the disk before it begins.                    ENGINE-NOTES 16
//
// What a migration writes is written beside what is there: rows of entities that have columns to be computed or led elsewhere, and
// all rows where a mapping makes them anew. What only changes names, places or rules takes next to nothing, and is not asked for.
//
// It is an estimate by the sizes of encoded blocks. A disk that is full after all ends the migration, too: the store is as it was.
//
// Threads: the writer's.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore

extension Engine {
    /// Bytes that a plan has written anew, about.
    func bytesToMigrate(_ plan: ModelMigrationPlan) throws(StoreError) -> UInt64 {
        var rewritten: Set<Int> = []
        for entity in plan.entities {
            let isWritten = entity.columns.contains {
                $0.origin == .links || $0.origin == .derivation
            }
            if isWritten, let source = entity.sourceIndex { rewritten.insert(source) }
        }
        for hierarchy in plan.hierarchies where hierarchy.isSplitOff {
            rewritten.formUnion(
                plan.newSchema.entities[hierarchy.root].family.compactMap {
                    plan.entities[$0].sourceIndex
                })
        }
        // Rows that become pairs are larger than these.
        for origin in plan.pairs.lazy.filter({ $0.kept == nil }).flatMap(\.origins) {
            switch origin.form {
            case .column(let entity, _):
                rewritten.formUnion(plan.oldSchema.entities[entity].family)
            case .pairs(let index): rewritten.insert(plan.oldSchema.entities.count + index)
            }
        }
        return try bytesInUse { rewritten.contains($0) }
    }

    /// Bytes of the rows that a store has, with their large values, about: of the entities that are asked for.
    func bytesInUse(_ isCounted: (Int) -> Bool = { _ in true }) throws(StoreError) -> UInt64 {
        let pin = registry.pin()
        defer { withExtendedLifetime(pin) {} }
        let state = pin.state
        var bytes: UInt64 = 0
        for entity in state.catalog.entities.indices where isCounted(entity) {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                handle = state.blocks.next(after: entry)
                bytes += UInt64(entry.length) * UInt64(entry.live) / UInt64(max(1, entry.rows))
                guard entry.hasReferences else { continue }
                try passingBlock(entry, in: state).forEachReference(entry) { _, reference in
                    bytes &+= ValuePayload.storedLength(reference.length)
                }
            }
        }
        return bytes
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
            the migration needs about \(needed + (remainder > 0 ? 1 : 0)) MiB on the disk, which has \(available >> 20) MiB; \
            the store is as it was
            """,
            context: .init(path: "\(files.folder)"))
    }
}
