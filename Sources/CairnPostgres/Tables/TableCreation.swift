// Creates the tables of a new store.
//
// No statement here is of one database alone: no deferred constraints, no sequences, no type of our own. What makes tables is
// not mixed with what writes rows.
//
// Threads: functions of values only.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// The statements that create the tables of a store.
struct TableCreation {
    /// What the tables of this version are called by; a newer one is not touched.
    static let version: Int32 = 1

    let layout: TableLayout
    let keys: KeyLayout

    /// The tables, then what leads from one to another, then the indexes and the views.
    var statements: [String] { tables + links }

    /// The tables alone: rows come into them fastest, and in any order.
    var tables: [String] {
        SystemTable.allCases.map(creation(of:)) + layout.tables.indices.map(creation(ofTable:))
            + layout.pairs.indices.map(creation(ofPairs:))
    }

    /// What leads from one table to another, the indexes and the views.
    var links: [String] {
        layout.tables.indices.flatMap(links(ofTable:)) + layout.pairs.indices.map(link(ofPairs:))
            + keys.keys.map { keys.statement($0, layout) } + FetchIndexLayout(layout).statements
            + ReadableViews(layout: layout).creation
    }

    // MARK: The store's own

    /// The statement that makes a table of the store itself.
    func creation(of table: SystemTable) -> String {
        let columns =
            switch table {
            case .store:
                """
                one boolean PRIMARY KEY DEFAULT true CHECK (one), identifier uuid NOT NULL, \
                version integer NOT NULL, model bytea NOT NULL, model_version bigint NOT NULL, \
                last_commit bigint NOT NULL, \
                keeps_history boolean NOT NULL, history_begins bigint NOT NULL
                """
            case .entities: "code smallint PRIMARY KEY, name text NOT NULL, \"table\" text NOT NULL"
            case .numbers: "hierarchy bigint PRIMARY KEY, next bigint NOT NULL"
            case .metadata: "key text COLLATE \"C\" PRIMARY KEY, value bytea NOT NULL"
            case .redirects:
                """
                hierarchy bigint NOT NULL, id bigint NOT NULL, survivor bigint NOT NULL, \
                PRIMARY KEY (hierarchy, id)
                """
            case .transactions:
                """
                commit bigint PRIMARY KEY, made double precision NOT NULL, author text, context text, \
                process bigint NOT NULL, program text NOT NULL
                """
            case .changes:
                """
                commit bigint NOT NULL, place integer NOT NULL, entity smallint NOT NULL, \
                kind smallint NOT NULL, content text NOT NULL, PRIMARY KEY (commit, place)
                """
            // 0 is the commit of a transaction that was given up before it could commit.
            case .tokens:
                """
                token uuid PRIMARY KEY, commit bigint NOT NULL, \
                made timestamp with time zone NOT NULL
                """
            case .consumers: "name text COLLATE \"C\" PRIMARY KEY, seen bigint NOT NULL"
            }
        return "CREATE TABLE \(layout.sql(table)) (\(columns))"
    }

    // MARK: Objects

    func creation(ofTable index: Int) -> String {
        let table = layout.tables[index]
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

    func creation(ofPairs index: Int) -> String {
        let pairs = layout.pairs[index]
        let fixed = [
            "\(TableLayout.Fixed.id.quoted) bigint NOT NULL",
            "\(TableLayout.Fixed.version.quoted) integer NOT NULL",
        ]
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
            "CREATE TABLE \(layout.sql(pairs.name)) (\((fixed + ends + places + [key]).joined(separator: ", ")))"
    }

    /// The foreign keys of a table, and their indexes.
    func links(ofTable table: Int) -> [String] {
        layout.tables[table].columns.indices.flatMap { links(ofTable: table, column: $0) }
    }

    /// The same of one column. To-one relationships that may lead to nothing, as nobody clears them, have no foreign key.
    func links(ofTable table: Int, column: Int) -> [String] {
        let name = layout.sql(layout.tables[table].name)
        let column = layout.tables[table].columns[column]
        guard let target = column.target else { return [] }
        let index = "CREATE INDEX ON \(name) (\(column.name.quoted))"
        if column.mayDangle { return [index] }
        return [
            """
            ALTER TABLE \(name) ADD FOREIGN KEY (\(column.name.quoted)) \
            REFERENCES \(layout.sql(layout.tables[target].name))
            """, index,
        ]
    }

    /// The index of the pairs by their destinations; by their sources they have a primary key.
    func link(ofPairs pairs: Int) -> String {
        "CREATE INDEX ON \(layout.sql(layout.pairs[pairs].name)) (\(TableLayout.Fixed.destination.quoted))"
    }
}
