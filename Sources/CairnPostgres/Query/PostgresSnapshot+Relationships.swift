// Relationships: from owners to members, with their rows if requested, and from a target to the objects that refer to it.
//
//   inverse column   the members' own rows name their owner: one statement gives members and rows
//   pairs            members and rows are two statements of one round trip, as many owners may share a member
//
// Threads: any.

import CairnModel
import CairnStore

extension PostgresSnapshot: MemberRows {
    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        let description = schema.entities[entity].relationships[relationship]
        let (numbers, stored) = try stored(owners, entity)
        var members: [UInt32: [UInt32]] = [:]
        switch description.storage {
        case .transient: break
        case .column(let column):
            let name = core.layout.column(column, of: entity).name
            let table = core.layout.tables[core.layout.table(of: entity)].name
            try collect(
                ends: reading.ask(
                    Statement(
                        """
                        SELECT \(name.quoted), \(TableLayout.Fixed.id.quoted) FROM \(core.layout.sql(table)) \
                        WHERE \(TableLayout.Fixed.id.quoted) = ANY($1::bigint[]) AND \(name.quoted) IS NOT NULL
                        """, [SQLParameter.numbers(stored)])), &members)
        case .inverseColumn(let other, let column):
            try collect(ends: reading.ask(inverse(other, column, description, stored)), &members)
        case .pairs(let pairs, let isSource):
            try collect(
                ends: reading.ask(pairStatement(pairs, isSource, description, stored)), &members)
        }
        return lists(members, numbers, description)
    }

    func membersWithRows(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> (members: [[ObjectID]], rows: [Row])
    {
        let description = schema.entities[entity].relationships[relationship]
        let table = core.layout.table(of: description.destination)
        let selection = core.selection(table)
        let (numbers, stored) = try stored(owners, entity)
        var members: [UInt32: [UInt32]] = [:]
        let rows: [Row]
        switch description.storage {
        case .transient, .column:
            let members = try self.members(
                ofRelationship: relationship, entity: entity, owners: owners)
            let ids = Set(members.joined())
            return (members, try self.rows(Array(ids)).compactMap(\.self))
        case .inverseColumn(let other, let column):
            let result = try reading.ask(
                inverse(other, column, description, stored, selecting: selection.list("r")))
            try collect(ends: result, owner: selection.count, &members)
            rows = try self.rows(result, table: table)
        case .pairs(let pairs, let isSource):
            let pairRows = pairRows(pairs, isSource, description)
            let results = try reading.ask([
                pairStatement(pairs, isSource, description, stored),
                Statement(
                    """
                    SELECT \(selection.list("r")) FROM \(core.layout.sql(core.layout.tables[table].name)) AS r \
                    WHERE r.\(TableLayout.Fixed.id.quoted) IN \
                    (SELECT far FROM (\(pairRows)) AS p WHERE near = ANY($1::bigint[]))
                    """, [.numbers(stored)]),
            ])
            try collect(ends: results[0], &members)
            rows = try self.rows(results[1], table: table)
        }
        return (lists(members, numbers, description), rows)
    }

    /// The rows of the members of one object, in order; nil if there are more than a maximum.
    func memberRows(_ relationship: Int, entity: Int, owner: UInt32, most: Int)
        throws(StoreError) -> [Row]?
    {
        let description = schema.entities[entity].relationships[relationship]
        guard let source = relatedRows(entity, description) else { return [] }
        let table = core.layout.table(of: description.destination)
        let result = try reading.ask(
            Statement(
                """
                SELECT \(core.selection(table).list("r")) FROM (SELECT $1::bigint AS o) AS k \
                \(source.joins) ORDER BY \(source.order) LIMIT $2::bigint
                """, [.int64(Int64(owner)), .int64(Int64(most) + 1)]))
        if result.rowCount > most { return nil }
        var seen: Set<ObjectID> = []
        return try rows(result, table: table).filter { seen.insert($0.id).inserted }
    }

    /// The numbers of owners in their order, and of those that are stored.
    private func stored(_ owners: [ObjectID], _ entity: Int) throws(StoreError) -> (
        inOrder: [UInt32?], stored: Set<UInt32>
    ) {
        let numbers = try owners.map { owner throws(StoreError) in
            try number(owner, entity: entity)
        }
        return (numbers, Set(numbers.compactMap(\.self)))
    }

    /// Members owner by owner.
    private func lists(
        _ members: [UInt32: [UInt32]], _ owners: [UInt32?], _ relationship: SchemaRelationship
    ) -> [[ObjectID]] {
        owners.map { owner in
            var seen: Set<UInt32> = []
            return (owner.flatMap { members[$0] } ?? []).filter { seen.insert($0).inserted }
                .map { identity.id(UInt64($0), entity: relationship.destination) }
        }
    }

    /// The number of an object; nil if it is not stored yet.
    func number(_ id: ObjectID, entity: Int) throws(StoreError) -> UInt32? {
        if id.isTemporary { return nil }
        guard identity.owns(id, entity: entity), let number = UInt32(exactly: id.reference) else {
            throw StoreError(
                .foreignObject, "the object belongs to another store or entity",
                context: .init(entity: schema.entities[entity].name, objectID: id))
        }
        return number
    }

    /// The rows whose reference leads to owners, in the order of the list, and their owners behind what is selected of them:
    /// their numbers, or a list that begins with those.
    private func inverse(
        _ entity: Int, _ column: Int, _ relationship: SchemaRelationship, _ owners: Set<UInt32>,
        selecting list: String? = nil
    ) -> Statement {
        let layout = core.layout
        let name = "r." + layout.column(column, of: entity).name.quoted
        let list = list ?? "r." + TableLayout.Fixed.id.quoted
        let order = inverseOrder(entity, column, relationship)
        var codes = SQLArray(of: .int16)
        for index in schema.entities[entity].family { codes.append(number: layout.code(of: index)) }
        return Statement(
            """
            SELECT \(list), \(name) FROM \(layout.sql(layout.tables[layout.table(of: entity)].name)) AS r \
            WHERE \(name) = ANY($1::bigint[]) AND r.\(TableLayout.Fixed.entity.quoted) = ANY($2::smallint[]) \
            ORDER BY \(order)
            """, [SQLParameter.numbers(owners), .array(codes)])
    }

    /// What the rows "r" whose reference leads to an owner are ordered by.
    func inverseOrder(_ entity: Int, _ column: Int, _ relationship: SchemaRelationship) -> String {
        let layout = core.layout
        let id = "r." + TableLayout.Fixed.id.quoted
        guard relationship.keepsOrder,
            let place = schema.orderedReferences[entity].firstIndex(of: column)
        else { return id }
        let key = layout.tables[layout.table(of: entity)].columns[
            layout.places(of: entity)[place]
        ].name.quoted
        return "coalesce(r.\(key), \(id) * \(1 << 31)), \(id)"
    }

    /// The pairs of a relationship as rows of an owner ("near"), a member ("far") and its place; from both ends if they have no
    /// direction.
    func pairRows(_ pairs: Int, _ isSource: Bool, _ relationship: SchemaRelationship) -> String {
        let table = core.layout.pairs[pairs]
        func selection(_ isSource: Bool) -> String {
            let ends = [TableLayout.Fixed.source, TableLayout.Fixed.destination]
            let (near, far) = isSource ? (ends[0], ends[1]) : (ends[1], ends[0])
            let place = table.places.first { $0.name.hasPrefix(near) }
            // Without a place a pair stands where its number says.
            let number = TableLayout.Fixed.id.quoted
            let order =
                relationship.keepsOrder
                ? place.map { "coalesce(\($0.name.quoted), \(number) * \(1 << 31))" } ?? far.quoted
                : far.quoted
            return """
                SELECT \(near.quoted) AS near, \(far.quoted) AS far, \(order) AS place \
                FROM \(core.layout.sql(table.name))
                """
        }
        guard schema.pairs[pairs].isSymmetric(schema.entities) else { return selection(isSource) }
        // A pair of an object with itself stands where its source says.
        return """
            \(selection(isSource)) UNION ALL \(selection(!isSource)) \
            WHERE \(TableLayout.Fixed.source.quoted) <> \(TableLayout.Fixed.destination.quoted)
            """
    }

    private func pairStatement(
        _ pairs: Int, _ isSource: Bool, _ relationship: SchemaRelationship, _ owners: Set<UInt32>
    ) -> Statement {
        Statement(
            """
            SELECT far, near FROM (\(pairRows(pairs, isSource, relationship))) AS p \
            WHERE near = ANY($1::bigint[]) ORDER BY place, far
            """, [.numbers(owners)])
    }

    /// - Parameter column: where in the answer the owner is; the member is the first.
    private func collect(
        ends result: PostgresResult, owner column: Int = 1, _ members: inout [UInt32: [UInt32]]
    ) throws(StoreError) {
        try StoreCore.sql { () throws(SQLFailure) in
            for row in 0..<result.rowCount {
                guard let owner = UInt32(exactly: try result.int64(row, column)),
                    let member = UInt32(exactly: try result.int64(row, 0))
                else { throw SQLFailure(.unreadable, "an object number is invalid") }
                members[owner, default: []].append(member)
            }
        }
    }

    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        let description = schema.entities[entity].relationships[relationship]
        guard let number = try number(target, entity: description.destination) else { return [] }
        var found: [UInt32: [UInt32]] = [:]
        switch description.storage {
        case .column(let column):
            try collect(ends: reading.ask(inverse(entity, column, description, [number])), &found)
        case .pairs(let pairs, let isSource):
            try collect(
                ends: reading.ask(pairStatement(pairs, !isSource, description, [number])), &found)
        case .inverseColumn, .transient:
            throw StoreError(
                .invalidRequest, "the relationship is not kept at this end",
                context: .init(
                    entity: schema.entities[entity].name, key: description.description.name))
        }
        return Set(found[number] ?? []).sorted().map { identity.id(UInt64($0), entity: entity) }
    }
}
