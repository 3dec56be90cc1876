// Random tables over an entity: columns, groups, figures, conditions on groups, sort keys.

import CairnModel
import CairnStore
import CairnTestSupport

struct RandomTerms {
    let schema: Schema
    let entity: SchemaEntity
    /// What keeps numbers small whose sums are asked for: the order of adding them must not matter.
    private(set) var bounds: [PredicateNode] = []
    /// Columns whose figures depend on the order of adding, if only a little.
    private(set) var roundedColumns: Set<Int> = []

    init(_ schema: Schema, _ entity: SchemaEntity) {
        self.schema = schema
        self.entity = entity
    }

    private func attributes(_ entity: SchemaEntity) -> [(name: String, type: AttributeType)] {
        entity.columns.compactMap { column in
            guard case .attribute(let type) = column.kind, type != .transformable else {
                return nil
            }
            return (column.name, type)
        }
    }

    /// A path to an attribute, or a to-one relationship.
    private func path(_ random: inout RandomSource) -> ExpressionNode {
        let toOne = entity.relationships.filter { !$0.description.isToMany }
        if random.oneIn(4), let relationship = toOne.randomElement(using: &random) {
            let name = relationship.description.name
            let there = attributes(schema.entities[relationship.destination])
            guard !random.oneIn(3), let far = there.randomElement(using: &random) else {
                return .keyPath(name)
            }
            return .keyPath("\(name).\(far.name)")
        }
        if random.oneIn(8) { return calculated(&random) }
        let own = attributes(entity)
        guard let column = own.randomElement(using: &random) else { return .keyPath("entity.name") }
        if column.type == .string, random.oneIn(4) {
            return .function(.length, [.keyPath(column.name)])
        }
        return .keyPath(column.name)
    }

    /// The object itself, how many members it has, or a choice.
    private func calculated(_ random: inout RandomSource) -> ExpressionNode {
        let toMany = entity.relationships.filter(\.description.isToMany)
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            if let members = toMany.randomElement(using: &random)?.description.name {
                return .collection(.count, of: .keyPath(members), path: nil)
            }
        case 1:
            if let name = attributes(entity).randomElement(using: &random)?.name {
                let conditions = RandomCondition(schema: schema, ids: [])
                return .conditional(
                    conditions.predicate(entity, depth: 1, &random), .keyPath(name),
                    .constant(.null))
            }
        default: break
        }
        return .evaluatedObject
    }

    private mutating func aggregate(column: Int, _ random: inout RandomSource) -> ExpressionNode {
        let own = attributes(entity)
        guard !random.oneIn(4), let chosen = own.randomElement(using: &random) else {
            return random.oneIn(2)
                ? .function(.count, [.evaluatedObject])
                : .collection(.count, of: .evaluatedObject, path: nil)
        }
        let key = ExpressionNode.keyPath(chosen.name)
        let isNumber: Bool
        switch chosen.type {
        case .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal:
            isNumber = true
        default: isNumber = false
        }
        switch isNumber ? Int.random(in: 0..<8, using: &random) : 7 {
        case 0...4:
            if chosen.type != .boolean, chosen.type != .integer16, chosen.type != .integer32 {
                bounds.append(.compare(key, .greaterOrEqual, .constant(.integer(-1000))))
                bounds.append(.compare(key, .lessOrEqual, .constant(.integer(1000))))
            }
            roundedColumns.insert(column)
            let functions: [ExpressionNode.Function] = [
                .sum, .sum, .average, .median, .mode, .standardDeviation,
            ]
            let argument: ExpressionNode =
                random.oneIn(3)
                ? .function(.multiply, [key, .constant(.integer(2))]) : key
            let figure = ExpressionNode.function(
                RandomValue.pick(functions, &random), [argument])
            return random.oneIn(4) ? .function(.add, [figure, .constant(.integer(1))]) : figure
        default:
            return random.oneIn(3)
                ? .function(.count, [key])
                : random.oneIn(2)
                    ? .function(random.oneIn(2) ? .minimum : .maximum, [key])
                    : .collection(random.oneIn(2) ? .minimum : .maximum, of: key, path: nil)
        }
    }

    /// A table, and what it is sorted by.
    mutating func terms(_ random: inout RandomSource) -> (TableTerms, [SortKey]) {
        var terms = TableTerms(columns: [])
        let isGrouped = random.oneIn(3) ? false : true
        if isGrouped {
            let keys = (0..<Int.random(in: 0...3, using: &random)).map { _ in path(&random) }
            for key in keys where !terms.groupBy.contains(key) { terms.groupBy.append(key) }
            for (index, key) in terms.groupBy.enumerated() where !random.oneIn(4) {
                terms.columns.append(.init("k\(index)", key))
            }
            for index in 0..<Int.random(in: 1...3, using: &random) {
                let column = terms.columns.count
                terms.columns.append(.init("a\(index)", aggregate(column: column, &random)))
            }
            having(&terms, &random)
        } else {
            for index in 0..<Int.random(in: 1...4, using: &random) {
                let path = path(&random)
                if case .keyPath(let name) = path,
                    !terms.columns.contains(where: { $0.name == name })
                {
                    terms.columns.append(.init(name, path))
                } else {
                    terms.columns.append(.init("c\(index)", path))
                }
            }
        }
        terms.isDistinct = roundedColumns.isEmpty && random.oneIn(3)
        var sort: [SortKey] = []
        for (index, column) in terms.columns.enumerated()
        where !roundedColumns.contains(index) && random.oneIn(3) {
            let comparison: SortKey.Comparison =
                isText(column.expression) && random.oneIn(2)
                ? RandomValue.pick(SortKey.Comparison.allCases, &random) : .binary
            sort.append(
                SortKey(column.name, ascending: random.oneIn(2), comparison: comparison))
        }
        // What is no column can be sorted by as well, but for rows that are wanted once.
        if !isGrouped, !terms.isDistinct, random.oneIn(3),
            let key = RandomSort(schema: schema).key(entity, &random)
        {
            sort.append(key)
        }
        return (terms, sort)
    }

    private func isText(_ node: ExpressionNode) -> Bool {
        guard case .keyPath(let name) = node, let column = entity.columnIndex(named: name) else {
            return false
        }
        return entity.columns[column].kind == .attribute(.string)
    }

    private func having(_ terms: inout TableTerms, _ random: inout RandomSource) {
        guard !terms.groupBy.isEmpty, random.oneIn(2) else { return }
        let count: ExpressionNode =
            random.oneIn(3)
            ? .variable("a0")
            : random.oneIn(2)
                ? .function(.count, [.evaluatedObject])
                : .collection(.count, of: .evaluatedObject, path: nil)
        if case .variable = count, roundedColumns.contains(terms.columns.count - 1) { return }
        let limit = ExpressionNode.constant(.integer(Int64.random(in: 0...3, using: &random)))
        if case .variable = count {
            terms.having = .compare(count, .notEqual, .constant(.null))
        } else {
            let relations: [PredicateNode.Comparison.Operator] = [
                .greater, .greaterOrEqual, .less, .lessOrEqual, .equal, .notEqual,
            ]
            terms.having = .compare(count, RandomValue.pick(relations, &random), limit)
        }
        if random.oneIn(3), let having = terms.having, let key = terms.groupBy.first {
            terms.having = .and([having, .compare(key, .notEqual, .constant(.null))])
        }
    }
}
