// What a store must hold after it has followed its model, said a second time and in another way than the planner says it:
// object by object, by the rule of Core Data that an entity or property is the one of the same name, or of the name that its
// renaming identifier says.
//
// It knows what the steps of real models need and no more. What it does not know it reports, so that nothing passes by it.

import CairnModel
import Foundation

@testable import CairnLog

struct ExpectedContent {
    private let old: Schema
    private let new: Schema
    /// What the store held before.
    private let before: MigratedStore.Content
    /// By entity of the new schema: the old one.
    private let origins: [SchemaEntity?]

    init(from old: Schema, to new: Schema, before: MigratedStore.Content) {
        self.old = old
        self.new = new
        self.before = before
        let names = old.entities.map { Named($0.name, $0.description.renamingIdentifier) }
        origins = new.entities.map { entity in
            Named(entity.name, entity.description.renamingIdentifier).index(among: names).map {
                old.entities[$0]
            }
        }
    }

    /// A name, and the one under which another version knows it.
    private struct Named {
        let name: String
        let identifier: String

        init(_ name: String, _ identifier: String?) {
            self.name = name
            self.identifier = identifier ?? name
        }

        func index(among old: [Named]) -> Int? {
            old.firstIndex { $0.identifier == identifier && $0.name == name }
                ?? old.firstIndex { $0.identifier == identifier }
                ?? old.firstIndex { $0.name == identifier }
                ?? old.firstIndex { $0.name == name }
        }
    }

    private func origin(of attribute: SchemaAttribute, in entity: SchemaEntity) -> SchemaAttribute?
    {
        let names = entity.attributes.map {
            Named($0.description.name, $0.description.renamingIdentifier)
        }
        return Named(attribute.description.name, attribute.description.renamingIdentifier)
            .index(among: names).map { entity.attributes[$0] }
    }

    private func origin(of relationship: SchemaRelationship, in entity: SchemaEntity)
        -> SchemaRelationship?
    {
        let names = entity.relationships.map {
            Named($0.description.name, $0.description.renamingIdentifier)
        }
        return Named(relationship.description.name, relationship.description.renamingIdentifier)
            .index(among: names).map { entity.relationships[$0] }
    }

    /// What an attribute or relationship of an entity was called before; nil if it is new, or was not stored.
    func earlierName(of property: String, in entity: String) -> String? {
        guard let entity = new.entity(named: entity), let before = origins[entity.index] else {
            return nil
        }
        if let index = entity.attributeIndex(named: property) {
            let found = origin(of: entity.attributes[index], in: before)?.description
            return found.flatMap { $0.isTransient ? nil : $0.name }
        }
        guard let index = entity.relationshipIndex(named: property) else { return nil }
        let found = origin(of: entity.relationships[index], in: before)?.description
        return found.flatMap { $0.isTransient ? nil : $0.name }
    }

    /// The name that an entity had.
    func earlierName(ofEntity entity: String) -> String? {
        new.entity(named: entity).flatMap { origins[$0.index]?.name }
    }

    /// What is wrong with a store after the migration; empty if nothing is.
    func problems(_ after: MigratedStore.Content) -> [String] {
        var problems: [String] = []
        for entity in new.entities where !entity.isAbstract {
            let origin = origins[entity.index]
            let was = origin.flatMap { $0.isAbstract ? nil : before[$0.name] } ?? [:]
            let now = after[entity.name] ?? [:]
            if Set(was.keys) != Set(now.keys) {
                problems.append(
                    "\(entity.name): \(was.keys.sorted()) were there, and \(now.keys.sorted()) are")
            }
            guard let origin else { continue }
            for (number, row) in was {
                guard let values = now[number] else { continue }
                problems += compare(entity, origin, number, row, values)
                for relationship in entity.relationships
                where relationship.storage != .transient {
                    if let problem = compare(relationship, origin, number, values) {
                        problems.append("\(entity.name) \(number), \(problem)")
                    }
                }
            }
        }
        return problems
    }

    // MARK: Attributes

    private func compare(
        _ entity: SchemaEntity, _ origin: SchemaEntity, _ number: UInt64, _ was: [String: Value],
        _ now: [String: Value]
    ) -> [String] {
        var problems: [String] = []
        for attribute in entity.attributes where !attribute.columns.isEmpty {
            let description = attribute.description
            let name = description.name
            let expected = expected(attribute, origin, was)
            if description.type == .composite || description.derivationExpression != nil {
                problems.append("\(entity.name).\(name): not known here")
            } else if now[name] != expected {
                problems.append(
                    "\(entity.name) \(number), \(name): \(Self.words(now[name])) is there, \(Self.words(expected)) was to be"
                )
            }
        }
        return problems
    }

    private func expected(
        _ attribute: SchemaAttribute, _ origin: SchemaEntity, _ was: [String: Value]
    ) -> Value {
        let description = attribute.description
        guard let before = self.origin(of: attribute, in: origin), !before.columns.isEmpty else {
            return description.defaultValue
        }
        let value = was[before.description.name] ?? .null
        if value.isNull, !description.isOptional { return description.defaultValue }
        switch (value, description.type) {
        case (.boolean(let truth), .integer16), (.boolean(let truth), .integer32),
            (.boolean(let truth), .integer64):
            return .integer(truth ? 1 : 0)
        case (.float(let number), .double): return .double(Double(number))
        default: return value
        }
    }

    private static func words(_ value: Value?) -> String {
        guard let value else { return "nothing" }
        let words = "\(value)"
        return words.count > 80 ? words.prefix(80) + "…" : words
    }

    // MARK: Relationships

    private func compare(
        _ relationship: SchemaRelationship, _ origin: SchemaEntity, _ number: UInt64,
        _ now: [String: Value]
    ) -> String? {
        let name = relationship.description.name
        let found = self.members(now[name])
        let earlier = self.origin(of: relationship, in: origin).flatMap {
            $0.storage == .transient ? nil : $0
        }
        let members =
            earlier.map { kept(before[origin.name]?[number]?[$0.description.name], $0) }
            ?? turned(relationship, number)
        let wasList = earlier?.description.isToMany ?? false
        guard relationship.description.isToMany else {
            if earlier.map({ !$0.description.isToMany }) ?? true, members.count < 2 {
                // Whoever has become one of a pair may have had rivals.
                let isNewlyMatched = earlier.map {
                    keepsOne(relationship, new) && !keepsOne($0, old)
                }
                if isNewlyMatched == true { return "\(name): not known here" }
                return found == members ? nil : "\(name): \(found) instead of \(members)"
            }
            let isOne =
                members.isEmpty ? found.isEmpty : found.count == 1 && members.contains(found[0])
            return isOne ? nil : "\(name): \(found) instead of one of \(members)"
        }
        let isInOrder =
            wasList && earlier?.description.isOrdered == true && relationship.description.isOrdered
        if let earlier, wasList, keepsOne(relationship, new), !keepsOne(earlier, old) {
            // Whoever was in several lists stays in one of them.
            let places = found.compactMap { members.firstIndex(of: $0) }
            let isPart = places.count == found.count && (!isInOrder || places == places.sorted())
            return isPart ? nil : "\(name): \(found) instead of some of \(members)"
        }
        if isInOrder {
            return found == members ? nil : "\(name): \(found) instead of \(members), in this order"
        }
        return found.sorted() == members.sorted()
            ? nil : "\(name): \(found) instead of \(members), in any order"
    }

    /// Whether a member has one owner at most.
    private func keepsOne(_ relationship: SchemaRelationship, _ schema: Schema) -> Bool {
        relationship.inverse.map {
            !schema.entities[relationship.destination].relationships[$0].description.isToMany
        } ?? false
    }

    private func members(_ value: Value?) -> [UInt64] {
        switch value {
        case .string(let list): list.split(separator: " ").compactMap { UInt64($0) }
        case .integer(let number): [UInt64(number)]
        default: []
        }
    }

    /// The members of an old relationship that are still there.
    private func kept(_ value: Value?, _ relationship: SchemaRelationship) -> [UInt64] {
        members(value).filter { lives($0, relationship.destination) }
    }

    /// Whether an object of an old entity's family is still there.
    private func lives(_ number: UInt64, _ entity: Int) -> Bool {
        old.entities[entity].family.contains { index in
            before[old.entities[index].name]?[number] != nil
                && origins.contains { $0?.index == index }
        }
    }

    /// Who led to an object by what the inverse of a new relationship was.
    private func turned(_ relationship: SchemaRelationship, _ number: UInt64) -> [UInt64] {
        guard let inverse = relationship.inverse else { return [] }
        var members: [UInt64] = []
        for index in new.entities[relationship.destination].family {
            guard let origin = origins[index],
                let own = self.origin(
                    of: new.entities[index].relationships[inverse], in: origin),
                own.storage != .transient
            else { continue }
            for (holder, row) in before[origin.name] ?? [:]
            where self.members(row[own.description.name]).contains(number) {
                members.append(holder)
            }
        }
        return members
    }
}
