// The initial contents of the store's own tables: the codes of entities, the next numbers, and the row that marks the
// store's existence.
//
// Threads: functions of values only.

import CairnLog
import CairnModel
import FoundationEssentials

struct FirstRows {
    /// The number of the commit that creates a store, the same as on the log.
    static let firstCommit: UInt64 = 1

    let layout: TableLayout
    let catalog: Catalog

    /// What people read to know which entity a row is of.
    var entities: Statement {
        var codes = SQLArray(of: .int16)
        var names = SQLArray(of: .text)
        var tables = SQLArray(of: .text)
        for entity in layout.schema.entities {
            codes.append(number: layout.code(of: entity.index))
            try? names.append(text: entity.name)
            try? tables.append(text: layout.tables[layout.table(of: entity.index)].name)
        }
        return Statement(
            """
            INSERT INTO \(layout.sql(.entities)) (code, name, "table") \
            SELECT * FROM unnest($1::smallint[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING
            """, [.array(codes), .array(names), .array(tables)])
    }

    /// - Parameter next: by tree of the catalog: a number below which none is given any more; nil: none was given yet.
    func numbers(next: [UInt32]? = nil) -> Statement {
        var hierarchies = SQLArray(of: .int64)
        var numbers = SQLArray(of: .int64)
        for (index, tree) in catalog.trees.enumerated() {
            hierarchies.append(number: Int64(tree.id))
            numbers.append(number: Int64(next?[index] ?? 1))
        }
        return Statement(
            """
            INSERT INTO \(layout.sql(.numbers)) (hierarchy, next) \
            SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING
            """, [.array(hierarchies), .array(numbers)])
    }

    /// The row of the store.
    struct Store {
        var identifier: UUID
        /// The catalog, as the log has it.
        var model: [UInt8]
        var modelVersion: Int64 = 1
        var lastCommit = firstCommit
        var keepsHistory = false
        var historyBegins = firstCommit
    }

    func store(_ store: Store) -> Statement {
        Statement(
            """
            INSERT INTO \(layout.sql(.store)) \
            (identifier, version, model, model_version, last_commit, keeps_history, history_begins) \
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
            """,
            [
                .uuid(store.identifier), .int32(TableCreation.version), .bytes(store.model),
                .int64(store.modelVersion), .int64(Int64(clamping: store.lastCommit)),
                .bool(store.keepsHistory), .int64(Int64(clamping: store.historyBegins)),
            ])
    }
}
