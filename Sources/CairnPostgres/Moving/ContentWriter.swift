// Writes the contents of another store into new tables, in an open transaction.
//
//   1. The tables, without what leads from one to another and without indexes: so rows may come in any order, and fast.
//   2. The rows by COPY, table by table; then redirects, history, consumers, metadata.
//   3. Foreign keys and indexes, which are looked after now.
//   4. The row that says that there is a store, last.
//
// Making tables is not kept apart from writing rows here, as it is where a new store is made: all of it comes about, or
// nothing does.
//
// Memory: what a connection sends at once.
// Threads: owned by one call.

import CairnFormat
import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import FoundationEssentials

struct ContentWriter<Content: StoreContent> {
    private let content: Content
    private let connection: PostgresConnection
    private let layout: TableLayout
    private let keys: KeyLayout
    private(set) var report = StoreCopyReport()

    init(_ content: Content, _ connection: PostgresConnection, in space: String)
        throws(StoreError)
    {
        try TableLayout.check(content.catalog)
        self.content = content
        self.connection = connection
        layout = TableLayout(content.catalog, in: space)
        keys = KeyLayout(content.catalog.schema)
    }

    /// - Parameter modelVersion: how often the store's model has changed.
    mutating func run(modelVersion: Int64 = 1) throws(StoreError) {
        let creation = TableCreation(layout: layout, keys: keys)
        try carryOut(creation.tables.map { Statement($0, [], .once) })
        for (index, tree) in content.catalog.trees.enumerated()
        where tree.root < layout.schema.entities.count {
            try copyRows(ofTree: index, root: tree.root)
        }
        for pairs in layout.pairs.indices { try copyPairs(pairs) }
        try copyRedirects()
        try copyHistory()
        try writeHead()
        try carryOut(creation.links.map { Statement($0, [], .once) })
        let first = FirstRows(layout: layout, catalog: content.catalog)
        let head = content.head
        try carryOut([
            first.entities, first.numbers(next: head.nextNumbers),
            first.store(
                FirstRows.Store(
                    identifier: content.identity.identifier,
                    model: CatalogDocument.encode(content.catalog), modelVersion: modelVersion,
                    lastCommit: head.lastCommit, keepsHistory: head.history != nil,
                    historyBegins: head.history?.horizon ?? head.lastCommit)),
        ])
    }

    private func carryOut(_ statements: [Statement]) throws(StoreError) {
        try StoreCore.sql { () throws(SQLFailure) in try connection.pipeline(statements) }
    }

    // MARK: Rows

    /// Streams rows into a table.
    private func copy(
        into table: String, _ columns: [String],
        _ body: (CopyWriter) throws(StoreError) -> Void
    ) throws(StoreError) {
        let names = columns.map(\.quoted).joined(separator: ", ")
        try StoreCore.sql { () throws(SQLFailure) in
            try connection.copyIn("COPY \(table) (\(names)) FROM STDIN (FORMAT binary)") {
                try body($0)
            }
        }
    }

    private mutating func copyRows(ofTree tree: Int, root: Int) throws(StoreError) {
        let table = layout.tables[layout.table(of: root)]
        let form = RowForm(layout, keys, table: layout.table(of: root))
        let content = content
        var count = 0
        try copy(into: layout.sql(table.name), form.names) { writer throws(StoreError) in
            try content.forEachRow(ofTree: tree) { row throws(StoreError) in
                count += 1
                try StoreCore.sql { () throws(SQLFailure) in
                    try writer.beginRow(form.types.count)
                }
                try form.write(row) { (column, value) throws(SQLFailure) in
                    try writer.fields.append(value, as: form.types[column])
                }
            }
        }
        report.objects += count
    }

    private mutating func copyPairs(_ index: Int) throws(StoreError) {
        let table = layout.pairs[index]
        let columns =
            [
                TableLayout.Fixed.id, TableLayout.Fixed.version, TableLayout.Fixed.source,
                TableLayout.Fixed.destination,
            ] + table.places.map(\.name)
        let content = content
        var count = 0
        try copy(into: layout.sql(table.name), columns) { writer throws(StoreError) in
            try content.forEachPair(of: index) { pair throws(StoreError) in
                count += 1
                try StoreCore.sql { () throws(SQLFailure) in try writer.beginRow(columns.count) }
                writer.fields.append(number: Int64(pair.number))
                writer.fields.append(number: Int32(bitPattern: pair.version))
                writer.fields.append(number: Int64(pair.source))
                writer.fields.append(number: Int64(pair.destination))
                for place in table.places.indices {
                    if place < pair.places.count, let key = pair.places[place] {
                        writer.fields.append(number: key)
                    } else {
                        writer.fields.appendNull()
                    }
                }
            }
        }
        report.pairs += count
    }

    // MARK: The rest

    private mutating func copyRedirects() throws(StoreError) {
        let content = content
        var count = 0
        try copy(into: layout.sql(.redirects), ["hierarchy", "id", "survivor"]) {
            writer throws(StoreError) in
            try content.forEachRedirect { redirect throws(StoreError) in
                count += 1
                try StoreCore.sql { () throws(SQLFailure) in try writer.beginRow(3) }
                writer.fields.append(number: Int64(content.catalog.trees[redirect.tree].id))
                writer.fields.append(number: Int64(redirect.number))
                writer.fields.append(number: Int64(redirect.survivor))
            }
        }
        report.redirects = count
    }

    private mutating func copyHistory() throws(StoreError) {
        var rows = HistoryRows(layout)
        var count = 0
        try content.forEachTransaction { transaction throws(StoreError) in
            try rows.add(transaction)
            count += 1
            guard rows.isFull else { return }
            try carryOut(rows.statements)
            rows = HistoryRows(layout)
        }
        try carryOut(rows.statements)
        report.transactions = count
    }

    private func writeHead() throws(StoreError) {
        var names = SQLArray(of: .text)
        var seen = SQLArray(of: .int64)
        for (name, number) in content.head.history?.consumers ?? [:] {
            try StoreCore.sql { () throws(SQLFailure) in try names.append(text: name) }
            seen.append(number: Int64(clamping: number))
        }
        let metadata = WaitingMetadata(values: content.head.metadata, identifier: nil)
        let consumers = Statement(
            """
            INSERT INTO \(layout.sql(.consumers)) (name, seen) \
            SELECT * FROM unnest($1::text[], $2::bigint[])
            """, [.array(names), .array(seen)])
        try carryOut(try metadata.statements(layout) + [consumers])
    }
}
