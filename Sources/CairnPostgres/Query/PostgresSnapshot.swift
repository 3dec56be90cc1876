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
        var numbers: [Int: Set<UInt32>] = [:]
        for id in ids {
            guard let entity = identity.entity(of: id), let number = UInt32(exactly: id.reference)
            else { continue }
            numbers[core.layout.table(of: entity), default: []].insert(number)
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
        var found: [ObjectID: Row] = [:]
        for (table, result) in zip(tables, results) {
            var reader = RowReader(core.selection(table))
            do throws(SQLFailure) {
                for row in 0..<result.rowCount {
                    let row = try reader.row(result, row)
                    found[row.id] = row
                }
            } catch {
                throw StoreError(error)
            }
        }
        return ids.map { found[$0] }
    }

    // MARK: Relationships

    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        let description = schema.entities[entity].relationships[relationship]
        let numbers = try numbers(of: owners, entity)
        let destination = description.destination
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
                        SELECT \(TableLayout.Fixed.id.quoted), \(name.quoted) FROM \(core.layout.sql(table)) \
                        WHERE \(TableLayout.Fixed.id.quoted) = ANY($1::bigint[]) AND \(name.quoted) IS NOT NULL
                        """, [SQLParameter.numbers(Set(numbers))])), &members)
        case .inverseColumn(let other, let column):
            try collect(
                ends: reading.ask(inverse(other, column, description, Set(numbers))), &members)
        case .pairs(let pairs, let isSource):
            let table = core.layout.pairs[pairs]
            let isSymmetric = schema.pairs[pairs].isSymmetric(schema.entities)
            let sides = isSymmetric ? [true, false] : [isSource]
            let results = try reading.ask(
                sides.map { isSource in
                    pairStatement(table, isSource, description, Set(numbers))
                })
            for result in results { try collect(ends: result, &members) }
        }
        return numbers.map { owner in
            var seen: Set<UInt32> = []
            return (members[owner] ?? []).filter { seen.insert($0).inserted }
                .map { identity.id(UInt64($0), entity: destination) }
        }
    }

    /// The numbers of objects of an entity.
    func numbers(of owners: [ObjectID], _ entity: Int) throws(StoreError) -> [UInt32] {
        var numbers: [UInt32] = []
        numbers.reserveCapacity(owners.count)
        for owner in owners {
            guard identity.owns(owner, entity: entity),
                let number = UInt32(exactly: owner.reference)
            else {
                throw StoreError(
                    .foreignObject, "the object belongs to another store or entity",
                    context: .init(entity: schema.entities[entity].name, objectID: owner))
            }
            numbers.append(number)
        }
        return numbers
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

    /// The columns of pairs at the owner and at the members, and what these are ordered by.
    func pairColumns(
        _ table: TableLayout.PairTable, _ isSource: Bool, _ relationship: SchemaRelationship,
        _ prefix: String
    ) -> (near: String, far: String, order: String) {
        let ends = [TableLayout.Fixed.source.quoted, TableLayout.Fixed.destination.quoted]
            .map { prefix + $0 }
        let (near, far) = isSource ? (ends[0], ends[1]) : (ends[1], ends[0])
        let place = table.places.first {
            $0.name.hasPrefix(isSource ? TableLayout.Fixed.source : TableLayout.Fixed.destination)
        }
        let order =
            relationship.keepsOrder
            ? place.map { "\(prefix)\($0.name.quoted), \(far)" } ?? far : far
        return (near, far, order)
    }

    private func pairStatement(
        _ table: TableLayout.PairTable, _ isSource: Bool, _ relationship: SchemaRelationship,
        _ owners: Set<UInt32>
    ) -> Statement {
        let (near, far, order) = pairColumns(table, isSource, relationship, "")
        return Statement(
            """
            SELECT \(near), \(far) FROM \(core.layout.sql(table.name)) \
            WHERE \(near) = ANY($1::bigint[]) ORDER BY \(order)
            """, [SQLParameter.numbers(owners)])
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
        guard identity.owns(target, entity: description.destination),
            let number = UInt32(exactly: target.reference)
        else {
            throw StoreError(
                .foreignObject, "the object belongs to another store or entity",
                context: .init(
                    entity: schema.entities[description.destination].name, objectID: target))
        }
        var found: [UInt32: [UInt32]] = [:]
        switch description.storage {
        case .column(let column):
            try collect(ends: reading.ask(inverse(entity, column, description, [number])), &found)
        case .pairs(let pairs, let isSource):
            let isSymmetric = schema.pairs[pairs].isSymmetric(schema.entities)
            for side in isSymmetric ? [true, false] : [!isSource] {
                try collect(
                    ends: reading.ask(
                        pairStatement(core.layout.pairs[pairs], side, description, [number])),
                    &found)
            }
        case .inverseColumn, .transient:
            throw StoreError(
                .invalidRequest, "the relationship is not kept at this end",
                context: .init(
                    entity: schema.entities[entity].name, key: description.description.name))
        }
        return Set(found[number] ?? []).sorted().map { identity.id(UInt64($0), entity: entity) }
    }
}
