// A model in the order of another one with the same names.

extension ManagedObjectModel {
    /// The same model with entities, properties and constraints in the order of another model; nil if that model has other
    /// entities. What only this model has comes last.
    package func ordered(like other: ManagedObjectModel) -> ManagedObjectModel? {
        guard entities.count == other.entities.count else { return nil }
        var model = self
        model.entities = entities.ordered(like: other.entities, \.name) { $0.ordered(like: $1) }
        return zip(model.entities, other.entities).allSatisfy { $0.name == $1.name } ? model : nil
    }
}

extension EntityDescription {
    fileprivate func ordered(like other: EntityDescription) -> EntityDescription {
        var entity = self
        entity.attributes = attributes.ordered(like: other.attributes, \.name) {
            $0.ordered(like: $1)
        }
        entity.relationships = relationships.ordered(like: other.relationships, \.name) { one, _ in
            one
        }
        entity.uniquenessConstraints = uniquenessConstraints.ordered(
            like: other.uniquenessConstraints, { Set($0) }
        ) { $0.count == $1.count ? $1 : $0 }
        return entity
    }
}

extension AttributeDescription {
    fileprivate func ordered(like other: AttributeDescription) -> AttributeDescription {
        var attribute = self
        attribute.elements = elements.ordered(like: other.elements, \.name) { $0.ordered(like: $1) }
        return attribute
    }
}

extension Array {
    /// Those that others have as well, in their order, and then the rest in its own.
    fileprivate func ordered<Key: Hashable>(
        like others: [Element], _ key: (Element) -> Key, _ adapted: (Element, Element) -> Element
    ) -> [Element] {
        var places: [Key: Int] = [:]
        for (place, element) in enumerated() where places[key(element)] == nil {
            places[key(element)] = place
        }
        var result: [Element] = []
        var used: Set<Int> = []
        for other in others {
            guard let place = places[key(other)], used.insert(place).inserted else { continue }
            result.append(adapted(self[place], other))
        }
        return result + indices.filter { !used.contains($0) }.map { self[$0] }
    }
}
