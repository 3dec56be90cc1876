// Checks that the tables of a store match its model, with their constraints and indexes.

import CairnModel
import CairnStore

extension PostgresCheck {
    /// Checks that tables and columns exist; false if one is missing.
    mutating func compareTables() throws(StoreError) -> Bool {
        let result = try reading.ask(
            Statement(
                """
                SELECT table_name::text, column_name::text FROM information_schema.columns \
                WHERE table_schema = $1
                """, [.text(layout.space)]))
        var found: [String: Set<String>] = [:]
        try StoreCore.sql { () throws(SQLFailure) in
            for row in 0..<result.rowCount {
                found[try result.string(row, 0), default: []].insert(try result.string(row, 1))
            }
        }
        let before = report.findingCount
        for (table, columns) in wanted {
            guard let there = found[table] else {
                report.note("the table \(table) is missing")
                continue
            }
            for column in columns where !there.contains(column) {
                report.note("the table \(table) lacks the column \(column)")
            }
        }
        return report.findingCount == before
    }

    /// The tables that there have to be, and columns of theirs.
    private var wanted: [(table: String, columns: [String])] {
        let objects = layout.tables.map { table in
            (
                table.name,
                [TableLayout.Fixed.id, TableLayout.Fixed.entity, TableLayout.Fixed.version]
                    + table.columns.map(\.name) + core.keys.columns(of: table.root)
            )
        }
        let pairs = layout.pairs.map { pairs in
            (
                pairs.name,
                [
                    TableLayout.Fixed.id, TableLayout.Fixed.version, TableLayout.Fixed.source,
                    TableLayout.Fixed.destination,
                ] + pairs.places.map(\.name)
            )
        }
        return SystemTable.allCases.map { ($0.rawValue, []) } + objects + pairs
    }

    /// Looks for the unique indexes of constraints and for foreign keys.
    mutating func compareIndexes() throws(StoreError) {
        let space: [SQLParameter] = [.text(layout.space)]
        let results = try reading.ask([
            Statement(
                """
                SELECT t.relname::text, i.relname::text FROM pg_catalog.pg_index AS x \
                JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid \
                JOIN pg_catalog.pg_class AS t ON t.oid = x.indrelid \
                JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace \
                WHERE n.nspname = $1 AND x.indisunique AND x.indisvalid
                """, space),
            Statement(
                """
                SELECT t.relname::text, a.attname::text FROM pg_catalog.pg_constraint AS c \
                JOIN pg_catalog.pg_class AS t ON t.oid = c.conrelid \
                JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace \
                JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = c.conkey[1] \
                WHERE n.nspname = $1 AND c.contype = 'f' AND c.convalidated
                """, space),
        ])
        let found = try StoreCore.sql { () throws(SQLFailure) in
            try results.map { result throws(SQLFailure) in
                var names: Set<[String]> = []
                for row in 0..<result.rowCount {
                    names.insert([try result.string(row, 0), try result.string(row, 1)])
                }
                return names
            }
        }
        for key in core.keys.keys {
            let table = layout.tables[layout.table(of: key.entity)].name
            if found[0].contains([table, key.index]) { continue }
            report.note(
                "the unique index \(key.index) of the table \(table) is missing, or is not valid",
                entity: schema.entities[key.entity].name,
                key: key.constraint.names.joined(separator: ","))
        }
        let references =
            layout.tables.flatMap { table in
                table.columns.filter { $0.target != nil && !$0.mayDangle }
                    .map { [table.name, $0.name] }
            }
            + layout.pairs.flatMap { pairs in
                [TableLayout.Fixed.source, TableLayout.Fixed.destination].map { [pairs.name, $0] }
            }
        for reference in references where !found[1].contains(reference) {
            report.note(
                "the foreign key of the column \(reference[1]) of the table \(reference[0]) is missing, or is not valid"
            )
        }
    }

    /// Looks whether the rows' codes of entities are told as this version has them.
    mutating func compareNames() throws(StoreError) {
        let result = try reading.ask(
            Statement("SELECT code, name, \"table\" FROM \(layout.sql(.entities)) ORDER BY code"))
        var found: [[String]] = []
        try StoreCore.sql { () throws(SQLFailure) in
            for row in 0..<result.rowCount {
                found.append([
                    "\(try result.int16(row, 0))", try result.string(row, 1),
                    try result.string(row, 2),
                ])
            }
        }
        for entity in schema.entities {
            let code = "\(layout.code(of: entity.index))"
            let table = layout.tables[layout.table(of: entity.index)].name
            if found.contains([code, entity.name, table]) { continue }
            report.note(
                "the table cairn_entities has no row for the code \(code) of \(entity.name), in the table \(table)"
            )
        }
    }
}
