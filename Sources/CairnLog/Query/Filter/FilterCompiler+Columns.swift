// Comparisons of one column with constants, or with another column of the same kind.
//
//   - Numbers of another type than the column's are first converted to bounds among the column's values
//     (`NumberBounds`).
//   - A list becomes a set, if it is not short and all its values have the column's type.
//   - String comparisons with options, and string operators, become a `TextTest`.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

extension FilterCompiler {
    /// Compiles a condition on one column, or on the object itself; nil if the comparison is not that simple.
    func columnFilter(_ comparison: PredicateNode.Comparison) throws(StoreError) -> Filter? {
        guard let simple = comparison.simple else { return twoColumns(comparison) }
        if case .key(let key) = simple.subject, let column = description.columnIndex(named: key) {
            return try filter(simple, column: column)
        }
        return try selfFilter(simple)
    }

    private func twoColumns(_ comparison: PredicateNode.Comparison) -> Filter? {
        guard comparison.modifier == .direct, comparison.options.isEmpty,
            case .keyPath(let one) = comparison.left, case .keyPath(let other) = comparison.right,
            let left = description.columnIndex(named: one),
            let right = description.columnIndex(named: other),
            areOfOneKind(description.columns[left].kind, description.columns[right].kind)
        else { return nil }
        switch comparison.operator {
        case .equal: return .columns(left, .equal, right)
        case .notEqual: return .not(.columns(left, .equal, right))
        case .less: return .columns(left, .less, right)
        case .lessOrEqual: return .columns(left, .lessOrEqual, right)
        case .greater: return .columns(left, .greater, right)
        case .greaterOrEqual: return .columns(left, .greaterOrEqual, right)
        default: return nil
        }
    }

    private func areOfOneKind(_ left: SchemaColumn.Kind, _ right: SchemaColumn.Kind) -> Bool {
        switch (left, right) {
        case (.attribute(let a), .attribute(let b)):
            switch a {
            case .integer16, .integer32, .integer64, .boolean:
                [.integer16, .integer32, .integer64, .boolean].contains(b)
            case .double, .float, .date, .string, .uuid, .uri, .binary: a == b
            default: false
            }
        default: false
        }
    }

    private func filter(_ simple: PredicateNode.Comparison.Simple, column: Int)
        throws(StoreError) -> Filter
    {
        let isText = description.columns[column].kind == .attribute(.string)
        switch (simple.operator, simple.operand) {
        case (.in, .list(let values)): return try oneOf(column, values, simple.options)
        case (.between, .list(let values)) where values.count == 2:
            return .and([
                try compare(column, .greaterOrEqual, values[0], simple.options),
                try compare(column, .lessOrEqual, values[1], simple.options),
            ])
        case (.between, .value(.null)): return .constant(false)
        case (.between, _): throw mismatch(column, "BETWEEN takes two values")
        case (_, .list): throw mismatch(column, "the comparison takes one value")
        case (.equal, .value(let value)):
            return value.isNull
                ? .isNull(column) : try compare(column, .equal, value, simple.options)
        case (.notEqual, .value(let value)):
            return .not(
                value.isNull ? .isNull(column) : try compare(column, .equal, value, simple.options))
        case (.less, .value(let value)): return try compare(column, .less, value, simple.options)
        case (.lessOrEqual, .value(let value)):
            return try compare(column, .lessOrEqual, value, simple.options)
        case (.greater, .value(let value)):
            return try compare(column, .greater, value, simple.options)
        case (.greaterOrEqual, .value(let value)):
            return try compare(column, .greaterOrEqual, value, simple.options)
        case (.contains, .value(let value)), (.beginsWith, .value(let value)),
            (.endsWith, .value(let value)), (.like, .value(let value)),
            (.matches, .value(let value)), (.in, .value(let value)):
            if value.isNull { return .constant(false) }
            guard isText else {
                throw mismatch(column, "\(simple.operator.rawValue) compares strings")
            }
            guard case .string(let text) = value else {
                throw mismatch(column, "\(simple.operator.rawValue) compares strings", value)
            }
            return .text(column, try textTest(simple.operator, text, simple.options))
        }
    }

    private func textTest(
        _ relation: PredicateNode.Comparison.Operator, _ text: String,
        _ options: PredicateNode.Comparison.Options
    ) throws(StoreError) -> TextTest {
        do throws(PredicateFormatError) {
            return try TextTest(relation, text, options)
        } catch {
            throw self.error(error)
        }
    }

    func mismatch(_ column: Int, _ message: String, _ value: Value? = nil) -> StoreError {
        StoreError(
            .invalidRequest, message,
            context: .init(
                entity: catalog.entities[entity].name,
                key: catalog.entities[entity].columns[column].name, value: value,
                detail: value.map { "\(message): \($0)" }))
    }

    private func mismatch(_ column: Int, _ value: Value) -> StoreError {
        mismatch(column, "the \(value.kindName) cannot be compared with the attribute", value)
    }

    // MARK: One value

    private func compare(
        _ column: Int, _ order: Filter.Order, _ value: Value,
        _ options: PredicateNode.Comparison.Options
    ) throws(StoreError) -> Filter {
        if value.isNull { return .constant(false) }
        guard case .attribute(let type) = description.columns[column].kind else {
            return try reference(column, order, value)
        }
        switch (type, value) {
        case (.string, .string(let text)):
            if options.isDisjoint(with: [
                .caseInsensitive, .diacriticInsensitive, .localeSensitive,
            ]) {
                return .bytes(column, order, Array(text.utf8))
            }
            return .text(column, try textTest(order.relation, text, options))
        case (.integer16, .integer(let value)), (.integer32, .integer(let value)),
            (.integer64, .integer(let value)):
            // An integer outside an attribute's range is a valid operand; nothing equals it.
            return .integer(column, order, value)
        case (.boolean, .boolean(let value)): return .integer(column, order, value ? 1 : 0)
        case (.double, .double(let value)): return .double(column, order, value)
        case (.date, .date(let value)):
            return .double(column, order, value.timeIntervalSinceReferenceDate)
        case (.float, .float(let value)): return .float(column, order, value)
        case (.uri, .uri(let value)):
            return .bytes(column, order, Array(value.absoluteString.utf8))
        case (.binary, .binary(let value)): return .bytes(column, order, Array(value))
        case (.uuid, .uuid(let value)):
            return .bytes(column, order, withUnsafeBytes(of: value.uuid) { Array($0) })
        case (.decimal, .decimal(let value)):
            return value.isNaN ? .constant(false) : .decimal(column, order, value)
        case (.decimal, .integer(let value)): return .decimal(column, order, Decimal(value))
        default: break
        }
        guard value.isAnyNumber else {
            throw mismatch(column, value)
        }
        switch type {
        case .integer16, .integer32, .integer64, .boolean:
            return among(column, order, NumberBounds<Int64>(integers: value)) {
                .integer(column, $0, $1)
            }
        case .double:
            return among(column, order, NumberBounds<Double>(doubles: value)) {
                .double(column, $0, $1)
            }
        case .float:
            return among(column, order, NumberBounds<Float>(floats: value)) {
                .float(column, $0, $1)
            }
        case .decimal:
            do throws(PredicateFormatError) {
                return .value(column, try ValueTest(type, order.relation, value))
            } catch {
                throw self.error(error)
            }
        default: throw mismatch(column, value)
        }
    }

    /// Compares a column with a number that may lie between two values of the column's type.
    private func among<T: Comparable>(
        _ column: Int, _ order: Filter.Order, _ bounds: NumberBounds<T>?,
        _ filter: (Filter.Order, T) -> Filter
    ) -> Filter {
        guard let bounds else { return .constant(false) }
        let some = Filter.not(.isNull(column))
        switch order {
        case .equal:
            guard let first = bounds.first, let last = bounds.last, first <= last else {
                return .constant(false)
            }
            return first == last
                ? filter(.equal, first)
                : .and([filter(.greaterOrEqual, first), filter(.lessOrEqual, last)])
        // NaN is neither less nor greater, so `some` will not do for doubles.
        case .less:
            if let first = bounds.first { return filter(.less, first) }
            return bounds.last.map { filter(.lessOrEqual, $0) } ?? some
        case .lessOrEqual: return bounds.last.map { filter(.lessOrEqual, $0) } ?? .constant(false)
        case .greater:
            if let last = bounds.last { return filter(.greater, last) }
            return bounds.first.map { filter(.greaterOrEqual, $0) } ?? some
        case .greaterOrEqual:
            return bounds.first.map { filter(.greaterOrEqual, $0) } ?? .constant(false)
        }
    }

    private func reference(_ column: Int, _ order: Filter.Order, _ value: Value)
        throws(StoreError) -> Filter
    {
        guard order == .equal, case .objectID(let id) = value,
            let tree = catalog.entities[entity].columns[column].target
        else {
            throw mismatch(
                column, "a relationship can only be compared with an object id, by == != or IN")
        }
        let root = catalog.schemaEntity(catalog.trees[tree].root)
        guard identity.owns(id, entity: root) else { return .constant(false) }
        return .integer(column, .equal, Int64(bitPattern: id.reference))
    }

    // MARK: Lists

    private func oneOf(
        _ column: Int, _ values: [Value], _ options: PredicateNode.Comparison.Options
    ) throws(StoreError) -> Filter {
        if description.columns[column].kind == .attribute(.string) {
            var texts: [String] = []
            texts.reserveCapacity(values.count)
            for value in values where !value.isNull {
                guard case .string(let text) = value else {
                    throw mismatch(column, value)
                }
                texts.append(text)
            }
            do throws(PredicateFormatError) {
                return .text(column, try TextTest(oneOf: texts, options, seed: seed))
            } catch {
                throw self.error(error)
            }
        }
        var words: [UInt64] = []
        var keys: [[UInt8]] = []
        var isDouble = false
        var rest: [Filter] = []
        for value in values {
            switch try compare(column, .equal, value, options) {
            case .constant(false): break
            case .integer(_, .equal, let value): words.append(UInt64(bitPattern: value))
            case .double(_, .equal, let value):
                isDouble = true
                // NaN equals nothing.
                if !value.isNaN { words.append(Filter.bits(value)) }
            case .bytes(_, .equal, let value): keys.append(value)
            // Equal decimals have equal bytes.
            case .decimal(_, .equal, let value): keys.append(DecimalCoding.encode(value))
            case let filter: rest.append(filter)
            }
        }
        if !words.isEmpty {
            let set = WordSet(words)
            rest.append(isDouble ? .doubles(column, set) : .integers(column, set))
        }
        if !keys.isEmpty { rest.append(.keys(column, BytesSet(keys, seed: seed))) }
        return rest.count == 1 ? rest[0] : .any(rest)
    }
}

extension Filter.Order {
    /// The operator that tests for it.
    var relation: PredicateNode.Comparison.Operator {
        switch self {
        case .equal: .equal
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }
}

extension Value {
    /// Whether it is a number or a Boolean.
    fileprivate var isAnyNumber: Bool {
        switch self {
        case .integer, .boolean, .decimal, .double, .float: true
        default: false
        }
    }
}
