// Random models that are right in themselves, and the same said in another order.

import CairnModel
import CairnTestSupport

/// A model for random tests.
///
/// Names of properties are unique over the whole model, so that they may move, and change names, without meeting others.
struct RandomModel {
    var model: ManagedObjectModel

    /// A model of up to seven entities.
    init(_ random: inout RandomSource) {
        var entities: [EntityDescription] = []
        let count = Int.random(in: 1...7, using: &random)
        for number in 0..<count {
            var entity = EntityDescription("E\(number)")
            if number > 0, random.oneIn(2) {
                entity.superentityName = "E\(Int.random(in: 0..<number, using: &random))"
            }
            entity.isAbstract = random.oneIn(5)
            for index in 0..<Int.random(in: 0...4, using: &random) {
                entity.attributes.append(Self.attribute("a\(number)_\(index)", &random))
            }
            let keys = entity.attributes.filter { $0.type == .string || $0.type == .integer32 }
            if let key = keys.randomElement(using: &random), random.oneIn(2) {
                entity.uniquenessConstraints.append([key.name])
            }
            if keys.count > 1, random.oneIn(2) {
                entity.uniquenessConstraints.append(keys.map(\.name))
            }
            if let indexed = entity.attributes.randomElement(using: &random), random.oneIn(2) {
                entity.indexes.append(.init("i\(number)", elements: [.init(indexed.name)]))
            }
            entities.append(entity)
        }
        for number in 0..<Int.random(in: 0...5, using: &random) {
            let from = Int.random(in: 0..<count, using: &random)
            let to = Int.random(in: 0..<count, using: &random)
            var there = RelationshipDescription(
                "r\(number)", to: "E\(to)", toMany: Bool.random(using: &random))
            there.isOrdered = there.isToMany && random.oneIn(3)
            guard random.oneIn(3) else {
                there.inverseName = "b\(number)"
                var back = RelationshipDescription(
                    "b\(number)", to: "E\(from)", toMany: Bool.random(using: &random),
                    inverse: "r\(number)")
                back.isOrdered = back.isToMany && random.oneIn(3)
                entities[from].relationships.append(there)
                entities[to].relationships.append(back)
                continue
            }
            entities[from].relationships.append(there)
        }
        model = ManagedObjectModel(entities: entities)
    }

    private static func attribute(_ name: String, _ random: inout RandomSource)
        -> AttributeDescription
    {
        let types: [(AttributeType, Value)] = [
            (.string, .string("x")), (.integer16, .integer(1)), (.integer32, .integer(2)),
            (.float, .float(0.5)), (.boolean, .boolean(true)), (.uuid, .null),
        ]
        let (type, standard) = types[Int.random(in: 0..<types.count, using: &random)]
        let hasDefault = random.oneIn(2) && !standard.isNull
        return AttributeDescription(
            name, type, optional: !hasDefault || random.oneIn(2),
            default: hasDefault ? standard : .null)
    }

    /// The same model in another order.
    static func shuffled(_ model: ManagedObjectModel, _ random: inout RandomSource)
        -> ManagedObjectModel
    {
        var model = model
        model.entities.shuffle(using: &random)
        for index in model.entities.indices {
            model.entities[index].attributes.shuffle(using: &random)
            model.entities[index].relationships.shuffle(using: &random)
            model.entities[index].uniquenessConstraints.shuffle(using: &random)
            for place in model.entities[index].uniquenessConstraints.indices {
                model.entities[index].uniquenessConstraints[place].shuffle(using: &random)
            }
        }
        return model
    }

    // MARK: Renaming

    /// Gives some entities and properties other names, also those that others had, and says so by renaming identifiers.
    mutating func rename(_ random: inout RandomSource) {
        renameEntities(Self.names(model.entities.map(\.name), &random))
        for index in model.entities.indices {
            let attributes = Self.names(model.entities[index].attributes.map(\.name), &random)
            for place in model.entities[index].attributes.indices {
                let old = model.entities[index].attributes[place].name
                guard let new = attributes[old] else { continue }
                model.entities[index].attributes[place].name = new
                model.entities[index].attributes[place].renamingIdentifier = old
            }
            model.entities[index].uniquenessConstraints =
                model.entities[index].uniquenessConstraints.map { $0.map { attributes[$0] ?? $0 } }
            for place in model.entities[index].indexes.indices {
                for element in model.entities[index].indexes[place].elements.indices {
                    let old = model.entities[index].indexes[place].elements[element].propertyName
                    model.entities[index].indexes[place].elements[element].propertyName =
                        old.map { attributes[$0] ?? $0 }
                }
            }
        }
        let relationships = Self.names(
            model.entities.flatMap { $0.relationships.map(\.name) }.filter { _ in random.oneIn(2) },
            &random, permute: false)
        for index in model.entities.indices {
            for place in model.entities[index].relationships.indices {
                var relationship = model.entities[index].relationships[place]
                relationship.inverseName = relationship.inverseName.map { relationships[$0] ?? $0 }
                if let new = relationships[relationship.name] {
                    relationship.renamingIdentifier = relationship.name
                    relationship.name = new
                }
                model.entities[index].relationships[place] = relationship
            }
        }
    }

    private mutating func renameEntities(_ names: [String: String]) {
        for index in model.entities.indices {
            var entity = model.entities[index]
            entity.superentityName = entity.superentityName.map { names[$0] ?? $0 }
            for place in entity.relationships.indices {
                let name = entity.relationships[place].destinationEntityName
                entity.relationships[place].destinationEntityName = names[name] ?? name
            }
            if let new = names[entity.name] {
                entity.renamingIdentifier = entity.name
                entity.name = new
            }
            model.entities[index] = entity
        }
    }

    /// New names for some: fresh ones, and those of others in a circle.
    private static func names(
        _ names: [String], _ random: inout RandomSource, permute: Bool = true
    ) -> [String: String] {
        var result: [String: String] = [:]
        if permute, names.count > 1, random.oneIn(2) {
            let chosen = names.shuffled(using: &random).prefix(
                Int.random(in: 2...names.count, using: &random))
            for (one, next) in zip(chosen, chosen.dropFirst() + chosen.prefix(1)) {
                result[one] = next
            }
        }
        for name in names where result[name] == nil && random.oneIn(4) {
            result[name] = name + "new"
        }
        return result
    }

    // MARK: Other changes

    /// Changes something at random.
    mutating func change(_ random: inout RandomSource) {
        let index = Int.random(in: model.entities.indices, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: model.entities.append(EntityDescription("N\(model.entities.count)"))
        case 1:
            let name = "n\(model.entities[index].attributes.count)_\(index)"
            if !model.entities.contains(where: { $0.attributes.contains { $0.name == name } }) {
                model.entities[index].attributes.append(Self.attribute(name, &random))
            }
        case 2:
            guard let gone = model.entities[index].attributes.popLast() else { return }
            model.entities[index].uniquenessConstraints.removeAll { $0.contains(gone.name) }
            model.entities[index].indexes.removeAll {
                $0.elements.contains { $0.propertyName == gone.name }
            }
        case 3:
            let names = model.entities[index].attributes.map(\.name)
            if let name = names.randomElement(using: &random) {
                model.entities[index].uniquenessConstraints.append([name])
            }
        case 4: model.entities[index].uniquenessConstraints = []
        case 5:
            for place in model.entities[index].attributes.indices {
                if model.entities[index].attributes[place].type == .integer16 {
                    model.entities[index].attributes[place].type = .integer32
                    model.entities[index].attributes[place].defaultValue = .null
                    model.entities[index].attributes[place].isOptional = true
                }
            }
        case 6:
            for place in model.entities[index].relationships.indices {
                model.entities[index].relationships[place].isToMany.toggle()
                let isToMany = model.entities[index].relationships[place].isToMany
                model.entities[index].relationships[place].maximumCount = isToMany ? 0 : 1
                model.entities[index].relationships[place].isOrdered = false
            }
        case 7: model.entities[index].isAbstract.toggle()
        default:
            // An attribute moves up.
            guard let parent = model.entities[index].superentityName,
                let place = model.entities.firstIndex(where: { $0.name == parent }),
                let moved = model.entities[index].attributes.first
            else { return }
            model.entities[index].attributes.removeFirst()
            model.entities[place].attributes.append(moved)
        }
    }
}
