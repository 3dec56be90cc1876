// Views for people: the tables of objects with timestamps instead of seconds, and with the names of entities.
//
// Cairn itself reads none of them.
//
// Threads: functions of values only.

import CairnModel

/// A view of each table of objects.
struct ReadableViews {
    let layout: TableLayout

    /// The moment from which dates are counted, 1 January 2001, in seconds since 1970.
    private static let epoch = 978_307_200
    /// The seconds since 2001 that a timestamp can say.
    private static let range = "-210000000000 AND 9200000000000"

    /// What makes them.
    var creation: [String] {
        names.enumerated().map { index, name in
            let table = layout.tables[index]
            return """
                CREATE VIEW \(layout.sql(name)) AS SELECT \
                \(columns(of: index, table).joined(separator: ", ")) \
                FROM \(layout.sql(table.name)) AS t JOIN \(layout.sql(.entities)) AS e \
                ON e.code = t.\(TableLayout.Fixed.entity.quoted)
                """
        }
    }

    /// What removes them: the columns that they show can be changed then.
    var removal: [String] { names.map { "DROP VIEW IF EXISTS \(layout.sql($0))" } }

    /// By table.
    private var names: [String] {
        var names = SQLNames(
            reserved: SystemTable.allCases.map(\.rawValue) + layout.tables.map(\.name)
                + layout.pairs.map(\.name))
        return layout.tables.map { names.give($0.name + " (readable)") }
    }

    private func columns(of index: Int, _ table: TableLayout.Table) -> [String] {
        let dates = dates(of: index)
        return ["t.\(TableLayout.Fixed.id.quoted)", "e.name AS \(TableLayout.Fixed.entity.quoted)"]
            + table.columns.indices.filter { !table.columns[$0].isPlace }.map { column in
                let name = table.columns[column].name.quoted
                return dates.contains(column) ? "\(moment("t." + name)) AS \(name)" : "t.\(name)"
            }
    }

    /// The moment that a date is; beyond what a timestamp can say, and of what is no number, nothing.
    private func moment(_ date: String) -> String {
        "CASE WHEN \(date) BETWEEN \(Self.range) THEN to_timestamp(\(date) + \(Self.epoch)) END"
    }

    /// The columns of a table that are dates.
    private func dates(of table: Int) -> Set<Int> {
        var dates: Set<Int> = []
        for entity in layout.schema.entities where layout.table(of: entity.index) == table {
            for (column, place) in zip(entity.columns, layout.columns(of: entity.index)) {
                if case .attribute(.date) = column.kind { dates.insert(place) }
            }
        }
        return dates
    }
}
