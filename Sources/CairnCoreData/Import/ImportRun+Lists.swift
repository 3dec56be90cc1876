// Pairs of many-to-many relationships, and the order of lists.
//
// Pairs are added in the order of the lists that they are in; only where both sides are ordered, or members of a
// list are objects that lead to its owner, an order has to be set.

import CairnModel
import CairnStore

extension ImportRun {
    /// Pairs, or members of lists, that are saved at once.
    private static let most = 8_192

    /// Goes through the pairs of a relationship, in the order of one of its sides.
    private func readPairs(
        _ join: JoinTable, orderedBy columns: [String],
        _ body: (ObjectKey, ObjectKey) throws -> Void
    ) throws {
        let names = [join.sourceColumn, join.destinationColumn].map(SQLiteFile.quoted)
        let statement = try rows.question(
            "SELECT \(names[0]), \(names[1]) FROM \(SQLiteFile.quoted(join.table)) WHERE \(names[0]) IS NOT NULL AND \(names[1]) IS NOT NULL ORDER BY "
                + Self.ordering(columns), at: join.table)
        while try statement.step() {
            guard let source = statement.integer(0), let destination = statement.integer(1) else {
                rows.lose(
                    .reference, layout.schema.pairs[join.pairs].name,
                    "it is not the key of an object",
                    "\(statement[0].outline), \(statement[1].outline)")
                continue
            }
            try body(
                ObjectKey(table: join.sourceTable, number: source),
                ObjectKey(table: join.destinationTable, number: destination))
        }
    }

    /// What has no place in an order comes last.
    private static func ordering(_ columns: [String]) -> String {
        columns.map(SQLiteFile.quoted).map { "\($0) IS NULL, \($0)" }.joined(separator: ", ")
    }

    /// Whether an end of a pair is there, and of an entity that the relationship may lead to.
    private func isThere(_ key: ObjectKey, as entity: Int) throws -> Bool {
        guard !leftOut.contains(key), let known = try rows.entity(of: key) else { return false }
        return layout.schema.entities[entity].family.contains(known)
    }

    /// Adds the pairs of a relationship, and gives their number.
    func bringPairs(_ join: JoinTable) throws -> Int {
        let pairs = layout.schema.pairs[join.pairs]
        var request = SaveRequest()
        request.author = "cairn import-coredata"
        var count = 0
        let order =
            [join.sourceColumn] + [join.sourceOrder, join.destinationColumn].compactMap { $0 }
        try readPairs(join, orderedBy: order) { source, destination in
            for (key, entity) in [(source, pairs.source), (destination, pairs.destination)] {
                guard try !isThere(key, as: entity) else { continue }
                // An object of the same table that does not have the relationship is no member of it.
                return rows.lose(
                    .reference, pairs.name,
                    leftOut.contains(key)
                        ? "it refers to an object that was left out" : "there is no such object",
                    "\(rows.uri(key))")
            }
            request.pairChanges.append(
                .init(
                    pairs: join.pairs, source: id(source), destination: id(destination),
                    isAddition: true))
            count += 1
            if request.pairChanges.count >= Self.most {
                try save(request)
                request.pairChanges.removeAll(keepingCapacity: true)
            }
        }
        if !request.pairChanges.isEmpty { try save(request) }
        return count
    }

    // MARK: Order

    /// Sets the order of the lists of both sides of a relationship, and gives their number.
    func orderPairs(_ join: JoinTable) throws -> Int {
        let pairs = layout.schema.pairs[join.pairs]
        var count = 0
        let forth = layout.schema.entities[pairs.source].relationships[pairs.sourceRelationship]
        if forth.description.isOrdered, let order = join.sourceOrder {
            var lists = ListWriter(self, relationship: pairs.sourceRelationship)
            try readPairs(join, orderedBy: [join.sourceColumn, order, join.destinationColumn]) {
                try lists.add($1, to: $0)
            }
            count += try lists.finish()
        }
        guard let back = pairs.destinationRelationship, let order = join.destinationOrder,
            layout.schema.entities[pairs.destination].relationships[back].description.isOrdered
        else { return count }
        var lists = ListWriter(self, relationship: back)
        try readPairs(join, orderedBy: [join.destinationColumn, order, join.sourceColumn]) {
            try lists.add($0, to: $1)
        }
        return try count + lists.finish()
    }

    /// Sets the order of the lists whose members lead to their owners, and gives their number.
    func orderList(_ list: SourceList) throws -> Int {
        let table = layout.tables[list.table]
        let columns = [list.column, list.orderColumn, "Z_PK"].compactMap { $0 }
        let statement = try rows.question(
            "SELECT \(SQLiteFile.quoted(list.column)), Z_PK FROM \(SQLiteFile.quoted(table.name)) WHERE \(SQLiteFile.quoted(list.column)) IS NOT NULL ORDER BY "
                + Self.ordering(columns), at: table.name)
        guard
            let owners = layout.tableOfRoot[layout.schema.entities[list.entity].root]
        else { return 0 }
        var lists = ListWriter(self, relationship: list.relationship)
        while try statement.step() {
            guard let owner = statement.integer(0), let member = statement.integer(1) else {
                continue
            }
            try lists.add(
                ObjectKey(table: list.table, number: member),
                to: ObjectKey(table: owners, number: owner))
        }
        return try lists.finish()
    }

    /// Writes the order of lists whose members come one after the other.
    private struct ListWriter {
        private let run: ImportRun
        private let relationship: Int
        private var owner: ObjectKey?
        private var members: [ObjectKey] = []
        private var request = SaveRequest()
        private var waiting = 0
        private var count = 0

        init(_ run: ImportRun, relationship: Int) {
            self.run = run
            self.relationship = relationship
            request.author = "cairn import-coredata"
        }

        mutating func add(_ member: ObjectKey, to owner: ObjectKey) throws {
            if self.owner != owner {
                try close()
                self.owner = owner
            }
            members.append(member)
        }

        private mutating func close() throws {
            defer { members.removeAll(keepingCapacity: true) }
            guard let owner, members.count > 1, !run.leftOut.contains(owner),
                let entity = try run.rows.entity(of: owner)
            else { return }
            // Who is no member, since it was left out or leads elsewhere, counts for nothing.
            let present = members.filter {
                SourceRows.numbers.contains($0.number) && !run.leftOut.contains($0)
            }
            guard present.count > 1,
                run.layout.schema.entities[entity].relationships.indices.contains(relationship)
            else { return }
            request.orderChanges.append(
                .init(
                    owner: run.id(owner), entity: entity, relationship: relationship,
                    members: present.map(run.id), base: nil))
            count += 1
            waiting += present.count
            if waiting >= ImportRun.most { try write() }
        }

        private mutating func write() throws {
            guard !request.orderChanges.isEmpty else { return }
            try run.save(request)
            request.orderChanges.removeAll(keepingCapacity: true)
            waiting = 0
        }

        /// Writes what is left, and gives the number of lists.
        mutating func finish() throws -> Int {
            try close()
            owner = nil
            try write()
            return count
        }
    }
}
