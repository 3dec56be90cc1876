// A fixed state of a store in a database.
//
// Threads: any.

import CairnModel
import CairnStore

final class PostgresSnapshot: StoreSnapshot {
    let core: StoreCore
    let reading: any Questions

    init(_ core: StoreCore, _ reading: any Questions) {
        self.core = core
        self.reading = reading
    }

    var commit: UInt64 { reading.commit }
    var schema: Schema { core.schema }
    var identity: StoreIdentity { core.identity }

    // MARK: Rows

    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        var numbers: [Int: [UInt32]] = [:]
        let places = ids.map { id -> (table: Int, number: UInt32)? in
            guard let entity = identity.entity(of: id), let number = UInt32(exactly: id.reference)
            else { return nil }
            let table = core.layout.table(of: entity)
            numbers[table, default: []].append(number)
            return (table, number)
        }
        let tables = numbers.keys.sorted()
        let results = try reading.ask(
            tables.map { table in
                let selection = core.selection(table)
                return Statement(
                    """
                    SELECT \(selection.list("r")) FROM \(core.layout.sql(core.layout.tables[table].name)) AS r \
                    WHERE r.\(TableLayout.Fixed.id.quoted) = ANY($1::bigint[])
                    """, [SQLParameter.numbers(numbers[table] ?? [])])
            })
        var found: [Int: [UInt32: Row]] = [:]
        for (table, result) in zip(tables, results) {
            var reader = RowReader(core.selection(table))
            var rows: [UInt32: Row] = [:]
            rows.reserveCapacity(result.rowCount)
            do throws(SQLFailure) {
                for row in 0..<result.rowCount {
                    let row = try reader.row(result, row)
                    rows[UInt32(truncatingIfNeeded: row.id.reference)] = row
                }
            } catch {
                throw StoreError(error)
            }
            found[table] = rows
        }
        return places.map { place in place.flatMap { found[$0.table]?[$0.number] } }
    }

    // MARK: Relationships

    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        let description = schema.entities[entity].relationships[relationship]
        let numbers = try owners.map { owner throws(StoreError) in
            try number(owner, entity: entity)
        }
        let destination = description.destination
        var members: [UInt32: [UInt32]] = [:]
        let stored = Set(numbers.compactMap(\.self))
        switch description.storage {
        case .transient: break
        case .column(let column):
            let name = core.layout.column(column, of: entity).name
            let table = core.layout.tables[core.layout.table(of: entity)].name
            try collect(
                ends: reading.ask(
                    Statement(
                        """
                        SELECT \(TableLayout.Fixed.id.quoted), \(name.quoted) FROM \(core.layout.sql(table)) \
                        WHERE \(TableLayout.Fixed.id.quoted) = ANY($1::bigint[]) AND \(name.quoted) IS NOT NULL
                        """, [SQLParameter.numbers(stored)])), &members)
        case .inverseColumn(let other, let column):
            try collect(
                ends: reading.ask(inverse(other, column, description, stored)), &members)
        case .pairs(let pairs, let isSource):
            try collect(
                ends: reading.ask(pairStatement(pairs, isSource, description, stored)), &members)
        }
        return numbers.map { owner in
            var seen: Set<UInt32> = []
            return (owner.flatMap { members[$0] } ?? []).filter { seen.insert($0).inserted }
                .map { identity.id(UInt64($0), entity: destination) }
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

    /// The rows whose reference leads to owners, in the order of the list.
    private func inverse(
        _ entity: Int, _ column: Int, _ relationship: SchemaRelationship, _ owners: Set<UInt32>
    ) -> Statement {
        let layout = core.layout
        let name = layout.column(column, of: entity).name.quoted
        let id = TableLayout.Fixed.id.quoted
        let order = inverseOrder(entity, column, relationship, "")
        var codes = SQLArray(of: .int16)
        for index in schema.entities[entity].family { codes.append(number: layout.code(of: index)) }
        return Statement(
            """
            SELECT \(name), \(id) FROM \(layout.sql(layout.tables[layout.table(of: entity)].name)) \
            WHERE \(name) = ANY($1::bigint[]) AND \(TableLayout.Fixed.entity.quoted) = ANY($2::smallint[]) \
            ORDER BY \(order)
            """, [SQLParameter.numbers(owners), .array(codes)])
    }

    /// What the rows whose reference leads to an owner are ordered by.
    ///
    /// - Parameter prefix: the name of their table with a point, or nothing.
    func inverseOrder(
        _ entity: Int, _ column: Int, _ relationship: SchemaRelationship, _ prefix: String
    ) -> String {
        let layout = core.layout
        let id = prefix + TableLayout.Fixed.id.quoted
        guard relationship.keepsOrder,
            let place = schema.orderedReferences[entity].firstIndex(of: column)
        else { return id }
        let key = layout.tables[layout.table(of: entity)].columns[
            layout.places(of: entity)[place]
        ].name.quoted
        return "coalesce(\(prefix)\(key), \(id) * \(1 << 31)), \(id)"
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
            SELECT near, far FROM (\(pairRows(pairs, isSource, relationship))) AS p \
            WHERE near = ANY($1::bigint[]) ORDER BY place, far
            """, [.numbers(owners)])
    }

    private func collect(ends result: PostgresResult, _ members: inout [UInt32: [UInt32]])
        throws(StoreError)
    {
        try StoreCore.sql { () throws(SQLFailure) in
            for row in 0..<result.rowCount {
                guard let owner = UInt32(exactly: try result.int64(row, 0)),
                    let member = UInt32(exactly: try result.int64(row, 1))
                else { throw SQLFailure(.unreadable, "a number of an object is none") }
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
