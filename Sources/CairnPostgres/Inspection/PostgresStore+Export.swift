// The content of a state as the canonical JSON lines that Format/ defines.                          Format 80
//
// They are those of a log with the same objects, but for the rows of relationships that are kept as pairs: a pair has
// neither number nor version here, and its line has none.
//
// Threads: one.

import CairnLog
import CairnModel
package import CairnStore

extension PostgresStore {
    /// Gives the content of a state as canonical JSON lines, in pieces.
    ///
    /// - Parameter snapshot: a snapshot of this store.
    /// - Throws: `StoreError`, and what the body throws.
    /// - Complexity: O(size of the content); a page of rows is in memory.
    package func export(
        of snapshot: any StoreSnapshot, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard let snapshot = snapshot as? PostgresSnapshot, snapshot.core === core else {
            throw StoreError(.invalidRequest, "the snapshot belongs to another store")
        }
        let catalog = try snapshot.catalog()
        let scan = TableScan(snapshot)
        var lines = CanonicalLines()
        lines.appendHead(schema: catalog.version)
        let names = catalog.entities.map { $0.allColumns.map(\.name) }
        for tree in catalog.trees.sorted(by: { $0.id < $1.id }) {
            if tree.root >= schema.entities.count {
                let entity = catalog.entities[tree.root]
                try scan.pairs(tree.root - schema.entities.count) { pair in
                    lines.append(
                        entity: entity.name, number: nil, version: nil, names: names[tree.root],
                        values: [.integer(Int64(pair.source)), .integer(Int64(pair.destination))]
                            + Self.values(pair.places))
                    try lines.give(body)
                }
                continue
            }
            try scan.rows(of: core.layout.table(of: tree.root)) { selection, page, index in
                let row = try StoreCore.sql { () throws(SQLFailure) in
                    try selection.placedRow(page, index)
                }
                lines.append(
                    entity: catalog.entities[row.entity].name, number: row.number,
                    version: row.version, names: names[row.entity],
                    values: row.values + Self.values(row.places))
                try lines.give(body)
            }
        }
        try lines.give(all: true, body)
    }

    private static func values(_ places: [Int64?]) -> [Value] {
        places.map { place in place.map { .integer($0) } ?? .null }
    }
}

extension PostgresSnapshot {
    /// The catalog that the store has in this state.
    func catalog() throws(StoreError) -> Catalog {
        let result = try reading.ask(Statement("SELECT model FROM \(core.layout.sql(.store))"))
        let bytes = try StoreCore.sql { () throws(SQLFailure) in try result.bytes(0, 0) }
        guard let stored = try? CatalogDocument.decode(bytes),
            let catalog = stored.schema.model == schema.model
                ? stored : CatalogDocument.catalog(stored, under: schema.model)
        else {
            throw StoreError(.damaged, "the model in the table cairn_store cannot be read")
        }
        return catalog
    }
}
