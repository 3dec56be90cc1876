// Rows of a base block that live on in later patches.
//
// A patch has the rows of its block at the same slots, and replaces some of the columns. If a row of the base
// lives on in one, everything that depends on none of these columns is unchanged: keys, references, entries
// of fetch indexes.
//
// Only the last patch of a block counts: it contains what the others replaced. Rows that live in others are
// removed from the indexes and inserted again, like those of blocks.
//
// Threads: one owner.

import CairnFormat

struct CarryingPatches {
    struct Patch {
        let handle: BlockHandle
        /// The properties whose columns it contains.
        private let properties: Set<UInt32>
        /// The rows of the base that live on in it.
        fileprivate(set) var carried = SlotSet()

        init(_ block: LoggedBlock, _ handle: BlockHandle) {
            self.handle = handle
            properties = Set(block.patchedProperties)
        }

        /// Whether it contains all columns that another block of the same rows has of its own.
        fileprivate func covers(_ block: CachedBlock) -> Bool {
            block.head.columns.dropLast().allSatisfy {
                $0.isBorrowed || properties.contains($0.propertyID)
            }
        }

        private func brings(_ columns: some Sequence<Int>, _ entity: Catalog.StoredEntity) -> Bool {
            columns.contains { properties.contains(entity.columns[$0].propertyID) }
        }

        /// Whether it changes keys of a unique definition.
        func touches(unique: Int, of entity: Catalog.StoredEntity, _ catalog: Catalog) -> Bool {
            brings(catalog.uniques[unique].form.watched, entity)
        }

        /// Whether it changes the targets of a reference.
        func touches(reference: Int, of entity: Catalog.StoredEntity, _ catalog: Catalog) -> Bool {
            brings(CollectionOfOne(catalog.references[reference].column), entity)
        }

        /// Whether it changes entries of a fetch index.
        func touches(fetchIndex: Int, of entity: Catalog.StoredEntity, _ catalog: Catalog) -> Bool {
            brings(catalog.fetchIndexes[fetchIndex].parts.lazy.map(\.column), entity)
        }
    }

    /// By the place of the block that they patch.
    private var patches: [Place: Patch] = [:]

    /// - Parameter handles: those of the blocks after the base.
    init(_ log: OpenedLog, _ handles: [Place: BlockHandle]) {
        guard log.base != nil else { return }
        for block in log.blocks where !block.patched.isNone && handles[block.patched] == nil {
            // A block in a segment that is gone is removed, and its rows are elsewhere.
            guard let handle = handles[block.place], log.segments[block.place.segment] != nil
            else { continue }
            patches[block.patched] = Patch(block, handle)
        }
    }

    /// Returns the patch in which rows of a block of the base live on; nil if there is none.
    func patch(after block: CachedBlock) -> Patch? {
        guard !patches.isEmpty else { return nil }
        guard let base = block.base else { return patches[block.place] }
        guard let patch = patches[base.place], patch.covers(block) else { return nil }
        return patch
    }

    /// Notes that rows of a block have moved to the patch that continues it.
    mutating func carry(_ slots: SlotSet, of block: CachedBlock) {
        patches[block.base?.place ?? block.place]?.carried.formUnion(slots)
    }

    /// Returns the patch that a block after the base is, if rows of the base live on in it.
    func patch(_ block: LoggedBlock, _ handle: BlockHandle) -> Patch? {
        guard !block.patched.isNone, let patch = patches[block.patched], patch.handle == handle,
            patch.carried.count > 0
        else { return nil }
        return patch
    }
}
