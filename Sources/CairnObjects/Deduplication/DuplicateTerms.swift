// Whether a request about duplicates says what the model has.

import CairnModel
import CairnStore

/// Looks a request about duplicates through before anything is read.
struct DuplicateTerms {
    private let entity: SchemaEntity
    private let schema: Schema

    init(_ entity: SchemaEntity, _ schema: Schema) {
        self.entity = entity
        self.schema = schema
    }

    func check(_ request: DeduplicationRequest) throws(StoreError) {
        if request.keys.isEmpty { throw wrong(nil, "a key has one attribute at least") }
        var columns: Set<Int> = []
        for name in request.keys {
            let column = try column(name)
            if !columns.insert(column).inserted { throw wrong(name, "the key names it twice") }
            if case .attribute(.transformable) = entity.columns[column].kind {
                throw wrong(name, "what a transformer makes of a value cannot be compared")
            }
        }
        if request.rule == .nullKey, columns.allSatisfy({ !entity.columns[$0].canBeCleared }) {
            throw wrong(
                request.keys.joined(separator: ", "),
                "the key is mandatory or derived: nothing of it can become nil")
        }
        try check(request.rule, keys: Set(request.keys))
    }

    private func check(_ rule: DeduplicationRule, keys: Set<String>) throws(StoreError) {
        switch rule {
        case .newest(let name), .smallest(let name): try checkOrder(name)
        case .first, .last, .mostComplete, .nullKey, .fail: return
        case .merge(let rules, let into):
            switch into {
            case .merge, .nullKey, .fail:
                throw wrong(nil, "merging needs a rule that says which object stays")
            default: try check(into, keys: keys)
            }
            for (name, rule) in rules.sorted(by: { $0.key < $1.key }) {
                if keys.contains(name) {
                    throw wrong(name, "it is part of the key, and equal in all")
                }
                try check(rule, name)
            }
        }
    }

    private func check(_ rule: FoldingRule, _ name: String) throws(StoreError) {
        if case .newest(let by) = rule { try checkOrder(by) }
        if let index = entity.relationshipIndex(named: name) {
            let isToMany = entity.relationships[index].description.isToMany
            switch rule {
            case .keep: return
            case .fillNil, .newest: if !isToMany { return }
            case .union: if isToMany { return }
            case .maximum, .minimum, .sum: break
            }
            throw wrong(
                name,
                "a to-\(isToMany ? "many" : "one") relationship has no \(rule.word)")
        }
        guard let index = entity.attributeIndex(named: name) else {
            throw wrong(name, "the entity has no such property")
        }
        let attribute = entity.attributes[index].description
        if entity.attributes[index].columns.isEmpty {
            throw wrong(name, "a transient attribute is not stored")
        }
        if attribute.derivationExpression != nil {
            throw wrong(name, "a derived attribute is computed from others")
        }
        let fits =
            switch rule {
            case .keep, .fillNil, .newest: true
            case .maximum, .minimum:
                attribute.type != .transformable && attribute.type != .composite
            case .sum:
                [.integer16, .integer32, .integer64, .decimal, .double, .float]
                    .contains(attribute.type)
            case .union: false
            }
        if !fits { throw wrong(name, "an attribute of its type has no \(rule.word)") }
    }

    /// An attribute whose values have an order.
    private func checkOrder(_ name: String) throws(StoreError) {
        let column = try column(name)
        switch entity.columns[column].kind {
        case .attribute(let type) where type != .transformable && type != .binary: return
        default: throw wrong(name, "its values have no order")
        }
    }

    private func column(_ name: String) throws(StoreError) -> Int {
        guard let column = entity.columnIndex(named: name) else {
            throw wrong(
                name, "the entity has no such attribute or to-one relationship that is stored")
        }
        return column
    }

    private func wrong(_ key: String?, _ words: String) -> StoreError {
        StoreError(.invalidRequest, words, context: .init(entity: entity.name, key: key))
    }
}

extension FoldingRule {
    fileprivate var word: String {
        switch self {
        case .keep: "value to keep"
        case .fillNil: "nil to fill"
        case .newest: "newest value"
        case .maximum: "greatest value"
        case .minimum: "least value"
        case .sum: "sum"
        case .union: "union"
        }
    }
}
