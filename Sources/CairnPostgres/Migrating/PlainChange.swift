// The part of a migration that the server does on its own: changes that need no decision about any row.
//
//   Attributes, relationships, entities and constraints that are added, renamed or go; defaults of what is added, and of what
//   becomes required; indexes, delete rules and other rules.
//
// Whatever is more goes through a log (`StoreReplacement`). So does what would have names in the history be others.
//
// Invariants: what it comes to is what it comes to there.
// Threads: a value.

import CairnLog
import CairnMigration
import CairnModel
import CairnStore
import FoundationEssentials

/// A change of the model as SQL statements.
struct PlainChange {
    let catalog: Catalog
    /// The tables of hierarchies that go, by their old roots.
    private(set) var droppedRoots: [Int] = []
    /// The statements, but for those about the tables of the store itself.
    private(set) var statements: [Statement] = []

    private let plan: ModelMigrationPlan
    private let old: Catalog
    private let successor: CatalogSuccessor
    private let from: TableLayout
    private let to: TableLayout
    private let creation: TableCreation
    private let oldKeys: KeyLayout
    private let newKeys: KeyLayout

    private var drops: [String] = []
    private var renames = Renames()
    private var additions: [String] = []
    private var fillings: [Statement] = []
    private var links: [String] = []
    /// By table that stays, and by column: the column that it was.
    private var columnsBefore: [Int: [Int: Int]] = [:]

    /// nil if it is more than the server can do by itself.
    ///
    /// - Parameter hasHistory: whether changes are retained, which name properties.
    init?(
        _ plan: ModelMigrationPlan, _ old: Catalog, in space: String, hasHistory: Bool
    ) {
        self.plan = plan
        self.old = old
        successor = CatalogSuccessor(of: old, plan)
        catalog = successor.catalog.ofAnotherStore
        from = TableLayout(old, in: space)
        to = TableLayout(catalog, in: space)
        oldKeys = KeyLayout(old.schema)
        newKeys = KeyLayout(catalog.schema)
        creation = TableCreation(layout: to, keys: newKeys)
        guard plan.inferability == .yes, old.keepsOrder, catalog.excess == nil,
            (try? TableLayout.check(catalog)) != nil,
            plan.hierarchies.allSatisfy({ !$0.isSplitOff }),
            !hasHistory || keepsNames, takesEntities(), takesKeys(), takesPairs()
        else { return nil }
        for table in to.tables.indices {
            guard takesTable(table) else { return nil }
        }
        takeFetchIndexes()
        // Together, as they may lead to one another.
        let goneNames = droppedRoots.map { from.sql(from.tables[from.table(of: $0)].name) }
        let gone = goneNames.isEmpty ? [] : ["DROP TABLE " + goneNames.joined(separator: ", ")]
        statements =
            (ReadableViews(layout: from).removal + drops + gone + renames.statements + additions)
            .map { Statement($0, [], .once) }
            + fillings
            + (links + ReadableViews(layout: to).creation).map { Statement($0, [], .once) }
    }

    // MARK: Entities

    /// Whether all that was there is called as before.
    private var keepsNames: Bool {
        plan.entities.allSatisfy { entity in
            guard let source = entity.sourceIndex else { return true }
            let before = old.schema.entities[source]
            guard let after = catalog.schema.entity(named: entity.name) else { return false }
            let stay = Set(after.relationships.map(\.description.name))
            let names = Set(after.attributes.map(\.description.name))
            return entity.droppedColumns.isEmpty
                && before.relationships.allSatisfy { stay.contains($0.description.name) }
                && before.attributes.allSatisfy { names.contains($0.description.name) }
                && entity.columns.allSatisfy {
                    if case .column(let name) = $0.origin { name == $0.name } else { true }
                }
        }
    }

    private mutating func takesEntities() -> Bool {
        for (index, entity) in plan.entities.enumerated() {
            guard let source = entity.sourceIndex else { continue }
            guard successor.entities[index] == source else { return false }
            let columns = zip(catalog.schema.entities[index].columns, entity.columns)
            for (column, planned) in columns {
                guard planned.conversion == nil, isShort(planned.initialValue) else { return false }
                switch planned.origin {
                case .links, .derivation: return false
                case .initial:
                    if !column.isOptional, planned.initialValue.isNull { return false }
                case .column:
                    guard
                        let before = planned.sourceIndex.map({
                            old.schema.entities[source].columns[$0]
                        })
                    else { return false }
                    if !column.isOptional, before.isOptional, planned.nilValue.isNull {
                        return false
                    }
                }
            }
        }
        let kept = Set(successor.trees.compactMap(\.self))
        for entity in successor.droppedEntities where entity < old.schema.entities.count {
            guard !kept.contains(old.entities[entity].tree) else { return false }
            if old.schema.entities[entity].root == entity { droppedRoots.append(entity) }
        }
        return true
    }

    /// Longer defaults are refused where the log decides.
    private func isShort(_ value: Value) -> Bool {
        switch value {
        case .string(let text): text.utf8.count <= 1 << 20
        case .binary(let data): data.count <= 1 << 20
        default: true
        }
    }

    // MARK: Tables

    /// The old table that a new one was; nil if it is new.
    private func source(of table: Int) -> Int? {
        let tree = catalog.entities[to.tables[table].root].tree
        return successor.trees[tree].map { from.table(of: old.trees[$0].root) }
    }

    private mutating func takesTable(_ index: Int) -> Bool {
        let table = to.tables[index]
        guard let source = self.source(of: index) else {
            additions.append(creation.creation(ofTable: index))
            links += creation.links(ofTable: index)
            links += newKeys.keys.filter { catalog.schema.entities[$0.entity].root == table.root }
                .map { newKeys.statement($0, to) }
            return true
        }
        let before = from.tables[source]
        guard let sources = columnSources(index) else { return false }
        columnsBefore[index] = sources
        renames.rename(.table(to.space), before.name, to: table.name)
        let used = Set(sources.values)
        for (place, column) in before.columns.enumerated() where !used.contains(place) {
            drops.append(
                "ALTER TABLE \(to.sql(before.name)) DROP COLUMN \(column.name.quoted)")
        }
        for (place, column) in table.columns.enumerated() {
            guard let origin = sources[place] else {
                additions.append(
                    "ALTER TABLE \(to.sql(table.name)) ADD COLUMN \(column.name.quoted) \(column.type.declaration)"
                )
                links += creation.links(ofTable: index, column: place)
                continue
            }
            renames.rename(
                .column(to.sql(before.name)), before.columns[origin].name, to: column.name)
        }
        fill(index)
        return true
    }

    /// By column of a table that stays: the one of the old table that it was; nil if they do not fit together.
    private func columnSources(_ table: Int) -> [Int: Int]? {
        var sources: [Int: Int] = [:]
        func note(_ new: Int, _ old: Int) -> Bool {
            defer { sources[new] = old }
            return sources[new] == nil || sources[new] == old
        }
        for entity in catalog.schema.entities where to.table(of: entity.index) == table {
            let planned = plan.entities[entity.index]
            guard let source = planned.sourceIndex else { continue }
            for (column, origin) in planned.columns.enumerated() {
                guard case .column = origin.origin, let index = origin.sourceIndex else { continue }
                guard note(to.columns(of: entity.index)[column], from.columns(of: source)[index])
                else { return nil }
                guard
                    let place = catalog.schema.orderedReferences[entity.index]
                        .firstIndex(of: column),
                    let before = old.schema.orderedReferences[source].firstIndex(of: index)
                else { continue }
                guard note(to.places(of: entity.index)[place], from.places(of: source)[before])
                else { return nil }
            }
        }
        guard Set(sources.values).count == sources.count, let before = source(of: table) else {
            return nil
        }
        for (new, old) in sources {
            let (column, was) = (to.tables[table].columns[new], from.tables[before].columns[old])
            guard column.type == was.type, column.mayDangle == was.mayDangle,
                column.isPlace == was.isPlace,
                column.target.flatMap({ source(of: $0) }) == was.target
            else { return nil }
        }
        return sources
    }

    /// Fetch indexes go, and are made anew, unless they are over the same columns under the same names.
    private mutating func takeFetchIndexes() {
        let (before, after) = (FetchIndexLayout(from).indexes, FetchIndexLayout(to).indexes)
        let stay = after.filter { index in
            guard let sources = columnsBefore[index.table] else { return false }
            return before.contains {
                $0.statement == index.statement && source(of: index.table) == $0.table
                    && index.columns.map { sources[$0] } == $0.columns
            }
        }
        let names = Set(stay.map(\.name))
        drops =
            before.filter { !names.contains($0.name) }.map { "DROP INDEX \(from.sql($0.name))" }
            + drops
        links += after.filter { !names.contains($0.name) }.map(\.statement)
    }

    // MARK: Values

    /// Gives rows what stands for what they lack.
    private mutating func fill(_ table: Int) {
        let name = to.sql(to.tables[table].name)
        for entity in catalog.schema.entities where to.table(of: entity.index) == table {
            guard plan.entities[entity.index].sourceIndex != nil, !entity.isAbstract else {
                continue
            }
            for (column, planned) in plan.entities[entity.index].columns.enumerated() {
                let isNew = planned.origin == .initial
                let value = isNew ? planned.initialValue : planned.nilValue
                if value.isNull { continue }
                let stored = to.column(column, of: entity.index)
                var array = ColumnArray(stored.type)
                guard (try? array.append(value)) != nil else { continue }
                fillings.append(
                    Statement(
                        """
                        UPDATE \(name) SET \(stored.name.quoted) = (\(ColumnArray.sql(1, stored.type)))[1] \
                        WHERE \(TableLayout.Fixed.entity.quoted) = $2\
                        \(isNew ? "" : " AND \(stored.name.quoted) IS NULL")
                        """, [array.parameter, .int16(to.code(of: entity.index))], .once))
            }
        }
    }

    // MARK: Keys

    private mutating func takesKeys() -> Bool {
        var used: Set<Int> = []
        // Both list the constraints of the entities in one order.
        for (index, key) in newKeys.keys.enumerated() {
            guard let source = successor.uniques[index] else {
                let tree = catalog.entities[key.entity].tree
                guard successor.trees[tree] == nil else { return false }
                continue
            }
            guard source < oldKeys.keys.count, used.insert(source).inserted else { return false }
            let before = oldKeys.keys[source]
            switch (before.form, key.form) {
            case (.columns, .columns): break
            case (.column(let name), .column(let other)):
                let table = from.tables[from.table(of: before.entity)].name
                renames.rename(.column(from.sql(table)), name, to: other)
            default: return false
            }
            renames.rename(.index(to.space), before.index, to: key.index)
        }
        let kept = Set(successor.trees.compactMap(\.self))
        for (index, key) in oldKeys.keys.enumerated()
        where !used.contains(index) && kept.contains(old.entities[key.entity].tree) {
            drops.append("DROP INDEX \(from.sql(key.index))")
            if case .column(let name) = key.form {
                let table = from.tables[from.table(of: key.entity)].name
                drops.append("ALTER TABLE \(from.sql(table)) DROP COLUMN \(name.quoted)")
            }
        }
        return true
    }

    // MARK: Pairs

    private mutating func takesPairs() -> Bool {
        var used: Set<Int> = []
        for (index, pairs) in plan.pairs.enumerated() {
            guard let source = pairs.kept else {
                guard pairs.origins.isEmpty else { return false }
                additions.append(creation.creation(ofPairs: index))
                links.append(creation.link(ofPairs: index))
                continue
            }
            let (before, after) = (old.schema.pairs[source], catalog.schema.pairs[index])
            guard !pairs.isTurned, used.insert(source).inserted,
                old.schema.orderedEnds(of: before) == catalog.schema.orderedEnds(of: after),
                self.source(of: to.pairs[index].source) == from.pairs[source].source,
                self.source(of: to.pairs[index].destination) == from.pairs[source].destination
            else { return false }
            renames.rename(
                .table(to.space), from.pairs[source].name, to: to.pairs[index].name)
        }
        for index in from.pairs.indices where !used.contains(index) {
            drops.append("DROP TABLE \(from.sql(from.pairs[index].name))")
        }
        return true
    }
}

extension PlainChange {
    /// The statements about the tables of the store itself. The one that says that there is a store is made anew.
    ///
    /// - Parameter core: the store as it was.
    func systemStatements(_ core: StoreCore, _ store: FirstRows.Store) -> [Statement] {
        let first = FirstRows(layout: to, catalog: catalog)
        var trees = SQLArray(of: .int64)
        for tree in catalog.trees { trees.append(number: Int64(tree.id)) }
        var codes = SQLArray(of: .int16)
        for entity in catalog.schema.entities { codes.append(number: to.code(of: entity.index)) }
        // Without a history they are there for those who have the store open with the old model.
        let untold =
            store.keepsHistory
            ? []
            : [SystemTable.changes, .transactions].map {
                Statement("DELETE FROM \(to.sql($0))")
            }
        return untold + [
            Statement("DELETE FROM \(to.sql(.entities))"), first.entities,
            Statement(
                "DELETE FROM \(to.sql(.numbers)) WHERE hierarchy <> ALL($1::bigint[])",
                [.array(trees)]), first.numbers(),
            Statement(
                "DELETE FROM \(to.sql(.redirects)) WHERE hierarchy <> ALL($1::bigint[])",
                [.array(trees)]),
            // What the history says of entities that are gone is left out, here as on the log.
            Statement(
                "DELETE FROM \(to.sql(.changes)) WHERE entity <> ALL($1::smallint[])",
                [.array(codes)]),
            Statement(
                """
                DELETE FROM \(to.sql(.transactions)) AS t WHERE NOT EXISTS \
                (SELECT 1 FROM \(to.sql(.changes)) AS c WHERE c.commit = t.commit)
                """),
            Statement("DROP TABLE \(to.sql(.store))", [], .once),
            Statement(creation.creation(of: .store), [], .once), first.store(store),
        ]
    }
}

/// New names for what is there. Two may change theirs with each other: so all of them give them up first.
private struct Renames {
    enum Kind: Hashable {
        /// In a schema.
        case table(String)
        case index(String)
        /// In a table, by its old name.
        case column(String)
    }

    private var columnsGiving: [String] = []
    private var columnsTaking: [String] = []
    private var giving: [String] = []
    private var taking: [String] = []
    private var count = 0

    /// Columns first, while their tables have their old names.
    var statements: [String] { columnsGiving + columnsTaking + giving + taking }

    mutating func rename(_ kind: Kind, _ name: String, to other: String) {
        if name == other { return }
        count += 1
        let between = "~\(count)"
        switch kind {
        case .table(let space):
            giving.append(
                "ALTER TABLE \(space.quoted).\(name.quoted) RENAME TO \(between.quoted)")
            taking.append(
                "ALTER TABLE \(space.quoted).\(between.quoted) RENAME TO \(other.quoted)")
        case .index(let space):
            giving.append(
                "ALTER INDEX \(space.quoted).\(name.quoted) RENAME TO \(between.quoted)")
            taking.append(
                "ALTER INDEX \(space.quoted).\(between.quoted) RENAME TO \(other.quoted)")
        case .column(let table):
            columnsGiving.append(
                "ALTER TABLE \(table) RENAME COLUMN \(name.quoted) TO \(between.quoted)")
            columnsTaking.append(
                "ALTER TABLE \(table) RENAME COLUMN \(between.quoted) TO \(other.quoted)")
        }
    }
}
