import CairnFormat
import CairnModel
import CairnStore

extension Engine {
    /// The row of an object in the newest published state; nil if there is none.
    func row(_ reference: UInt64, entity: Int) throws(StoreError) -> StreamedRow? {
        guard let number = UInt32(exactly: reference) else { return nil }
        let pinned = registry.pin()
        return try reader.withWholeState { () throws(StoreError) in
            try reader.row(number, entity: entity, in: pinned)
        }
    }

    /// The row that has a key in the newest published state; nil if it is to be asked for in another way.
    func find(
        _ comparison: PredicateNode.Comparison, entity: Int, includesSubentities: Bool
    ) throws(StoreError) -> FoundRow? {
        let pinned = registry.pin()
        return try reader.withWholeState { () throws(StoreError) in
            try KeyFetch.row(comparison, entity, includesSubentities, reader, pinned)
        }
    }
}
