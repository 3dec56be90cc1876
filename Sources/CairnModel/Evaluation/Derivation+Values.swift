// The values of a derived attribute, computed from the values of its source.

package import FoundationEssentials

extension Derivation {
    /// The value at a point in time.
    package func value(at moment: Date) -> Value {
        type == .date ? .date(moment) : .double(moment.timeIntervalSinceReferenceDate)
    }

    /// The value made of what the path leads to.
    package func value(of source: Value) -> Value {
        guard case .path(_, _, let function?) = self.source else { return source }
        guard case .string(let text) = source else { return .null }
        switch function {
        case .uppercase: return .string(text.uppercased())
        case .lowercase: return .string(text.lowercased())
        default: return .string(text.folded(case: true, diacritics: true))
        }
    }

    /// The value of so many members.
    package func value(ofCount count: Int) -> Value { .integer(Int64(count)) }

    /// The value made of what the members have, in the order of the members.
    package func value(ofMembers members: [Value]) -> Value {
        guard case .members(_, let operation, _) = source else { return .null }
        let members = members.map { EvaluatedValue.value($0) }
        switch operation {
        case .sum: return PredicateEvaluator.sum(members)
        case .average: return PredicateEvaluator.average(members)
        case .minimum: return PredicateEvaluator.extreme(members, isLeast: true).plain
        case .maximum: return PredicateEvaluator.extreme(members, isLeast: false).plain
        default: return value(ofCount: members.count)
        }
    }

    /// The value for an object without members, whose paths lead nowhere.
    package var valueOfNothing: Value {
        isOfMembers ? value(ofMembers: []) : .null
    }

    /// The value as one of the column's type; nil if it has no such form.
    package func fitted(_ value: Value) -> Value? { value.fitted(to: type) }
}
