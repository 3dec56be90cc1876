// What the plain store makes of constraints with options: nothing of it is shared with the engine.

package import CairnModel
import CairnStore

extension SchemaConstraint {
    /// What is compared of an object's values, by column of its entity; nil if it takes no part.
    package func naiveKey(_ values: [Value], of entity: SchemaEntity) -> [Value]? {
        let key = columns.map { values[$0] }
        guard let options else { return key.contains(where: \.isNull) ? nil : key }
        if let predicate = options.predicate {
            let holds = predicate.naivelyHolds { name in
                entity.columnIndex(named: name).map { values[$0] } ?? .null
            }
            if !holds { return nil }
        }
        if !options.nilsAreEqual, key.contains(where: \.isNull) { return nil }
        return key.map { value in
            guard case .string(var text) = value else { return value }
            if options.isCaseInsensitive {
                text = text.lowercased()
                text = String(text.flatMap { $0 == "ß" ? Array("ss") : [$0] })
            }
            if options.isDiacriticInsensitive {
                let plain: [Character: Character] = ["é": "e", "É": "E", "ö": "o", "Ö": "O"]
                text = String(text.map { plain[$0] ?? $0 })
            }
            return .string(text)
        }
    }

    /// Whether somebody would find an object by the same key under either set of values.
    func isSameKey(_ one: [Value], _ other: [Value], of entity: SchemaEntity) -> Bool {
        if options == nil { return columns.allSatisfy { one[$0] == other[$0] } }
        let key = naiveKey(one, of: entity)
        return key != nil && key == naiveKey(other, of: entity)
    }
}

extension DictionaryState {
    /// A constraint with options under which two objects have one key.
    func sharedKey(in schema: Schema) -> SchemaConstraint? {
        for entity in schema.entities {
            for constraint in entity.constraints
            where constraint.declaringEntity == entity.index && constraint.options != nil {
                var keys: Set<[Value]> = []
                for (_, object) in objects(of: entity) {
                    guard let key = constraint.naiveKey(object.values, of: entity) else { continue }
                    if !keys.insert(key).inserted { return constraint }
                }
            }
        }
        return nil
    }
}

extension PredicateNode {
    /// Whether it holds, of the forms that the tests' constraints have.
    fileprivate func naivelyHolds(_ value: (String) -> Value) -> Bool {
        switch self {
        case .constant(let truth): return truth
        case .and(let parts): return parts.allSatisfy { $0.naivelyHolds(value) }
        case .or(let parts): return parts.contains { $0.naivelyHolds(value) }
        case .not(let part): return !part.naivelyHolds(value)
        case .comparison(let comparison):
            guard let simple = comparison.simple, case .key(let key) = simple.subject else {
                preconditionFailure("the tests' constraints compare attributes with constants")
            }
            let present = value(key)
            switch simple.operator {
            case .equal: return present == simple.values[0]
            case .notEqual: return present != simple.values[0]
            case .in: return simple.values.contains(present)
            case .greater: return present.compare(to: simple.values[0]) == .descending
            case .less: return present.compare(to: simple.values[0]) == .ascending
            default: preconditionFailure("the tests' constraints have no other operators")
            }
        }
    }
}
