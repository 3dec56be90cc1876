// Reads the fetch indexes of a checkpoint.                                             Format 85
//
// The list of indexes, and the division of their leaves, is read immediately; leaves and the tables of
// postings are read on first access. An index that the checkpoint lacks is built from the rows; one that is
// no longer declared is freed.

import CairnFormat
import CairnModel
import CairnStore

extension Catalog {
    /// The fetch indexes in a checkpoint; nil if they do not belong to this schema.
    func fetchIndexes(_ contents: [CheckpointContents.FetchIndex]) -> [FetchIndexDefinition]? {
        if contents.isEmpty { return [] }
        var found: [FetchIndexDefinition] = []
        for index in contents {
            guard let entity = entityIndex(id: index.entity), entity < schema.entities.count else {
                return nil
            }
            var columns: [(column: Int, isAscending: Bool)] = []
            for column in index.columns {
                let place = entities[entity].columns.firstIndex {
                    $0.propertyID == column.property
                }
                guard let place, column.order <= 1 else { return nil }
                columns.append((place, column.order == 0))
            }
            guard
                let definition = FetchIndexDefinition(
                    "", of: schema.entities[entity], columns),
                !found.contains(where: { $0.isSame(as: definition) })
            else { return nil }
            // Its name comes from the model.
            let known = fetchIndexes.first { $0.isSame(as: definition) }
            let names = definition.names.joined(separator: ", ")
            found.append(
                known ?? FetchIndexDefinition(names, of: schema.entities[entity], columns)
                    ?? definition)
        }
        return found
    }
}

extension CheckpointReader {
    /// Restores those of the state's fetch indexes that the checkpoint has.
    func fillFetchIndexes(
        _ state: inout EngineState, _ contents: CheckpointContents, _ image: CheckpointImage?,
        _ pages: inout PageTransaction
    ) throws {
        for (index, part) in contents.fetchIndexes.enumerated() {
            let definition = state.catalog.fetchIndexes[index]
            let rows = definition.family.reduce(0) { $0 + state.counts[$1] }
            let ordered = try ordered(part.ordered, .ordered(index), rows, image, &pages)
            let lists = try self.ordered(part.lists, .lists(index), rows, image, &pages)
            let table = try table(part.postings, image, &pages) { .postings(index, $0) }
            guard ordered.count == rows,
                definition.hasPostings || (table.count == 0 && lists.count == 0)
            else { throw Unusable() }
            state.fetchIndexes[index].ordered = ordered
            if definition.hasPostings {
                state.fetchIndexes[index].postings = PostingIndex(
                    restoring: table, lists: lists, count: rows)
            }
        }
    }

    private func ordered(
        _ contents: CheckpointContents.Ordered, _ place: CheckpointImage.OrderedPlace, _ rows: Int,
        _ image: CheckpointImage?, _ pages: inout PageTransaction
    ) throws -> OrderedIndex {
        let parts = try contents.outline.map { unit in try read(unit) { Array($0) } }
        // F-859: also so that a wrong outline does not reserve memory for many leaves.
        guard let outline = OrderedOutline(parts), outline.total <= rows,
            contents.leaves.reduce(UInt64(0), { $0 + UInt64($1.count) }) == UInt64(outline.count)
        else { throw Unusable() }
        var leaves: [UInt] = []
        for run in contents.leaves {
            let count = Int(run.count)
            if let image {
                let records = image.add(
                    .leaves(place, outline, first: leaves.count, run), pages: count)
                leaves += records.map { image.records[$0] }
                continue
            }
            let read = try read(run.unit) { bytes in
                outline.unpack(bytes, first: leaves.count, count: count, &pages)
            }
            guard let read else { throw Unusable() }
            leaves += read.map(\.address)
        }
        return OrderedIndex(restoring: leaves, outline, in: &pages)
    }
}
