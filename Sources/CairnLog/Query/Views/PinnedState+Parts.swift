// The parts of a pinned state, one by one: a function that accesses several of them copies the whole state.

extension PinnedState<EngineState> {
    @inline(never) var catalog: Catalog { state.catalog }

    /// The inverse table for a reference definition of the catalog.
    @inline(never) func inverse(_ reference: Int) -> InverseTable {
        state.inverses[reference]
    }

    /// Returns the directory of a tree.
    @inline(never) func directory(_ tree: Int) -> RowDirectory {
        state.directories[tree]
    }

    /// Returns the index of a unique definition of the catalog.
    @inline(never) func unique(_ index: Int) -> UniqueIndex { state.uniques[index] }

    @inline(never) var hashSeed: UInt64 { state.hashSeed }

    @inline(never) func entry(_ handle: BlockHandle) -> BlockEntry {
        state.blocks.entry(handle)
    }
}
