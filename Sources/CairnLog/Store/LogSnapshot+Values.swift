import CairnFormat
package import CairnModel
package import CairnStore
import FoundationEssentials

extension LogSnapshot: ValueStreamingSnapshot {
    package func stream(forKey key: String, of id: ObjectID, chunkBytes: Int) throws(StoreError)
        -> ValueStream?
    {
        try reading { pinned throws(StoreError) -> ValueStream? in
            let state = pinned.state
            guard let hit = hit(id, state) else {
                throw StoreError(
                    .objectNotFound, "the store does not have the object",
                    context: .init(objectID: id))
            }
            let column = try ValueStream.column(forKey: key, of: schema.entities[hit.entity])
            let stored = state.catalog.entities[hit.entity]
            let block = try engine.reader.block(state.blocks.entry(hit.cell.handle), in: pinned)
            let slot = hit.cell.slot
            guard let cells = try block.column(stored.columns[column]), !cells.isNil(at: slot)
            else { return nil }
            guard cells.isExternal(at: slot) else {
                return ValueStream(Data(cells.cell(slot)), chunkBytes: chunkBytes)
            }
            let reference: ValueReference
            do throws(FormatError) {
                reference = try ValueReference(decoding: cells.cell(slot))
            } catch {
                throw StoreError(error, at: block.place)
            }
            guard let segment = state.segments[reference.place.segment] else {
                throw .damaged(
                    "a value's segment is missing (F-631)", segment: reference.place.segment)
            }
            let pieces = ValuePieces(
                reference, in: segment, storeTag: engine.storeID.tag,
                owner: .init(
                    tree: state.catalog.trees[stored.tree].id, number: hit.number,
                    property: stored.columns[column].propertyID))
            return ValueStream(count: reference.length, chunkBytes: chunkBytes) {
                ValueFrames(pieces) { () throws(StoreError) in _ = try self.readable() }
            }
        }
    }
}
