// Loads what a request needs: one statement for each kind of need and table, all of them in one round trip.
//
// Rows are locked as they are read, in the order of their numbers, so that nobody changes them before the transaction ends and
// two transactions seldom wait for each other. Who has the lock of the store waits for nobody who may wait for that.
//
// Threads: plain values.

import CairnLog
import CairnModel
import CairnStore

/// The queries for what a request needs, and their results.
struct NeedsLoader {
    private let layout: TableLayout
    private let keys: KeyLayout
    private let identity: StoreIdentity
    private let catalog: Catalog
    private let needs: PartialKnowledge.Needs
    private let patience: String
    private(set) var statements: [Statement] = []
    /// By statement: what its rows are.
    private var answers: [Answer] = []

    private enum Answer {
        case rows(RowSelection)
        case pairs(PairSelection)
        /// Redirected ids of a tree.
        case redirects(Int)
        /// Rows that are only locked.
        case nothing
    }

    /// - Parameter waits: whether rows that others have locked are waited for; else they are an error.
    init(
        _ needs: PartialKnowledge.Needs, _ layout: TableLayout, _ keys: KeyLayout,
        _ identity: StoreIdentity, _ catalog: Catalog, waits: Bool
    ) throws(StoreError) {
        patience = Self.patience(waits)
        self.layout = layout
        self.keys = keys
        self.identity = identity
        self.catalog = catalog
        self.needs = needs
        askForRows()
        askForReferences()
        try askForKeys()
    }

    /// How a statement that locks ends.
    static func patience(_ waits: Bool) -> String { waits ? "" : " NOWAIT" }

    /// What the answers bring.
    func brought(_ results: [PostgresResult]) throws(SQLFailure) -> PartialStore.Brought {
        var brought = PartialStore.Brought()
        brought.known = needs
        for (answer, result) in zip(answers, results) {
            switch answer {
            case .nothing: continue
            case .rows(let selection):
                for row in 0..<result.rowCount {
                    brought.rows.append(try selection.placedRow(result, row))
                }
            case .redirects(let tree):
                for row in 0..<result.rowCount {
                    guard let number = UInt32(exactly: try result.int64(row, 0)),
                        let survivor = UInt32(exactly: try result.int64(row, 1))
                    else { throw SQLFailure(.unreadable, "a redirected id is not an object id") }
                    brought.redirects.append(
                        .init(tree: tree, number: number, survivor: survivor))
                }
            case .pairs(let selection):
                for row in 0..<result.rowCount {
                    brought.pairs.append(try selection.pair(result, row))
                }
            }
        }
        return brought
    }

    // MARK: Questions

    private func selection(_ table: Int) -> RowSelection {
        RowSelection(layout: layout, table: table, identity: identity)
    }

    private mutating func ask(
        _ selection: RowSelection, from source: String, _ parameters: [SQLParameter]
    ) {
        statements.append(
            Statement(
                """
                SELECT \(selection.list("r")) FROM \(layout.sql(layout.tables[selection.table].name)) AS r\
                \(source) ORDER BY r.\(TableLayout.Fixed.id.quoted) FOR UPDATE OF r\(patience)
                """, parameters))
        answers.append(.rows(selection))
    }

    private mutating func askForRows() {
        for (tree, numbers) in needs.rows.sorted(by: { $0.key < $1.key }) {
            let root = catalog.trees[tree].root
            // Pairs are brought with those at their ends.
            guard root < layout.schema.entities.count else { continue }
            ask(
                selection(layout.table(of: root)),
                from: " WHERE r.\(TableLayout.Fixed.id.quoted) = ANY($1::bigint[])",
                [.numbers(numbers)])
            statements.append(
                Statement(
                    """
                    SELECT id, survivor FROM \(layout.sql(.redirects)) \
                    WHERE hierarchy = $1 AND id = ANY($2::bigint[])
                    """, [.int64(Int64(catalog.trees[tree].id)), .numbers(numbers)]))
            answers.append(.redirects(tree))
        }
    }

    private mutating func askForReferences() {
        var targets: [Int: Set<UInt32>] = [:]
        for need in needs.references {
            targets[need.reference, default: []].insert(need.target)
        }
        for (reference, numbers) in targets.sorted(by: { $0.key < $1.key }) {
            let definition = catalog.references[reference]
            let parameters = [SQLParameter.numbers(numbers)]
            lock(table: layout.table(of: catalog.trees[definition.target].root), parameters)
            guard definition.entity >= layout.schema.entities.count else {
                let column = layout.column(definition.column, of: definition.entity)
                ask(
                    selection(layout.table(of: definition.entity)),
                    from: " WHERE r.\(column.name.quoted) = ANY($1::bigint[])", parameters)
                continue
            }
            let pairs = PairSelection(
                layout: layout, pairs: definition.entity - layout.schema.entities.count)
            let end =
                definition.column == 0 ? TableLayout.Fixed.source : TableLayout.Fixed.destination
            statements.append(
                Statement(
                    """
                    SELECT \(pairs.list("r")) FROM \(layout.sql(layout.pairs[pairs.pairs].name)) AS r \
                    WHERE r.\(end.quoted) = ANY($1::bigint[])
                    """, parameters))
            answers.append(.pairs(pairs))
        }
    }

    /// Locks the owners of lists, so that nobody else adds to them.
    private mutating func lock(table: Int, _ numbers: [SQLParameter]) {
        let id = TableLayout.Fixed.id.quoted
        statements.append(
            Statement(
                """
                SELECT \(id) FROM \(layout.sql(layout.tables[table].name)) WHERE \(id) = ANY($1::bigint[]) \
                ORDER BY \(id) FOR UPDATE\(patience)
                """, numbers))
        answers.append(.nothing)
    }

    private mutating func askForKeys() throws(StoreError) {
        var byUnique: [Int: [[UInt8]]] = [:]
        for need in needs.keys { byUnique[need.unique, default: []].append(need.bytes) }
        for (unique, wanted) in byUnique.sorted(by: { $0.key < $1.key }) {
            let definition = catalog.uniques[unique]
            guard
                let key = keys.keys.first(where: {
                    $0.entity == definition.entity
                        && $0.bytes.columns == definition.form.columns
                        && $0.constraint.names == definition.names
                })
            else { continue }
            let rows = selection(layout.table(of: key.entity))
            switch key.form {
            case .column:
                var array = SQLArray(of: .bytes)
                for bytes in wanted {
                    try StoreCore.sql { () throws(SQLFailure) in try array.append(bytes: bytes) }
                }
                ask(rows, from: Self.join(key, [.bytea], layout), [.array(array)])
            case .columns:
                let columns = key.constraint.columns.map { layout.column($0, of: key.entity) }
                var arrays = columns.map { ColumnArray($0.type) }
                for bytes in wanted {
                    try StoreCore.sql { () throws(SQLFailure) in
                        try KeyParts(bytes).append(to: &arrays)
                    }
                }
                ask(
                    rows, from: Self.join(key, columns.map(\.type), layout),
                    arrays.map { $0.parameter })
            }
        }
    }

    /// Joins the rows that have the keys of the parameters.
    private static func join(
        _ key: KeyLayout.Key, _ types: [ColumnType], _ layout: TableLayout
    ) -> String {
        let lists = types.enumerated().map { ColumnArray.sql($0 + 1, $1) }
        let names = types.indices.map { "k\($0)" }
        let terms = key.terms("r", names.map { "k." + $0 }, layout)
        return
            " JOIN unnest(\(lists.joined(separator: ", "))) AS k(\(names.joined(separator: ", "))) ON "
            + terms.joined(separator: " AND ")
    }
}
