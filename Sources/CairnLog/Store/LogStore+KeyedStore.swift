import CairnFormat
package import CairnModel
package import CairnStore

extension LogStore: KeyedStore {
    /// Returns the current row of an object.
    package func row(_ reference: UInt64, entity: Int) throws(StoreError) -> StreamedRow? {
        try checkOpen()
        guard let number = UInt32(exactly: reference) else { return nil }
        let (reader, pinned) = (engine.reader, engine.registry.pin())
        return try reader.withWholeState { () throws(StoreError) in
            try reader.row(number, entity: entity, in: pinned)
        }
    }

    /// Returns the current row with a key.
    package func find(
        _ comparison: PredicateNode.Comparison, entity: Int, includesSubentities: Bool
    ) throws(StoreError) -> FoundRow? {
        try checkOpen()
        let (reader, pinned) = (engine.reader, engine.registry.pin())
        return try reader.withWholeState { () throws(StoreError) in
            try KeyFetch.row(comparison, entity, includesSubentities, reader, pinned)
        }
    }

    /// Passes the current rows of a relationship's members.
    package func related(
        _ relationship: Int, entity: Int, owner: UInt64, most: Int, _ room: RowRoom,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) -> Bool {
        try checkOpen()
        let (reader, pinned) = (engine.reader, engine.registry.pin())
        let catalog = pinned.catalog
        let description = catalog.schema.entities[entity].relationships[relationship]
        guard case .inverseColumn(let destination, let column) = description.storage,
            let number = UInt32(exactly: owner),
            let reference = catalog.reference(ofColumn: column, entity: destination),
            // Otherwise the table also contains rows of other entities.
            catalog.references[reference].entity == destination
        else { return false }
        return try reader.withWholeState { () throws(StoreError) in
            let inverse = pinned.inverse(reference)
            let count = inverse.count(of: number)
            if count > most { return false }
            if count == 0 { return true }
            var numbers: [UInt32] = []
            numbers.reserveCapacity(count)
            inverse.sources(of: number, into: &numbers)
            if description.keepsOrder {
                numbers = try inOrder(numbers, entity: destination, column: column, pinned)
            }
            try RelatedRows(reader: reader, pinned: pinned, room: room)
                .run(numbers, entity: destination, body)
            return true
        }
    }

    @inline(never)
    private func inOrder(
        _ numbers: [UInt32], entity: Int, column: Int, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> [UInt32] {
        let state = pinned.state
        return try state.sorted(numbers, entity: entity, column: column) {
            handle throws(StoreError) in
            try engine.reader.block(state.blocks.entry(handle), in: state)
        }
    }
}
