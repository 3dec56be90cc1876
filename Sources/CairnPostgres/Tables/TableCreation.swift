// Makes the tables of a new store.
//
// No statement here is of one database alone: no deferred constraints, no sequences, no type of our own. What makes tables is
// not mixed with what writes rows.
//
// Threads: functions of values only.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// The statements that make the tables of a store.
struct TableCreation {
    /// What the tables of this version are called by; a newer one is not touched.
    static let version: Int32 = 1

    let layout: TableLayout
    let keys: KeyLayout

    /// The tables, then what leads from one to another, then the indexes and the views.
    var statements: [String] {
        systemTables + layout.tables.map(table) + layout.pairs.map(table) + foreignKeys + indexes
            + ReadableViews(layout: layout).creation
    }

    // MARK: The store's own

    private var systemTables: [String] {
        func table(_ table: SystemTable, _ columns: String) -> String {
            "CREATE TABLE \(layout.sql(table)) (\(columns))"
        }
        return [
            table(
                .store,
                """
                one boolean PRIMARY KEY DEFAULT true CHECK (one), identifier uuid NOT NULL, \
                version integer NOT NULL, model bytea NOT NULL, last_commit bigint NOT NULL, \
                keeps_history boolean NOT NULL, history_begins bigint NOT NULL
                """),
            table(
                .entities,
                "code smallint PRIMARY KEY, name text NOT NULL, \"table\" text NOT NULL"),
            table(.numbers, "hierarchy bigint PRIMARY KEY, next bigint NOT NULL"),
            table(.metadata, "key text COLLATE \"C\" PRIMARY KEY, value bytea NOT NULL"),
            table(
                .redirects,
                "hierarchy bigint NOT NULL, id bigint NOT NULL, survivor bigint NOT NULL, PRIMARY KEY (hierarchy, id)"
            ),
            table(
                .transactions,
                """
                commit bigint PRIMARY KEY, made double precision NOT NULL, author text, context text, \
                process bigint NOT NULL, program text NOT NULL
                """),
            table(
                .changes,
                """
                commit bigint NOT NULL, place integer NOT NULL, entity smallint NOT NULL, \
                kind smallint NOT NULL, content text NOT NULL, PRIMARY KEY (commit, place)
                """),
            // 0 is the commit of a transaction that was given up before it could commit.
            table(
                .tokens,
                "token uuid PRIMARY KEY, commit bigint NOT NULL, made timestamp with time zone NOT NULL"
            ),
            table(.consumers, "name text COLLATE \"C\" PRIMARY KEY, seen bigint NOT NULL"),
        ]
    }

    // MARK: Objects

    private func table(_ table: TableLayout.Table) -> String {
        let fixed = [
            "\(TableLayout.Fixed.id.quoted) bigint PRIMARY KEY",
            "\(TableLayout.Fixed.entity.quoted) smallint NOT NULL",
            "\(TableLayout.Fixed.version.quoted) integer NOT NULL",
        ]
        // What is mandatory is looked after before anything is written: columns are nil on the way there.
        let columns = table.columns.map { "\($0.name.quoted) \($0.type.declaration)" }
        let keys = keys.columns(of: table.root).map { "\($0.quoted) bytea" }
        return
            "CREATE TABLE \(layout.sql(table.name)) (\((fixed + columns + keys).joined(separator: ", ")))"
    }

    private func table(_ pairs: TableLayout.PairTable) -> String {
        let ends = [
            (TableLayout.Fixed.source, pairs.source),
            (TableLayout.Fixed.destination, pairs.destination),
        ].map { name, table in
            "\(name.quoted) bigint NOT NULL REFERENCES \(layout.sql(layout.tables[table].name))"
        }
        let places = pairs.places.map { "\($0.name.quoted) bigint" }
        let key =
            "PRIMARY KEY (\(TableLayout.Fixed.source.quoted), \(TableLayout.Fixed.destination.quoted))"
        return
            "CREATE TABLE \(layout.sql(pairs.name)) (\((ends + places + [key]).joined(separator: ", ")))"
    }

    /// To-one relationships. Those that may lead to nothing, as nobody clears them, have none.
    private var foreignKeys: [String] {
        layout.tables.flatMap { table in
            table.columns.compactMap { column in
                guard let target = column.target, !column.mayDangle else { return nil }
                return """
                    ALTER TABLE \(layout.sql(table.name)) ADD FOREIGN KEY (\(column.name.quoted)) \
                    REFERENCES \(layout.sql(layout.tables[target].name))
                    """
            }
        }
    }

    private var indexes: [String] {
        let references = layout.tables.flatMap { table in
            table.columns.filter { $0.target != nil }.map { column in
                "CREATE INDEX ON \(layout.sql(table.name)) (\(column.name.quoted))"
            }
        }
        let destinations = layout.pairs.map {
            "CREATE INDEX ON \(layout.sql($0.name)) (\(TableLayout.Fixed.destination.quoted))"
        }
        return references + destinations + keys.statements(layout)
            + FetchIndexLayout(layout).statements
    }
}
