import CairnFormat
import CairnModel
import CairnStore

extension Engine {
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
