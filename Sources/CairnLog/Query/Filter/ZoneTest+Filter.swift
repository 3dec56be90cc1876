import CairnStore

extension ZoneTest {
    /// Returns the tests that every match of a condition passes.
    static func tests(of filter: Filter) -> [ZoneTest] {
        switch filter {
        case .isNull(let column): [ZoneTest(column: column, isNil: true)]
        case .not(.isNull(let column)): [ZoneTest(column: column)]
        case .integer(let column, let order, let value):
            test(column, order, OrderedWord.of(value), isExact: true)
        case .double(let column, let order, let value):
            value.isNaN ? [] : test(column, order, OrderedWord.of(value), isExact: true)
        case .float(let column, let order, let value):
            value.isNaN ? [] : test(column, order, OrderedWord.of(Double(value)), isExact: true)
        case .bytes(let column, let order, let value):
            test(column, order, value.withUnsafeBytes { OrderedWord.of($0) }, isExact: false)
        case .and(let filters): filters.flatMap { tests(of: $0) }
        case .or(let filters): hull(filters)
        default: []
        }
    }

    private static func test(
        _ column: Int, _ order: Filter.Order, _ word: UInt64, isExact: Bool
    ) -> [ZoneTest] {
        switch order {
        case .equal: return [ZoneTest(column: column, low: word, high: word)]
        case .lessOrEqual: return [ZoneTest(column: column, high: word)]
        case .greaterOrEqual: return [ZoneTest(column: column, low: word)]
        case .less:
            if isExact, word == .min { return [] }
            return [ZoneTest(column: column, high: isExact ? word - 1 : word)]
        case .greater:
            if isExact, word == .max { return [] }
            return [ZoneTest(column: column, low: isExact ? word + 1 : word)]
        }
    }

    /// Returns the union of the tests of several conditions, if each tests the same single column.
    private static func hull(_ filters: [Filter]) -> [ZoneTest] {
        var hull: ZoneTest?
        for filter in filters {
            let tests = tests(of: filter)
            guard tests.count == 1, !tests[0].isNil else { return [] }
            guard let known = hull else {
                hull = tests[0]
                continue
            }
            guard known.column == tests[0].column else { return [] }
            hull = ZoneTest(
                column: known.column, low: min(known.low, tests[0].low),
                high: max(known.high, tests[0].high))
        }
        return hull.map { [$0] } ?? []
    }
}
