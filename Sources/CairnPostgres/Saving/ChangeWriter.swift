// Writes the changes of a request: a few statements for each table, all of them in one round trip.
//
//   1. Rows that get another key, or go, give up the keys that they had: so that keys can change hands, whoever is first.
//   2. New rows come without references to other new ones, which may not be there yet.
//   3. Changed rows get their values, and new ones their references.
//   4. Pairs go, come, and change their places.
//   5. Rows go, to which nothing leads any more.
//
// So no constraint has to wait for the end of the transaction, which not all databases of the family can have it do.
//
// Threads: plain values.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

struct ChangeWriter {
    private let layout: TableLayout
    private let keys: KeyLayout
    /// Whether rows get new values only if they have the version before.
    private let checksVersions: Bool
    private var statements: [Statement] = []
    /// What is copied, and behind how many of the statements.
    private var copies: [(place: Int, copy: RowCopy)] = []
    /// By table: the columns that rows gave up with their keys, and get back with their values.
    private var givenUp: [Int: Set<String>] = [:]

    /// - Parameter checksVersions: whether rows get new values only if they have the version before: how many do, the answers
    ///   say.
    init(
        _ changes: PartialStore.Changes, _ layout: TableLayout, _ keys: KeyLayout,
        checksVersions: Bool = false
    ) throws(StoreError) {
        self.layout = layout
        self.keys = keys
        self.checksVersions = checksVersions
        let tables = layout.tables.indices.map { TableChanges(changes, table: $0, layout) }
        for table in tables { giveUpKeys(table) }
        for table in tables { try insert(table) }
        for table in tables { try update(table) }
        for pairs in layout.pairs.indices { writePairs(pairs, changes) }
        let gone = tables.map { Set($0.deleted.map(\.number)) }
        for table in tables { letGo(table, gone) }
        for table in tables { delete(table) }
    }

    /// Writes all up to the last copy, and gives the statements that are left.
    ///
    /// - Throws: `StoreError` or `SQLFailure`.
    func begin(_ connection: PostgresConnection, _ bound: CallBound) throws -> [Statement] {
        var done = 0
        for (place, copy) in copies {
            try connection.pipeline(Array(statements[done..<place]), bound: bound)
            done = place
            try copy.run(connection, bound)
        }
        return Array(statements[done...])
    }

    /// What changes in one table.
    private struct TableChanges {
        let table: Int
        var inserted: [PartialStore.PlacedRow]
        var updated: [(row: PartialStore.PlacedRow, old: PartialStore.PlacedRow)]
        var deleted: [PartialStore.PlacedRow]
        /// New rows that lead to new rows.
        var linked: [PartialStore.PlacedRow] = []
        /// By column of the table: whether a row differs in it from what it was, or from how it is written first.
        var differing: [Bool]

        init(_ changes: PartialStore.Changes, table: Int, _ layout: TableLayout) {
            self.table = table
            inserted = changes.inserted.filter { layout.table(of: $0.entity) == table }
            updated = changes.updated.filter { layout.table(of: $0.row.entity) == table }
            deleted = changes.deleted.filter { layout.table(of: $0.entity) == table }
            let all = layout.tables[table].columns
            differing = all.map { _ in false }
            for (row, old) in updated {
                for (index, column) in layout.columns(of: row.entity).enumerated()
                where !differing[column] && row.values[index] != old.values[index] {
                    differing[column] = true
                }
                for (index, column) in layout.places(of: row.entity).enumerated()
                where row.places[index] != old.places[index] { differing[column] = true }
            }
            var new: [Int: Set<UInt32>] = [:]
            for row in changes.inserted {
                new[layout.table(of: row.entity), default: []].insert(row.number)
            }
            linked = inserted.filter { row in
                zip(row.values, layout.columns(of: row.entity)).contains { value, column in
                    guard case .objectID(let id) = value,
                        let target = layout.tables[table].columns[column].target,
                        let number = UInt32(exactly: id.reference)
                    else { return false }
                    return new[target]?.contains(number) == true
                }
            }
            if !linked.isEmpty {
                for column in all.indices where all[column].target != nil {
                    differing[column] = true
                }
            }
        }
    }

    private func name(_ table: Int) -> String { layout.sql(layout.tables[table].name) }
    private var id: String { TableLayout.Fixed.id.quoted }

    // MARK: 1 Keys

    private mutating func giveUpKeys(_ changes: TableChanges) {
        let root = layout.tables[changes.table].root
        var names: [String] = []
        var numbers: Set<UInt32> = []
        for key in keys.keys where layout.schema.entities[key.entity].root == root {
            if changes.deleted.isEmpty, key.constraint.options == nil {
                let parts = layout.columns(of: key.entity)
                guard key.constraint.columns.contains(where: { changes.differing[parts[$0]] })
                else { continue }
            }
            let family = layout.schema.entities[key.entity].family
            let rows =
                changes.updated.filter { change in
                    family.contains(change.row.entity)
                        && key.bytes.bytes(change.old.values) != nil
                        && key.bytes.bytes(change.old.values) != key.bytes.bytes(change.row.values)
                }.map(\.old)
                + changes.deleted.filter { row in
                    family.contains(row.entity) && key.bytes.bytes(row.values) != nil
                }
            if rows.isEmpty { continue }
            numbers.formUnion(rows.map(\.number))
            switch key.form {
            case .column(let name): names.append(name)
            // Without one part there is no key.
            case .columns:
                names.append(layout.column(key.constraint.columns[0], of: key.entity).name)
            }
        }
        // A deletion alone is in nobody's way.
        if numbers.isEmpty || changes.inserted.isEmpty && changes.updated.isEmpty { return }
        givenUp[changes.table] = Set(names)
        let sets = Set(names).sorted().map { "\($0.quoted) = NULL" }.joined(separator: ", ")
        statements.append(
            Statement(
                "UPDATE \(name(changes.table)) SET \(sets) WHERE \(id) = ANY($1::bigint[])",
                [SQLParameter.numbers(numbers)]))
    }

    // MARK: 2 New rows

    private mutating func insert(_ changes: TableChanges) throws(StoreError) {
        if changes.inserted.isEmpty { return }
        let loose = Set(changes.linked.map(\.number))
        let form = RowForm(layout, keys, table: changes.table)
        if changes.inserted.count >= RowCopy.fewest {
            var rest = changes.inserted[...]
            while !rest.isEmpty {
                let rows = rest.prefix(RowCopy.most)
                copies.append((statements.count, RowCopy(form: form, rows: rows, loose: loose)))
                rest = rest.dropFirst(rows.count)
            }
            return
        }
        var rows = RowArrays(form)
        for row in changes.inserted {
            try rows.append(row, isLoose: loose.contains(row.number))
        }
        statements.append(
            Statement(
                "INSERT INTO \(name(changes.table)) (\(rows.names)) SELECT * FROM unnest(\(rows.lists))",
                rows.parameters))
    }

    // MARK: 3 Values

    private mutating func update(_ changes: TableChanges) throws(StoreError) {
        var rest = (changes.updated.map(\.row) + changes.linked)[...]
        let form = RowForm(layout, keys, table: changes.table)
        let columns = form.columns(
            differing: changes.differing, and: givenUp[changes.table] ?? [])
        let version = TableLayout.Fixed.version.quoted
        let check = checksVersions ? " AND r.\(version) = v.\(version) - 1" : ""
        while !rest.isEmpty {
            let rows = rest.prefix(RowCopy.most)
            var arrays = RowArrays(form, only: columns)
            for row in rows { try arrays.append(row) }
            statements.append(
                Statement(
                    """
                    UPDATE \(name(changes.table)) AS r SET \(arrays.assignments(from: "v")) \
                    FROM unnest(\(arrays.lists)) AS v(\(arrays.names)) WHERE r.\(id) = v.\(id)\(check)
                    """, arrays.parameters))
            rest = rest.dropFirst(rows.count)
        }
    }

    // MARK: 4 Pairs

    private mutating func writePairs(_ index: Int, _ changes: PartialStore.Changes) {
        let table = layout.pairs[index]
        let name = layout.sql(table.name)
        let (source, destination) = (
            TableLayout.Fixed.source.quoted, TableLayout.Fixed.destination.quoted
        )
        func arrays(_ pairs: [PartialStore.PlacedPair], places: Bool) -> [SQLParameter] {
            var columns = [ColumnArray](
                repeating: ColumnArray(.bigint), count: 2 + (places ? table.places.count : 0))
            for pair in pairs {
                columns[0].append(Int64(pair.source))
                columns[1].append(Int64(pair.destination))
                guard places else { continue }
                for place in table.places.indices {
                    columns[2 + place].append(place < pair.places.count ? pair.places[place] : nil)
                }
            }
            return columns.map(\.parameter)
        }
        func lists(_ count: Int) -> String {
            (1...count).map { ColumnArray.sql($0, .bigint) }.joined(separator: ", ")
        }
        let places = table.places.map(\.name.quoted)
        let names = ([source, destination] + places).joined(separator: ", ")
        let removed = changes.removedPairs.filter { $0.pairs == index }
        if !removed.isEmpty {
            statements.append(
                Statement(
                    """
                    DELETE FROM \(name) WHERE (\(source), \(destination)) \
                    IN (SELECT * FROM unnest(\(lists(2))))
                    """, arrays(removed, places: false)))
        }
        let added = changes.addedPairs.filter { $0.pairs == index }
        if !added.isEmpty {
            let count = 2 + places.count
            let (id, version) = (TableLayout.Fixed.id.quoted, TableLayout.Fixed.version.quoted)
            // Their numbers are theirs until the transaction ends, as is the number of the commit soon.
            statements.append(
                Statement(
                    """
                    WITH n AS (UPDATE \(layout.sql(.numbers)) SET next = next + $\(count + 1) \
                    WHERE hierarchy = $\(count + 2) RETURNING next) \
                    INSERT INTO \(name) (\(id), \(version), \(names)) \
                    SELECT n.next - $\(count + 1) - 1 + v.ordinality, 1, \
                    \((["source", "destination"] + places.indices.map { "p\($0)" }).map { "v." + $0 }.joined(separator: ", ")) \
                    FROM n, unnest(\(lists(count))) WITH ORDINALITY \
                    AS v(source, destination\(places.indices.map { ", p\($0)" }.joined()), ordinality)
                    """,
                    arrays(added, places: true) + [
                        .int64(Int64(added.count)), .int64(Int64(table.hierarchy)),
                    ]))
        }
        let moved = changes.movedPairs.filter { $0.pairs == index }
        if !moved.isEmpty, !places.isEmpty {
            let version = TableLayout.Fixed.version.quoted
            let sets =
                (["\(version) = r.\(version) + 1"] + places.map { "\($0) = v.\($0)" })
                .joined(separator: ", ")
            statements.append(
                Statement(
                    """
                    UPDATE \(name) AS r SET \(sets) FROM unnest(\(lists(2 + places.count))) \
                    AS v(\(names)) WHERE r.\(source) = v.\(source) AND r.\(destination) = v.\(destination)
                    """, arrays(moved, places: true)))
        }
    }

    // MARK: 5 Rows that go

    /// Clears what leads from rows that go to others that go: so it does not matter which goes first.
    private mutating func letGo(_ changes: TableChanges, _ gone: [Set<UInt32>]) {
        let table = layout.tables[changes.table]
        var columns: Set<Int> = []
        var numbers: Set<UInt32> = []
        for row in changes.deleted {
            for (value, column) in zip(row.values, layout.columns(of: row.entity)) {
                guard case .objectID(let id) = value, let target = table.columns[column].target,
                    !table.columns[column].mayDangle, let number = UInt32(exactly: id.reference),
                    gone[target].contains(number)
                else { continue }
                columns.insert(column)
                numbers.insert(row.number)
            }
        }
        if columns.isEmpty { return }
        let sets = columns.sorted().map { "\(table.columns[$0].name.quoted) = NULL" }
            .joined(separator: ", ")
        statements.append(
            Statement(
                "UPDATE \(name(changes.table)) SET \(sets) WHERE \(id) = ANY($1::bigint[])",
                [.numbers(numbers)]))
    }

    private mutating func delete(_ changes: TableChanges) {
        if changes.deleted.isEmpty { return }
        statements.append(
            Statement(
                "DELETE FROM \(name(changes.table)) WHERE \(id) = ANY($1::bigint[])",
                [SQLParameter.numbers(changes.deleted.map(\.number))]))
    }
}
