// Random tables over a schema: columns, groups, figures, conditions on groups, orders; what the server can say, and what it cannot.

import CairnModel
import CairnStore
import CairnTestSupport

struct RandomTable {
    let questions: RandomQuestion
    let entity: SchemaEntity
    private(set) var terms = TableTerms(columns: [])
    private(set) var sort: [SortKey] = []
    /// What keeps numbers small whose sums depend on the order of adding.
    private(set) var bounds: [PredicateNode] = []
    /// Columns with such sums.
    private(set) var roundedColumns: Set<Int> = []

    init(_ questions: RandomQuestion, _ entity: SchemaEntity, _ random: inout RandomSource) {
        self.questions = questions
        self.entity = entity
        if random.oneIn(3) { plain(&random) } else { grouped(&random) }
        terms.isDistinct = roundedColumns.isEmpty && random.oneIn(3)
        for (index, column) in terms.columns.enumerated()
        where !roundedColumns.contains(index) && random.oneIn(3) {
            sort.append(
                SortKey(
                    column.name, ascending: random.oneIn(2),
                    nulls: random.oneIn(4)
                        ? AskedValue.pick(SortKey.NullsPosition.allCases, &random) : nil))
        }
    }

    /// What there is of one object.
    private func expression(_ random: inout RandomSource) -> ExpressionNode {
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            let toOne = entity.relationships.filter { !$0.description.isToMany }
            return toOne.randomElement(using: &random).map { .keyPath($0.description.name) }
                ?? .evaluatedObject
        case 1: return .evaluatedObject
        case 2, 3: return questions.count(entity, &random) ?? .evaluatedObject
        case 4:
            guard let path = questions.path(entity, of: .string, &random) else { break }
            return .function(random.oneIn(2) ? .length : .uppercase, [path])
        case 5:
            guard let path = questions.path(entity, of: .integer32, &random) else { break }
            return .function(.add, [path, .constant(.integer(1))])
        case 6:
            guard let path = questions.path(entity, &random) else { break }
            return .conditional(
                questions.condition(entity, depth: 1, &random), path, .constant(.null))
        default: break
        }
        return questions.path(entity, &random) ?? .evaluatedObject
    }

    private mutating func plain(_ random: inout RandomSource) {
        for index in 0..<Int.random(in: 1...4, using: &random) {
            let node = expression(&random)
            if case .keyPath(let name) = node, !terms.columns.contains(where: { $0.name == name }) {
                terms.columns.append(.init(name, node))
            } else {
                terms.columns.append(.init("c\(index)", node))
            }
        }
    }

    private mutating func grouped(_ random: inout RandomSource) {
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let key = expression(&random)
            if !terms.groupBy.contains(key) { terms.groupBy.append(key) }
        }
        for (index, key) in terms.groupBy.enumerated() where !random.oneIn(4) {
            terms.columns.append(.init("k\(index)", key))
        }
        for index in 0..<Int.random(in: 1...3, using: &random) {
            let (figure, isRounded) = figure(&random)
            if isRounded { roundedColumns.insert(terms.columns.count) }
            terms.columns.append(.init("a\(index)", figure))
        }
        having(&random)
    }

    private mutating func figure(_ random: inout RandomSource) -> (ExpressionNode, Bool) {
        let count = ExpressionNode.function(.count, [.evaluatedObject])
        guard !random.oneIn(4),
            let column = entity.columns.filter({ $0.relationship == nil })
                .randomElement(using: &random), case .attribute(let type) = column.kind
        else { return (count, false) }
        let key = ExpressionNode.keyPath(column.name)
        let isBinary = type == .double || type == .float || type == .decimal
        let isNumber =
            isBinary || [.integer16, .integer32, .integer64, .boolean].contains(type)
        switch isNumber ? Int.random(in: 0..<8, using: &random) : 7 {
        case 0...3:
            if isBinary {
                bounds.append(.compare(key, .greaterOrEqual, .constant(.integer(-1000))))
                bounds.append(.compare(key, .lessOrEqual, .constant(.integer(1000))))
            }
            let figure = ExpressionNode.function(random.oneIn(2) ? .sum : .average, [key])
            return (
                random.oneIn(5) ? .function(.add, [figure, .constant(.integer(1))]) : figure,
                isBinary
            )
        case 4:
            return (.function(AskedValue.pick([.median, .mode], &random), [key]), false)
        case 5: return (.function(.count, [key]), false)
        default:
            return (
                .function(
                    AskedValue.pick([.minimum, .maximum, .count], &random), [key]), false
            )
        }
    }

    private mutating func having(_ random: inout RandomSource) {
        guard !terms.groupBy.isEmpty, random.oneIn(2) else { return }
        let relations: [PredicateNode.Comparison.Operator] = [
            .greater, .greaterOrEqual, .less, .lessOrEqual, .equal, .notEqual,
        ]
        var parts: [PredicateNode] = [
            .compare(
                .function(.count, [.evaluatedObject]), AskedValue.pick(relations, &random),
                .constant(.integer(Int64.random(in: 0...3, using: &random))))
        ]
        let last = terms.columns.count - 1
        if random.oneIn(2), !roundedColumns.contains(last) {
            parts.append(
                .compare(
                    .keyPath(terms.columns[last].name),
                    AskedValue.pick(random.oneIn(2) ? relations : [.notEqual], &random),
                    .constant(
                        AskedValue.pick([.null, .integer(1), .integer(100)], &random))))
        }
        if random.oneIn(2), let key = terms.groupBy.first {
            parts.append(
                .compare(key, random.oneIn(2) ? .equal : .notEqual, .constant(.null)))
        }
        terms.having = random.oneIn(3) ? .or(parts) : .and(parts)
    }
}
