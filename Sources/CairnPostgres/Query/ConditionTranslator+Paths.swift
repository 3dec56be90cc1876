// Follows key paths from row to row.
//
//   1. A to-one relationship is a reference; its row is joined once something is asked of it.
//   2. The first to-many relationship begins an inner question, FROM the rows that belong to the object; each other one
//      multiplies these rows.
//   3. A to-one relationship behind a to-many one gives nil for the members without it, which a further to-many relationship
//      would keep as one member that is nil: for that there is no SQL here.
//
// Threads: as the translator.

import CairnModel

extension ConditionTranslator {
    /// The object itself.
    func object(_ place: SQLPlace) -> SQLValue {
        SQLValue(
            text: SQLText(raw: place.id),
            kind: .object(table: layout.table(of: place.entity.index)),
            isNullable: place.isNullable)
    }

    /// The name of an object's row; nil if there are too many already.
    func row(_ place: SQLPlace) -> String? {
        if let alias = place.alias ?? place.scope.alias(of: place.id) { return alias }
        guard takeJoin() else { return nil }
        let alias = newName("t")
        let table = layout.tables[layout.table(of: place.entity.index)].name
        place.scope.join(layout.sql(table), as: alias, along: place.id)
        return alias
    }

    /// What a reference leads to.
    func target(_ column: Int, of place: SQLPlace, _ destination: Int) -> SQLPlace? {
        guard let alias = row(place) else { return nil }
        let reference = layout.column(column, of: place.entity.index)
        return SQLPlace(
            scope: place.scope, alias: nil, entity: schema.entities[destination],
            id: "\(alias).\(reference.name.quoted)", isNullable: true,
            mayDangle: reference.mayDangle)
    }

    /// The value of an attribute's column.
    func value(_ column: Int, of place: SQLPlace) -> SQLValue? {
        guard let alias = row(place) else { return nil }
        let kind: SQLKind =
            switch place.entity.columns[column].kind {
            case .attribute(let type): SQLKind(type)
            case .reference(let root): .object(table: layout.table(of: root))
            }
        let stored = layout.column(column, of: place.entity.index)
        let name = "\(alias).\(stored.name.quoted)"
        return SQLValue(
            text: SQLText(raw: name), kind: kind, isNullable: true,
            beginning: stored.hasBeginnings
                ? LongValue(stored.type).map { SQLText(raw: $0.beginning(name)) } : nil)
    }

    /// What a path leads to; nil if there is no SQL for it.
    func operand(at path: String, from start: SQLPlace) -> SQLOperand? {
        var walk = Walk(place: start)
        var rest = path[...]
        while true {
            guard let step = Step(rest, of: walk.place.entity) else { return nil }
            switch step.property {
            case .itself: break
            case .column(let column):
                guard step.rest == nil, let value = value(column, of: walk.place) else {
                    return nil
                }
                return walk.operand(value, nil)
            case .relationship(let index):
                let relationship = walk.place.entity.relationships[index]
                if relationship.description.isToMany {
                    guard enter(relationship, &walk) else { return nil }
                } else {
                    guard case .column(let column) = relationship.storage,
                        let target = target(column, of: walk.place, relationship.destination)
                    else { return nil }
                    walk.place = target
                    walk.isBehindMembers = walk.inner != nil
                }
            }
            guard let next = step.rest else {
                return walk.operand(object(walk.place), walk.isBehindMembers ? nil : walk.place)
            }
            rest = next
        }
    }

    /// Where a path has led so far.
    private struct Walk {
        var place: SQLPlace
        var inner: SQLScope?
        var way: String?
        var isBehindMembers = false

        func operand(_ value: SQLValue, _ place: SQLPlace?) -> SQLOperand {
            guard let inner else { return .value(value) }
            return .members(SQLMembers(scope: inner, element: value, place: place, way: way))
        }
    }

    /// The next property of a path.
    private struct Step {
        enum Property {
            case itself
            case column(Int)
            case relationship(Int)
        }

        let property: Property
        let rest: Substring?

        /// Nil if there is none that a store knows.
        init?(_ path: Substring, of entity: SchemaEntity) {
            // The longest beginning that is a property: composite attributes have points in their names.
            var end = path.endIndex
            while true {
                let name = String(path[..<end])
                if let property = Self.property(name, of: entity) {
                    self.property = property
                    rest = end == path.endIndex ? nil : path[path.index(after: end)...]
                    return
                }
                guard let dot = path[..<end].lastIndex(of: ".") else { return nil }
                end = dot
            }
        }

        private static func property(_ name: String, of entity: SchemaEntity) -> Property? {
            if let index = entity.relationshipIndex(named: name) { return .relationship(index) }
            if let column = entity.columnIndex(named: name) { return .column(column) }
            if entity.attributeIndex(named: name) != nil { return nil }
            switch name {
            case "objectID", "self", "SELF": return .itself
            default: return nil
            }
        }
    }

    // MARK: Members

    /// Goes on to the members of a relationship; false if it cannot.
    private func enter(_ relationship: SchemaRelationship, _ walk: inout Walk) -> Bool {
        guard !walk.isBehindMembers, takeJoin() else { return false }
        var owner = walk.place.id
        if walk.place.mayDangle {
            // Who is gone has no members, whatever still leads to it.
            guard let alias = row(walk.place) else { return false }
            owner = "\(alias).\(TableLayout.Fixed.id.quoted)"
        }
        let alias = newName("m")
        let source: SQLText
        let near: String
        let destination = schema.entities[relationship.destination]
        let far: (alias: String?, id: String)
        var links: [SQLText] = []
        switch relationship.storage {
        case .inverseColumn(let other, let column):
            source =
                "\(raw: layout.sql(layout.tables[layout.table(of: other)].name)) AS \(raw: alias)"
            near = layout.column(column, of: other).name.quoted
            far = (alias, "\(alias).\(TableLayout.Fixed.id.quoted)")
            links += isOf(schema.entities[other].family, alias).map { [$0] } ?? []
        case .pairs(let pairs, let isSource):
            let ends = [TableLayout.Fixed.source.quoted, TableLayout.Fixed.destination.quoted]
            source = "\(raw: pairSource(pairs)) AS \(raw: alias)"
            near = isSource ? ends[0] : ends[1]
            far = (nil, "\(alias).\(isSource ? ends[1] : ends[0])")
        case .column, .transient: return false
        }
        links.insert("\(raw: alias).\(raw: near) = \(raw: owner)", at: 0)
        let scope: SQLScope
        if let inner = walk.inner {
            scope = inner
            scope.multiply(by: source, where: .joined(links, " AND "))
        } else {
            scope = SQLScope(source)
            for link in links { scope.restrict(link) }
            walk.way = walk.place.isNullable ? walk.place.id : nil
        }
        walk.inner = scope
        walk.place = SQLPlace(
            scope: scope, alias: far.alias, entity: destination, id: far.id, isNullable: false,
            mayDangle: false)
        return true
    }

    /// The rows of pairs. Those without a direction are seen from both ends, each member once.
    private func pairSource(_ pairs: Int) -> String {
        let table = layout.sql(layout.pairs[pairs].name)
        guard schema.pairs[pairs].isSymmetric(schema.entities) else { return table }
        return Self.bothWays(table)
    }

    /// The rows of a table of pairs, seen from both ends.
    static func bothWays(_ table: String) -> String {
        let (one, other) = (TableLayout.Fixed.source.quoted, TableLayout.Fixed.destination.quoted)
        return
            "(SELECT \(one), \(other) FROM \(table) UNION SELECT \(other), \(one) FROM \(table))"
    }
}
