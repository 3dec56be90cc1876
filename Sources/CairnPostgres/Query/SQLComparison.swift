// Translates the comparison of two operands to SQL.
//
//   1. Nil equals nil and nothing else: IS DISTINCT FROM where one side may be nil; every other comparison with nil gives NULL,
//      which stands for false.
//   2. What is no number equals nothing and has no order, but the server takes it for one: it is left out beside. -0.0 equals
//      0.0 for both.
//   3. Numbers of two types are compared where the server rounds neither.
//
// Threads: a plain value.

import CairnModel
import CairnStore

struct SQLComparison {
    let relation: PredicateNode.Comparison.Operator
    let options: PredicateNode.Comparison.Options
    let layout: TableLayout
    let identity: StoreIdentity

    func condition(_ left: SQLOperand, _ right: SQLOperand) -> SQLCondition {
        switch relation {
        case .equal: return equal(left, right)
        case .notEqual: return unequal(left, right)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard let relation = SQLRelation(relation) else { return .everything }
            return ordered(left, relation, right)
        case .between: return between(left, right)
        case .in:
            switch right {
            case .list(let values): return isOne(left, of: values)
            case .values(let members): return isOne(left, of: members)
            case .members(let members): return isMember(left, of: members)
            case .constant, .value: return text(right, .contains, left)
            }
        case .contains:
            if case .members(let members) = left { return isMember(right, of: members) }
            return text(left, .contains, right)
        case .beginsWith, .endsWith, .like: return text(left, relation, right)
        case .matches: return .everything
        }
    }

    /// Whether strings are compared by their bytes.
    private var isPlain: Bool {
        options.isEmpty || (options.contains(.normalized) && !options.contains(.localeSensitive))
    }

    private func isPlain(_ kind: SQLKind) -> Bool { kind != .text || isPlain }

    private func sql(_ value: SQLParameter, _ type: ColumnType) -> SQLText {
        "\(value, as: type.rawValue)"
    }

    // MARK: Equality

    private func equal(_ left: SQLOperand, _ right: SQLOperand) -> SQLCondition {
        switch (left, right) {
        case (.value(let value), .constant(let constant)),
            (.constant(let constant), .value(let value)):
            if constant.isNull { return value.isNull }
            guard isPlain(value.kind) else { return folded(value, .equal, [constant]) }
            switch value.kind.equal(to: constant, layout, identity) {
            case .value(let parameter, let type):
                return .exact(
                    value.narrowed(
                        "\(value.text) = \(sql(parameter, type))", "=", parameter.beginning))
            case .never: return .never
            case .always, .unknown: return .everything
            }
        case (.value(let one), .value(let other)):
            guard isPlain(one.kind), let (one, other) = comparable(one, other) else {
                return .everything
            }
            guard one.isNullable, other.isNullable else {
                return .and([.exact("\(one.text) = \(other.text)")] + one.isNumber)
            }
            let same = SQLCondition.exact("\(one.text) IS NOT DISTINCT FROM \(other.text)")
            guard let no = one.kind.notANumber else { return same }
            return .and([same, .exact("\(one.text) IS DISTINCT FROM \(raw: no)")])
        default: return .everything
        }
    }

    private func unequal(_ left: SQLOperand, _ right: SQLOperand) -> SQLCondition {
        switch (left, right) {
        case (.value(let value), .constant(let constant)),
            (.constant(let constant), .value(let value)):
            if constant.isNull { return value.isNotNull }
            guard isPlain(value.kind) else { return .everything }
            switch value.kind.equal(to: constant, layout, identity) {
            case .value(let parameter, let type):
                return .exact("\(value.text) IS DISTINCT FROM \(sql(parameter, type))")
            case .never: return .always
            case .always, .unknown: return .everything
            }
        default: return !equal(left, right)
        }
    }

    /// Both values as the server can compare them without rounding; nil if it cannot.
    private func comparable(_ left: SQLValue, _ right: SQLValue) -> (SQLValue, SQLValue)? {
        switch (left.kind, right.kind) {
        case (.opaque, _), (_, .opaque): nil
        case (let one, let other) where one == other: (left, right)
        case (.single, .double), (.double, .single), (.integer, .decimal), (.decimal, .integer):
            (left, right)
        case (.boolean, .integer): (left.asInteger, right)
        case (.integer, .boolean): (left, right.asInteger)
        default: nil
        }
    }

    // MARK: Lists and members

    private func isOne(_ member: SQLOperand, of values: [Value]) -> SQLCondition {
        guard let value = member.value else { return .everything }
        guard isPlain(value.kind) else { return folded(value, .equal, values) }
        var array = SQLArray(of: value.kind.type.parameter)
        var beginnings = SQLArray(of: .text)
        // Nil is in no list.
        for constant in values where !constant.isNull {
            switch value.kind.equal(to: constant, layout, identity) {
            case .value(let parameter, _):
                do throws(SQLFailure) {
                    try array.append(parameter)
                    if value.beginning != nil, let beginning = parameter.beginning {
                        try beginnings.append(text: beginning)
                    }
                } catch {
                    return .everything
                }
            case .never: break
            case .always, .unknown: return .everything
            }
        }
        let isOne: SQLText =
            "\(value.text) = ANY(\(.array(array), as: value.kind.type.rawValue + "[]"))"
        guard let beginning = value.beginning else { return .exact(isOne) }
        return .exact("(\(beginning) = ANY(\(.array(beginnings), as: "text[]")) AND \(isOne))")
    }

    private func isOne(_ member: SQLOperand, of others: [SQLOperand]) -> SQLCondition {
        guard let value = member.value else { return .everything }
        return .and([value.isNotNull, .or(others.map { equal(member, $0) })])
    }

    private func isMember(_ member: SQLOperand, of members: SQLMembers) -> SQLCondition {
        if member.isNull { return .never }
        var parts = [equal(.value(members.element), member)]
        if let value = member.value { parts.insert(value.isNotNull, at: 0) }
        return members.contain(.and(parts))
    }

    // MARK: Order

    private func ordered(_ left: SQLOperand, _ relation: SQLRelation, _ right: SQLOperand)
        -> SQLCondition
    {
        switch (left, right) {
        case (.value, .constant(.null)), (.constant(.null), .value): return .never
        case (.value(let value), .constant(let constant)):
            guard isPlain(value.kind) else { return .everything }
            let (relation, constant) = value.kind.ordered(relation, constant)
            switch constant {
            case .value(let parameter, let type):
                let text: SQLText =
                    "\(value.text) \(raw: relation.rawValue) \(sql(parameter, type))"
                let narrowed = value.narrowed(
                    text, relation.isLess ? "<=" : ">=", parameter.beginning)
                return .and([.exact(narrowed)] + value.isNumber)
            case .never: return .never
            case .always: return .and([value.isNotNull] + value.isNumber)
            case .unknown: return .everything
            }
        case (.constant, .value): return ordered(right, relation.turned, left)
        case (.value(let one), .value(let other)):
            guard isPlain(one.kind), one.kind.isOrdered,
                let (one, other) = comparable(one, other)
            else { return .everything }
            return .and(
                [.exact("\(one.text) \(raw: relation.rawValue) \(other.text)")] + one.isNumber
                    + other.isNumber)
        default: return .everything
        }
    }

    private func between(_ left: SQLOperand, _ right: SQLOperand) -> SQLCondition {
        let ends: [SQLOperand]
        switch right {
        case .list(let values): ends = values.map { .constant($0) }
        case .values(let values): ends = values
        default: return .everything
        }
        guard ends.count == 2 else { return .never }
        return .and([
            ordered(left, .greaterOrEqual, ends[0]), ordered(left, .lessOrEqual, ends[1]),
        ])
    }

    // MARK: Texts

    private func text(
        _ whole: SQLOperand, _ relation: PredicateNode.Comparison.Operator, _ part: SQLOperand
    ) -> SQLCondition {
        if whole.isNull || part.isNull { return .never }
        guard isPlain else {
            if case (.value(let value), .constant(let constant)) = (whole, part) {
                return folded(value, relation, [constant])
            }
            return .everything
        }
        switch (whole, part) {
        case (.value(let value), .constant(.string(let text))) where value.kind == .text:
            return self.text(value, relation, text)
        case (.constant(.string(let text)), .value(let value)) where value.kind == .text:
            // What a text cannot be sent with is rare: it is looked at here.
            if text.utf8.contains(0) { return .everything }
            return self.text("\(.text(text), as: "text")", relation, value.text)
        case (.value(let one), .value(let other)) where one.kind == .text && other.kind == .text:
            return self.text(one.text, relation, other.text)
        default: return .everything
        }
    }

    /// Texts that are folded before they are compared with any of some others. What folding makes of ASCII the server knows; other
    /// texts are looked at here.
    private func folded(
        _ value: SQLValue, _ relation: PredicateNode.Comparison.Operator, _ others: [Value]
    ) -> SQLCondition {
        guard value.kind == .text else { return .everything }
        let comparison = ValueComparison(operator: relation, options: options)
        let isLower = options.contains(.caseInsensitive) && !options.contains(.normalized)
        let own = SQLValue(
            text: isLower ? "lower(\(value.text))" : value.text, kind: .text,
            isNullable: value.isNullable)
        var parts: [SQLCondition] = []
        for case .string(let text) in others {
            let folded = comparison.folded(text)
            // No text of ASCII is like one that is none.
            guard folded.utf8.allSatisfy({ $0 > 0 && $0 < 0x80 }) else { continue }
            parts.append(
                relation == .equal
                    ? .exact("\(own.text) = \(.text(folded), as: "text")")
                    : self.text(own, relation, folded))
        }
        return .or(
            parts + [.superset("octet_length(\(value.text)) <> length(\(value.text))")])
    }

    private func text(
        _ value: SQLValue, _ relation: PredicateNode.Comparison.Operator, _ part: String
    ) -> SQLCondition {
        if part.utf8.contains(0) { return relation == .like ? .everything : .never }
        func like(_ pattern: String) -> SQLText {
            "\(value.text) LIKE \(.text(pattern), as: "text")"
        }
        let escaped = SQLPattern.escaped(part)
        switch relation {
        case .beginsWith:
            return .exact(value.narrowed(like(escaped + "%"), beginningWith: part))
        case .endsWith: return .exact(like("%" + escaped))
        case .contains: return .exact(like("%" + escaped + "%"))
        case .like:
            let pattern = SQLPattern(part)
            // Characters may be several scalars, and a mark that belongs to the one before it is no character: the server, which
            // sees scalars, may find more.
            return pattern.isText
                ? .exact(
                    value.narrowed(
                        "\(value.text) = \(.text(part), as: "text")", "=",
                        LongValue.beginning(of: part)))
                : .superset(like(pattern.sql))
        default: return .everything
        }
    }

    private func text(
        _ whole: SQLText, _ relation: PredicateNode.Comparison.Operator, _ part: SQLText
    ) -> SQLCondition {
        switch relation {
        case .contains: .exact("position(\(part) in \(whole)) > 0")
        case .beginsWith: .exact("left(\(whole), length(\(part))) = \(part)")
        case .endsWith: .exact("right(\(whole), length(\(part))) = \(part)")
        default: .everything
        }
    }
}

extension SQLParameter {
    /// What an index has of it; nil if it is no text.
    fileprivate var beginning: String? {
        if case .text(let text) = self { LongValue.beginning(of: text) } else { nil }
    }
}

extension SQLValue {
    /// A comparison that asks an index for the beginning as well, where there is one.
    fileprivate func narrowed(_ comparison: SQLText, _ relation: String, _ other: String?)
        -> SQLText
    {
        guard let beginning, let other else { return comparison }
        return
            "(\(beginning) \(raw: relation) \(.text(other), as: "text") AND \(comparison))"
    }

    fileprivate func narrowed(_ comparison: SQLText, beginningWith text: String) -> SQLText {
        let known = LongValue.beginning(of: text)
        guard let beginning, !known.isEmpty else { return comparison }
        let next = LongValue.next(after: known)
        let below: SQLText = next.map { " AND \(beginning) < \(.text($0), as: "text")" } ?? ""
        return
            "(\(beginning) >= \(.text(known), as: "text")\(below) AND \(comparison))"
    }

    /// A truth value as the number that it counts as.
    fileprivate var asInteger: SQLValue {
        SQLValue(text: "CAST(\(text) AS integer)", kind: .integer, isNullable: isNullable)
    }
}
