// The version hashes of a model, which cover exactly what affects stored objects.
//
//   attribute     name, type, optional, transient, what it is derived from, the elements of a composite
//   relationship  name, destination, inverse, optional, transient, to-many, ordered, least and greatest number
//   entity        name, abstract, superentity, its properties, its uniqueness constraints with their options
//   each          its hash modifier
//
// Not in it: orders, of entities, properties, constraints and the names in a constraint; default values, limits and other
// validation; delete rules; indexes, fetched properties, templates and configurations; classes, transformers and how values
// are kept; renaming identifiers, which tell what something was and not what it is; information for people.
//
// What is hashed is made of texts with their lengths before them, so that no two descriptions give the same bytes. It is the
// same in every process and on every machine, and must stay what it is: stores will keep it.
//
// Threads: values.

public import FoundationEssentials

extension AttributeDescription {
    /// Identifies the version of the attribute. Attributes that are stored alike have the same hash.
    public var versionHash: Data { VersionHash.hash { $0.add(self) } }
}

extension RelationshipDescription {
    /// Identifies the version of the relationship. Relationships that are stored alike have the same hash.
    public var versionHash: Data { VersionHash.hash { $0.add(self) } }
}

extension EntityDescription {
    /// Identifies the version of the entity. Entities that are stored alike have the same hash, in whatever order they
    /// declare their properties.
    ///
    /// It covers what the entity itself declares, including its uniqueness constraints and the name of its superentity.
    /// ``ManagedObjectModel/entityVersionHashesByName`` also covers what it inherits.
    public var versionHash: Data { VersionHash.hash { $0.add(self) } }
}

extension ManagedObjectModel {
    /// Identifies the version of each entity, by name: the entity's ``EntityDescription/versionHash``, combined with the
    /// superentity's if it has one.
    ///
    /// So a change in an entity changes its hash and those of the entities that inherit from it, and no others.
    ///
    /// - Complexity: O(size of the model).
    public var entityVersionHashesByName: [String: Data] {
        let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
        var hashes: [String: Data] = [:]
        for entity in entities where hashes[entity.name] == nil {
            // From the root down; a model that has not been checked may lead in a circle, or nowhere.
            var line: [EntityDescription] = []
            var next: EntityDescription? = entity
            while let one = next, hashes[one.name] == nil,
                !line.contains(where: { $0.name == one.name })
            {
                line.append(one)
                next = one.superentityName.flatMap { byName[$0] }
            }
            var above = next.flatMap { hashes[$0.name] }
            for one in line.reversed() {
                let own = resolved(one).versionHash
                let hash = above.map { above in
                    VersionHash.hash {
                        $0.add(own)
                        $0.add(above)
                    }
                }
                above = hash ?? own
                hashes[one.name] = above
            }
        }
        return hashes
    }

    /// Identifies the version of the whole model: models that are stored alike have the same checksum. It is a short string
    /// that people can read and that can serve as a name.
    public var versionChecksum: String {
        let hashes = entityVersionHashesByName.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
        return VersionHash.hash { hash in
            for (name, entity) in hashes {
                hash.add(name)
                hash.add(entity)
            }
        }.base64EncodedString()
    }

    /// An entity with the elements of its composites, where those stand in the model.
    private func resolved(_ entity: EntityDescription) -> EntityDescription {
        var entity = entity
        for index in entity.attributes.indices {
            entity.attributes[index] = resolved(entity.attributes[index], depth: 0)
        }
        return entity
    }

    private func resolved(_ attribute: AttributeDescription, depth: Int) -> AttributeDescription {
        // Deeper than that a model leads in a circle.
        guard attribute.type == .composite, depth < 32 else { return attribute }
        var attribute = attribute
        if attribute.elements.isEmpty, let name = attribute.compositeName {
            attribute.elements = composites.first { $0.name == name }?.elements ?? []
        }
        attribute.elements = attribute.elements.map { resolved($0, depth: depth + 1) }
        return attribute
    }
}

/// A hash that descriptions are added to.
private struct VersionHash {
    private var hash = SHA256()

    /// The hash of what a closure adds.
    static func hash(_ body: (inout VersionHash) -> Void) -> Data {
        var hash = VersionHash()
        // Another one if what is hashed should ever change.
        hash.add("cairn version 1")
        body(&hash)
        return Data(hash.hash.bytes())
    }

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    mutating func add(_ bytes: some Collection<UInt8>) {
        add(bytes.count)
        Array(bytes).withUnsafeBytes { hash.add($0) }
    }

    private mutating func add(_ number: Int) {
        withUnsafeBytes(of: Int64(number).littleEndian) { hash.add($0) }
    }

    private mutating func add(_ text: String?) {
        add(text == nil ? 0 : 1)
        if let text { add(text) }
    }

    private mutating func add(_ flags: [Bool]) { for flag in flags { add(flag ? 1 : 0) } }

    /// Adds hashes in an order of their own.
    private mutating func add(unordered hashes: [Data]) {
        add(hashes.count)
        for hash in hashes.sorted(by: { $0.lexicographicallyPrecedes($1) }) { add(hash) }
    }

    mutating func add(_ attribute: AttributeDescription) {
        add("attribute")
        add(attribute.name)
        add(attribute.type.rawValue)
        add([attribute.isOptional, attribute.isTransient])
        add(attribute.derivationExpression)
        add(unordered: attribute.elements.map(\.versionHash))
        add(attribute.versionHashModifier)
    }

    mutating func add(_ relationship: RelationshipDescription) {
        add("relationship")
        add(relationship.name)
        add(relationship.destinationEntityName)
        add(relationship.inverseName)
        add([
            relationship.isOptional, relationship.isTransient, relationship.isToMany,
            relationship.isOrdered,
        ])
        add(relationship.minimumCount)
        // Of a to-one relationship it says nothing.
        add(relationship.isToMany ? relationship.maximumCount : 1)
        add(relationship.versionHashModifier)
    }

    mutating func add(_ entity: EntityDescription) {
        add("entity")
        add(entity.name)
        add(entity.superentityName)
        add([entity.isAbstract])
        add(
            unordered: entity.attributes.map(\.versionHash)
                + entity.relationships.map(\.versionHash))
        let plain = entity.uniquenessRules.filter(\.isPlain).map(\.names)
        let constraints = Set((entity.uniquenessConstraints + plain).map { Set($0) })
        add(
            unordered: constraints.map { names in
                Self.hash { hash in
                    hash.add("unique")
                    for name in names.sorted(by: {
                        $0.utf8.lexicographicallyPrecedes($1.utf8)
                    }) { hash.add(name) }
                }
            })
        // What has no constraints with options has the hash that it had before there were any.
        let rules = Set(entity.uniquenessRules.filter { !$0.isPlain }.map(Self.hash))
        if !rules.isEmpty { add(unordered: Array(rules)) }
        add(entity.versionHashModifier)
    }

    private static func hash(_ rule: UniquenessRule) -> Data {
        hash { hash in
            hash.add("unique with options")
            for name in Set(rule.names).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                hash.add(name)
            }
            hash.add(rule.predicate?.predicateFormat)
            hash.add([rule.nilsAreEqual, rule.isCaseInsensitive, rule.isDiacriticInsensitive])
        }
    }
}
