// Checks that relationships are consistent, from both sides.

import CairnModel
import CairnStore

extension PostgresCheck {
    mutating func checkReferences() throws(StoreError) {
        for entity in schema.entities {
            for (index, column) in entity.columns.enumerated()
            where column.declaringEntity == entity.index {
                guard let relationship = column.relationship else { continue }
                try check(entity.relationships[relationship], column: index, of: entity)
            }
        }
        for index in layout.pairs.indices { try checkPairs(index) }
    }

    /// The codes of an entity and its descendants.
    private func codes(_ entity: Int) -> SQLParameter {
        var codes = SQLArray(of: .int16)
        for index in schema.entities[entity].family { codes.append(number: layout.code(of: index)) }
        return .array(codes)
    }

    private mutating func check(
        _ relationship: SchemaRelationship, column: Int, of entity: SchemaEntity
    ) throws(StoreError) {
        let described = layout.column(column, of: entity.index)
        guard let target = described.target else { return }
        let table = layout.sql(layout.tables[layout.table(of: entity.index)].name)
        let name = described.name.quoted
        let (id, kind) = (TableLayout.Fixed.id.quoted, TableLayout.Fixed.entity.quoted)
        // What nobody clears may lead to nothing, but not to something else.
        let missing = described.mayDangle ? "" : "t.\(id) IS NULL OR "
        let isOneToOne =
            relationship.inverse.map {
                !schema.entities[relationship.destination].relationships[$0].description.isToMany
            } ?? false
        var statements = [
            Statement("SELECT count(\(name)) FROM \(table)"),
            Statement(
                """
                SELECT r.\(id), r.\(name) FROM \(table) AS r \
                LEFT JOIN \(layout.sql(layout.tables[target].name)) AS t ON t.\(id) = r.\(name) \
                WHERE r.\(name) IS NOT NULL AND (\(missing)NOT (t.\(kind) = ANY($1::smallint[]))) \
                ORDER BY r.\(id) LIMIT 100
                """, [codes(relationship.destination)]),
        ]
        if isOneToOne {
            statements.append(
                Statement(
                    """
                    SELECT \(name), count(*) FROM \(table) WHERE \(name) IS NOT NULL \
                    GROUP BY \(name) HAVING count(*) > 1 ORDER BY \(name) LIMIT 100
                    """))
        }
        if let way = relationship.inverse,
            case .column(let back) = schema.entities[relationship.destination].relationships[way]
                .storage
        {
            let other = layout.column(back, of: relationship.destination).name.quoted
            statements.append(
                Statement(
                    """
                    SELECT r.\(id), r.\(name) FROM \(table) AS r \
                    JOIN \(layout.sql(layout.tables[target].name)) AS t ON t.\(id) = r.\(name) \
                    WHERE t.\(other) IS DISTINCT FROM r.\(id) ORDER BY r.\(id) LIMIT 100
                    """))
        }
        let results = try reading.ask(statements)
        report.references += Int(try int64s(results[0], 0)[0])
        let property = relationship.description.name
        let destination = schema.entities[relationship.destination].name
        for (owner, number) in zip(try int64s(results[1], 0), try int64s(results[1], 1)) {
            report.note(
                "p\(owner) refers to p\(number), which is not a \(destination)",
                entity: entity.name,
                key: property)
        }
        guard isOneToOne else { return }
        for (number, count) in zip(try int64s(results[2], 0), try int64s(results[2], 1)) {
            report.note(
                "\(count) objects refer to p\(number), but only one can", entity: entity.name,
                key: property)
        }
        // Both ends of it are kept.
        guard results.count > 3 else { return }
        for (owner, number) in zip(try int64s(results[3], 0), try int64s(results[3], 1)) {
            report.note(
                "p\(owner) refers to p\(number), which does not refer back", entity: entity.name,
                key: property)
        }
    }

    private mutating func checkPairs(_ index: Int) throws(StoreError) {
        let (pairs, described) = (layout.pairs[index], schema.pairs[index])
        let table = layout.sql(pairs.name)
        let (id, kind) = (TableLayout.Fixed.id.quoted, TableLayout.Fixed.entity.quoted)
        let (source, destination) = (
            TableLayout.Fixed.source.quoted, TableLayout.Fixed.destination.quoted
        )
        var statements = [
            Statement("SELECT count(*) FROM \(table)"),
            Statement(
                """
                SELECT p.\(source), p.\(destination) FROM \(table) AS p \
                LEFT JOIN \(layout.sql(layout.tables[pairs.source].name)) AS s ON s.\(id) = p.\(source) \
                LEFT JOIN \(layout.sql(layout.tables[pairs.destination].name)) AS d \
                ON d.\(id) = p.\(destination) WHERE s.\(id) IS NULL OR d.\(id) IS NULL \
                OR NOT (s.\(kind) = ANY($1::smallint[])) OR NOT (d.\(kind) = ANY($2::smallint[])) \
                ORDER BY 1, 2 LIMIT 100
                """, [codes(described.source), codes(described.destination)]),
        ]
        if described.isSymmetric(schema.entities) {
            statements.append(
                Statement(
                    """
                    SELECT p.\(source), p.\(destination) FROM \(table) AS p JOIN \(table) AS q \
                    ON q.\(source) = p.\(destination) AND q.\(destination) = p.\(source) \
                    WHERE p.\(source) < p.\(destination) ORDER BY 1, 2 LIMIT 100
                    """))
        }
        let results = try reading.ask(statements)
        report.pairs += Int(try int64s(results[0], 0)[0])
        let entity = schema.entities[described.source]
        let property = entity.relationships[described.sourceRelationship].description.name
        for (owner, member) in zip(try int64s(results[1], 0), try int64s(results[1], 1)) {
            report.note(
                "of the pair of p\(owner) and p\(member) one is no object that may be in it",
                entity: entity.name, key: property)
        }
        guard results.count > 2 else { return }
        for (owner, member) in zip(try int64s(results[2], 0), try int64s(results[2], 1)) {
            report.note(
                "the pair of p\(owner) and p\(member) is there twice", entity: entity.name,
                key: property)
        }
    }
}
