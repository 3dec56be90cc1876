// Whether a request about duplicates says what the model has.

import CairnModel
import CairnStore

/// Looks a request about duplicates through before anything is read.
struct DuplicateTerms {
    private let entity: SchemaEntity

    init(_ entity: SchemaEntity) { self.entity = entity }

    func check(_ request: DeduplicationRequest) throws(StoreError) {
        if request.keys.isEmpty { throw wrong(nil, "a key needs at least one attribute") }
        var columns: Set<Int> = []
        for name in request.keys {
            let column = try column(name)
            if !columns.insert(column).inserted { throw wrong(name, "it is in the key twice") }
            if case .attribute(.transformable) = entity.columns[column].kind {
                throw wrong(name, "a transformable attribute cannot be compared")
            }
        }
        if request.rule == .nullKey, columns.allSatisfy({ !entity.columns[$0].canBeCleared }) {
            throw wrong(
                request.keys.joined(separator: ", "),
                "the key is required or derived, so nullKey cannot set any part of it to nil")
        }
        if request.rule == .nullKey, request.includesNil {
            throw wrong(
                request.keys.joined(separator: ", "),
                "nullKey sets keys to nil, but includesNil treats nil as a key: choose another rule"
            )
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
                throw wrong(nil, "merging requires a rule that chooses the surviving object")
            default: try check(into, keys: keys)
            }
            for (name, rule) in rules.inKeyOrder() {
                if keys.contains(name) {
                    throw wrong(name, "it is part of the key, so all objects have the same value")
                }
                try check(rule, name)
            }
        }
    }

    private func check(_ rule: FoldingRule, _ name: String) throws(StoreError) {
        if let (key, words) = entity.problem(of: rule, for: name) { throw wrong(key, words) }
    }

    /// An attribute whose values have an order.
    private func checkOrder(_ name: String) throws(StoreError) {
        if let words = entity.problem(ofOrder: name) { throw wrong(name, words) }
    }

    private func column(_ name: String) throws(StoreError) -> Int {
        guard let column = entity.columnIndex(named: name) else {
            throw wrong(
                name, "the entity has no stored attribute or to-one relationship of this name")
        }
        return column
    }

    private func wrong(_ key: String?, _ words: String) -> StoreError {
        StoreError(.invalidRequest, words, context: .init(entity: entity.name, key: key))
    }
}
