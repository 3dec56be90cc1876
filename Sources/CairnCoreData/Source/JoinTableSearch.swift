// Finds the tables of all many-to-many relationships of a model.
//
//   1. A table may be a relationship's if its name and its two columns are made of the names of the two sides.
//   2. Several may be: entities that inherit from one, or none that do, have relationships of one name. The numbers in names
//      are those of entities, but of the model that made the table, so they say what is likely, and not what is so. Of tables
//      that are equally likely those count whose keys are those of objects that the relationship leads to.
//   3. A table belongs to one relationship. What is certain is taken first, which leaves less to choose from for the others.
//
// Threads: one.

import CairnModel

struct JoinTableSearch {
    /// A relationship, and where it may be.
    private struct Wanted {
        let pairs: Int
        let sourceTable: Int
        let destinationTable: Int
        var candidates: [Candidate]
    }

    private struct Candidate: Hashable {
        let table: String
        let source: String
        let destination: String
        /// How much of the numbers is as it is expected.
        let likelihood: Int
    }

    private let schema: Schema
    private let numbers: EntityNumbers
    private let store: CoreDataSource
    private let tables: [SourceTable]
    private var open: [Wanted] = []
    private var taken: Set<String> = []
    /// By relationship: whether the keys of a table are those of its objects, as far as that was asked.
    private var verdicts: [Int: [Candidate: Bool]] = [:]
    /// What was found.
    private(set) var found: [JoinTable] = []
    /// What was not, by the index of the schema's pairs, and why.
    private(set) var missing: [(pairs: Int, reason: String)] = []

    /// - Parameter tableOfRoot: places among the tables, by the top of a hierarchy.
    init(
        _ schema: Schema, _ numbers: EntityNumbers, _ store: CoreDataSource,
        _ tables: [SourceTable], _ tableOfRoot: [Int: Int]
    ) throws(CoreDataImportError) {
        self.schema = schema
        self.numbers = numbers
        self.store = store
        self.tables = tables
        for (index, pairs) in schema.pairs.enumerated() {
            guard let source = tableOfRoot[schema.entities[pairs.source].root],
                let destination = tableOfRoot[schema.entities[pairs.destination].root],
                numbers.numbers[pairs.source] != nil, numbers.numbers[pairs.destination] != nil
            else { continue }
            if pairs.destinationRelationship == nil {
                addHidden(index, source, destination)
            } else {
                open.append(
                    Wanted(
                        pairs: index, sourceTable: source, destinationTable: destination,
                        candidates: candidates(pairs)))
            }
        }
        while try takeCertain() {}
        for wanted in open {
            let names = free(wanted).map(\.table)
            if names.isEmpty {
                missing.append((wanted.pairs, "the store has no table for it"))
            } else {
                missing.append(
                    (
                        wanted.pairs,
                        "the store's tables do not tell which of them belongs to it: "
                            + Set(names).sorted().joined(separator: ", ")
                    ))
            }
        }
        found.sort { $0.pairs < $1.pairs }
        missing.sort { $0.pairs < $1.pairs }
    }

    // MARK: To-many relationships without inverse

    private mutating func addHidden(_ index: Int, _ source: Int, _ destination: Int) {
        let forth = side(schema.pairs[index].source, schema.pairs[index].sourceRelationship)
        let table = tables[destination].name
        let columns = store.tables[table] ?? []
        let claimed = Set(tables[destination].columns + found.map(\.sourceColumn))
        let likely = columns.compactMap { column -> (name: String, likelihood: Int)? in
            guard !claimed.contains(column),
                let name = NumberedName(column, prefix: "Z", names: forth.names)
            else { return nil }
            return (column, likelihood(name, forth.declaring))
        }
        let most = likely.map(\.likelihood).max()
        let best = likely.filter { $0.likelihood == most }
        guard best.count == 1 else {
            missing.append(
                (
                    index,
                    best.isEmpty
                        ? "the store has no table for it: \(table) has no column Z\(numbers.numbers[forth.declaring] ?? 0)\(forth.names[0])"
                        : "the columns of \(table) do not tell which of them belongs to it: "
                            + best.map(\.name).joined(separator: ", ")
                ))
            return
        }
        let column = best[0].name
        found.append(
            JoinTable(
                pairs: index, table: table, sourceColumn: column, destinationColumn: "Z_PK",
                sourceTable: source, destinationTable: destination,
                sourceOrder: JoinTable.order(by: column, columns), destinationOrder: nil))
    }

    // MARK: Candidates

    /// A relationship: the entity that declares it, and its names in capitals, the present one first.
    private struct Side {
        let declaring: Int
        let names: [String]
    }

    private func side(_ entity: Int, _ relationship: Int) -> Side {
        let relationship = schema.entities[entity].relationships[relationship]
        let description = relationship.description
        let names = [description.name, description.renamingIdentifier].compactMap {
            $0?.uppercased()
        }
        return Side(declaring: relationship.declaringEntity, names: names)
    }

    private func candidates(_ pairs: SchemaPairs) -> [Candidate] {
        guard let inverse = pairs.destinationRelationship else { return [] }
        let forth = side(pairs.source, pairs.sourceRelationship)
        let back = side(pairs.destination, inverse)
        let isReflexive = pairs.isSymmetric(schema.entities)
        var candidates: [Candidate] = []
        for (table, columns) in store.tables.inKeyOrder() {
            let byForth = NumberedName(table, prefix: "Z_", names: forth.names)
            let byBack = NumberedName(table, prefix: "Z_", names: back.names)
            if byForth == nil && byBack == nil { continue }
            let named = max(
                byForth.map { likelihood($0, forth.declaring) } ?? 0,
                byBack.map { likelihood($0, back.declaring) } ?? 0)
            let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
            for destination in keys {
                // A column leads where the relationship in its name does.
                guard let there = NumberedName(destination, prefix: "Z_", names: forth.names)
                else { continue }
                let likely = named + likelihood(there, back.declaring)
                if isReflexive {
                    guard let source = keys.first(where: { $0 == "REFLEXIVE" }) else { continue }
                    candidates.append(
                        Candidate(
                            table: table, source: source, destination: destination,
                            likelihood: likely))
                    continue
                }
                for source in keys where source != destination {
                    guard let here = NumberedName(source, prefix: "Z_", names: back.names) else {
                        continue
                    }
                    candidates.append(
                        Candidate(
                            table: table, source: source, destination: destination,
                            likelihood: likely + likelihood(here, forth.declaring)))
                }
            }
        }
        return candidates
    }

    /// How well a name fits an entity: the number is its own, or that of one in its hierarchy, and no other follows.
    private func likelihood(_ name: NumberedName, _ entity: Int) -> Int {
        let plain = name.hasSuffix ? 0 : 1
        if name.number == numbers.numbers[entity] { return 4 + plain }
        let isRelated = numbers.entities[name.number].map {
            schema.entities[$0].root == schema.entities[entity].root
        }
        return (isRelated == true ? 2 : 0) + plain
    }

    // MARK: Choosing

    private func free(_ wanted: Wanted) -> [Candidate] {
        wanted.candidates.filter { !taken.contains($0.table) }
    }

    /// Gives relationships their tables where there is no doubt; whether there were any.
    private mutating func takeCertain() throws(CoreDataImportError) -> Bool {
        var claims: [String: [(place: Int, candidate: Candidate)]] = [:]
        for (place, wanted) in open.enumerated() {
            guard let best = try best(wanted) else { continue }
            claims[best.table, default: []].append((place, best))
        }
        var done: [Int] = []
        for (_, claimants) in claims {
            let most = claimants.map(\.candidate.likelihood).max()
            var first = claimants.filter { $0.candidate.likelihood == most }
            if first.count > 1 {
                var fitting: [(place: Int, candidate: Candidate)] = []
                for claim in first where try fits(claim.candidate, open[claim.place]) {
                    fitting.append(claim)
                }
                first = fitting
            }
            guard first.count == 1 else { continue }
            done.append(first[0].place)
            take(open[first[0].place], first[0].candidate)
        }
        for place in done.sorted(by: >) { open.remove(at: place) }
        return !done.isEmpty
    }

    /// The likeliest table that is left; nil if it is not clear which one that is.
    private mutating func best(_ wanted: Wanted) throws(CoreDataImportError) -> Candidate? {
        let free = free(wanted)
        let most = free.map(\.likelihood).max()
        var best = free.filter { $0.likelihood == most }
        if best.count <= 1 { return best.first }
        var fitting: [Candidate] = []
        for candidate in best where try fits(candidate, wanted) { fitting.append(candidate) }
        best = fitting
        if best.count <= 1 { return best.first }
        // Where there is nothing in them it makes no difference.
        for candidate in best {
            let rows = try store.file.number(
                "SELECT COUNT(*) FROM \(SQLiteFile.quoted(candidate.table))", at: candidate.table)
            if rows != 0 { return nil }
        }
        return best[0]
    }

    /// Whether all keys of a table are those of objects that the relationship has. All of it is read for that, once.
    private mutating func fits(_ candidate: Candidate, _ wanted: Wanted)
        throws(CoreDataImportError) -> Bool
    {
        if let verdict = verdicts[wanted.pairs]?[candidate] { return verdict }
        let verdict = try hasKeys(candidate, wanted)
        verdicts[wanted.pairs, default: [:]][candidate] = verdict
        return verdict
    }

    private func hasKeys(_ candidate: Candidate, _ wanted: Wanted) throws(CoreDataImportError)
        -> Bool
    {
        let pairs = schema.pairs[wanted.pairs]
        for (column, table, entity) in [
            (candidate.source, wanted.sourceTable, pairs.source),
            (candidate.destination, wanted.destinationTable, pairs.destination),
        ] {
            let objects = tables[table]
            var condition = ""
            if objects.columns[1] != "Z_PK" {
                let family = schema.entities[entity].family.compactMap { numbers.numbers[$0] }
                condition =
                    " WHERE Z_ENT IN (\(family.map { "\($0)" }.joined(separator: ", ")))"
            }
            let name = SQLiteFile.quoted(column)
            let others = try store.file.number(
                "SELECT COUNT(*) FROM \(SQLiteFile.quoted(candidate.table)) WHERE \(name) IS NOT NULL AND \(name) NOT IN (SELECT Z_PK FROM \(SQLiteFile.quoted(objects.name))\(condition))",
                at: candidate.table)
            if others != 0 { return false }
        }
        return true
    }

    private mutating func take(_ wanted: Wanted, _ candidate: Candidate) {
        taken.insert(candidate.table)
        let columns = store.tables[candidate.table] ?? []
        found.append(
            JoinTable(
                pairs: wanted.pairs, table: candidate.table, sourceColumn: candidate.source,
                destinationColumn: candidate.destination, sourceTable: wanted.sourceTable,
                destinationTable: wanted.destinationTable,
                sourceOrder: JoinTable.order(by: candidate.destination, columns),
                destinationOrder: JoinTable.order(by: candidate.source, columns)))
    }
}
