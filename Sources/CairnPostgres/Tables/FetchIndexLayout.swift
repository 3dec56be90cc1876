// The fetch indexes of a model in the database: the same ones as in every store, over the same columns.
//
//   CREATE INDEX "byPrice" ON … ("category" ASC NULLS FIRST, "price" DESC NULLS LAST)
//
// Nil is the least, as in the orders that are asked for. Of texts and bytes the beginnings are indexed (`LongValue`): of the
// first ones of an index, as many as there is room for.
//
// Threads: a plain value.

import CairnLog
import CairnModel

struct FetchIndexLayout {
    private let layout: TableLayout

    init(_ layout: TableLayout) { self.layout = layout }

    /// An index.
    struct Index {
        let name: String
        /// As an index of the layout's tables.
        let table: Int
        /// As indexes of the table's columns.
        let columns: [Int]
        /// What makes it.
        let statement: String
    }

    /// The statements that make the indexes.
    var statements: [String] { indexes.map(\.statement) }

    var indexes: [Index] {
        var names = SQLNames()
        return Catalog.fetchIndexes(of: layout.schema.model, in: layout.schema).map { index in
            let entity = layout.schema.entities[index.entity]
            let name = names.give("index \(entity.name).\(index.name)")
            let table = layout.table(of: index.entity)
            let columns = layout.columns(of: index.entity)
            return Index(
                name: name, table: table, columns: index.parts.map { columns[$0.column] },
                statement: """
                    CREATE INDEX \(name.quoted) ON \(layout.sql(layout.tables[table].name)) \
                    (\(elements(index).joined(separator: ", ")))
                    """)
        }
    }

    private func elements(_ index: Catalog.FetchIndexDefinition) -> [String] {
        var elements: [String] = []
        var room = LongValue.most
        for part in index.parts {
            let column = layout.column(part.column, of: index.entity)
            var element = column.name.quoted
            if let long = LongValue(column.type) {
                // What follows is looked at in the rows.
                if room == 0 { break }
                room -= 1
                element = long.beginning(element)
            }
            elements.append(
                "\(element) \(part.isAscending ? "ASC NULLS FIRST" : "DESC NULLS LAST")")
        }
        return elements
    }
}
