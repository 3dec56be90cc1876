// Checks that the entities of a schema frame are consistent.
// Format 70, F-703 to F-708, F-712, F-713, F-716 to F-718
//
//   1. Ids and names of entities are unique, parents exist and are in the same tree.
//   2. Ids and names of properties are unique in each entity, and an id refers to one property in a tree.
//   3. Kinds, columns and targets are consistent; constraints name properties.

enum SchemaCheck {
    static func check(_ entities: [SchemaDocumentEntity]) throws(FormatError) {
        var byID: [UInt32: SchemaDocumentEntity] = [:]
        var names: Set<[UInt8]> = []
        for entity in entities {
            guard entity.id != 0, entity.tree != 0,
                byID.updateValue(entity, forKey: entity.id) == nil,
                names.insert(Array(entity.name.utf8)).inserted
            else { throw wrong("F-703", "two entities have the same id or name", entity.id) }
        }
        let trees = Set(entities.map(\.tree))
        var properties: [PropertyKey: SchemaDocumentProperty] = [:]
        for entity in entities {
            try checkParents(of: entity, byID)
            try checkProperties(of: entity, trees)
            for property in entity.properties {
                let key = PropertyKey(tree: entity.tree, id: property.id)
                if let known = properties.updateValue(property, forKey: key),
                    known.kind != property.kind
                {
                    throw wrong("F-704", "a property id has two meanings in its tree", property.id)
                }
            }
            try checkPairs(entity)
        }
    }

    /// Checks that the data about earlier versions are consistent with the rest.
    static func check(
        _ next: SchemaDocumentNumbers?, of entities: [SchemaDocumentEntity], version: UInt32
    ) throws(FormatError) {
        for entity in entities {
            for property in entity.properties {
                var pasts = property.nils ?? []
                for (past, after) in zip(pasts, pasts.dropFirst()) where past.before >= after.before
                {
                    throw wrong("F-717", "the versions of a property do not rise", property.id)
                }
                if let initial = property.initial { pasts.append(initial) }
                guard pasts.allSatisfy({ $0.fits(property.kind.column) }) else {
                    throw wrong(
                        "F-717", "an earlier initial value does not fit its column", property.id)
                }
                guard pasts.allSatisfy({ $0.before > 1 && $0.before <= version }) else {
                    throw wrong("F-717", "an earlier version is not below this one", property.id)
                }
                if next == nil, !pasts.isEmpty {
                    throw wrong(
                        "F-716", "a schema without a past has earlier initial values", property.id)
                }
            }
        }
        guard let next else { return }
        guard entities.allSatisfy({ $0.id < next.entity && $0.tree < next.tree }) else {
            throw wrong("F-718", "the next number is not above those in use", next.entity)
        }
        var properties: [UInt32: UInt32] = [:]
        for tree in next.properties {
            guard properties.updateValue(tree.next, forKey: tree.tree) == nil else {
                throw wrong("F-718", "a tree has two next properties", tree.tree)
            }
        }
        for entity in entities {
            guard let next = properties[entity.tree], entity.properties.allSatisfy({ $0.id < next })
            else {
                throw wrong("F-718", "the next number is not above those in use", entity.tree)
            }
        }
    }

    private struct PropertyKey: Hashable {
        let tree: UInt32
        let id: UInt32
    }

    private static func checkParents(
        of entity: SchemaDocumentEntity, _ byID: [UInt32: SchemaDocumentEntity]
    ) throws(FormatError) {
        var ancestor = entity
        for _ in 0..<byID.count {
            guard let parent = ancestor.parent else { return }
            guard let next = byID[parent], next.tree == entity.tree else {
                throw wrong("F-703", "a parent is not an entity of the same tree", entity.id)
            }
            ancestor = next
        }
        throw wrong("F-703", "the parents of an entity do not end at a root", entity.id)
    }

    private static func checkProperties(of entity: SchemaDocumentEntity, _ trees: Set<UInt32>)
        throws(FormatError)
    {
        var ids: Set<UInt32> = []
        var names: Set<[UInt8]> = []
        for property in entity.properties {
            guard property.id != 0, property.id < FormatLimits.firstHiddenProperty,
                ids.insert(property.id).inserted, names.insert(Array(property.name.utf8)).inserted
            else {
                throw wrong(
                    "F-704", "two properties have the same id or name, or an id is impossible",
                    property.id)
            }
            guard property.column == property.kind.column.name else {
                throw wrong(
                    "F-705", "the column does not have the kind of its property", property.id)
            }
            if property.kind == .reference {
                guard let target = property.target, trees.contains(target) else {
                    throw wrong("F-706", "a reference has no target", property.id)
                }
            }
        }
        for name in entity.constraints.joined() where !names.contains(Array(name.utf8)) {
            throw wrong("F-708", "a constraint names something that is not a property", entity.id)
        }
        let texts = Set(entity.properties.filter { $0.kind == .string }.map { Array($0.name.utf8) })
        for rule in entity.rules ?? [] {
            guard !rule.names.isEmpty, rule.names.allSatisfy({ names.contains(Array($0.utf8)) })
            else {
                throw wrong(
                    "F-712",
                    "a constraint with options names no property, or something that is not one",
                    entity.id)
            }
            if rule.ignoresCase || rule.ignoresDiacritics {
                guard rule.names.contains(where: { texts.contains(Array($0.utf8)) }) else {
                    throw wrong(
                        "F-713", "a constraint that ignores case or accents has no string",
                        entity.id)
                }
            }
        }
    }

    private static func checkPairs(_ entity: SchemaDocumentEntity) throws(FormatError) {
        guard entity.hidden else { return }
        for name in ["source", "destination"] {
            guard entity.properties.contains(where: { $0.name == name && $0.kind == .reference })
            else { throw wrong("F-707", "a pair lacks its source or destination", entity.id) }
        }
    }

    private static func wrong(_ rule: String, _ what: String, _ found: UInt32) -> FormatError {
        FormatError(.malformed, rule, what, found: UInt64(found))
    }
}
