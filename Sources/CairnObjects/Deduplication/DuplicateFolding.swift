// What the object that stays takes over from the others of its group.
//
// Invariant: an object is never led to itself, nor to one that goes.

import CairnModel
import CairnStore
import FoundationEssentials

/// How the objects of a group become one.
struct DuplicateFolding {
    /// The rules by property; nil if attributes stay as they are.
    private let rules: [String: FoldingRule]?
    private let keys: Set<String>

    init(_ rule: DeduplicationRule, keys: Set<String>) {
        if case .merge(let rules, _) = rule { self.rules = rules } else { rules = nil }
        self.keys = keys
    }

    /// What the first object of a group takes over by its relationships.
    struct Plan {
        /// Where its to-one relationships are to lead, by their indexes.
        var targets: [(index: Int, target: ManagedObject?)] = []
        /// Where the to-many relationships of the others led, by the index that the first one has for them, and their own.
        var members: [(index: Int, loser: ManagedObject, other: Int, members: [ManagedObject])] = []
    }

    /// The to-many relationships of an entity whose members go over.
    func united(_ entity: SchemaEntity) -> [String] {
        entity.relationships.map(\.description)
            .filter { $0.isToMany && rules?[$0.name] != .keep }.map(\.name)
    }

    /// Decides where relationships are to lead. Nothing may have been changed yet, in any group.
    func plan(
        _ group: [ManagedObject], _ survivors: Deduplicator.Survivors,
        in context: ManagedObjectContext
    ) -> Plan {
        let winner = group[0]
        var plan = Plan()
        for (index, relationship) in winner.entity.relationships.enumerated() {
            let name = relationship.description.name
            let rule = rules?[name]
            if !relationship.description.isToMany {
                let target = target(
                    of: group, index, keys.contains(name) ? .keep : rule ?? .fillNil, survivors,
                    context)
                plan.targets.append((index, target))
            } else if rule != .keep {
                for loser in group.dropFirst() {
                    guard let other = loser.entity.relationshipIndex(named: name) else { continue }
                    plan.members.append((index, loser, other, context.members(of: loser, other)))
                }
            }
        }
        return plan
    }

    /// Gives the first object what the others have, and has its to-one relationships lead where they are to.
    func fold(
        _ group: [ManagedObject], _ plan: Plan, _ survivors: Deduplicator.Survivors,
        in context: ManagedObjectContext
    ) throws(StoreError) {
        let winner = group[0]
        if let rules {
            for attribute in winner.entity.attributes
            where !attribute.columns.isEmpty && attribute.description.derivationExpression == nil {
                let name = attribute.description.name
                guard !keys.contains(name) else { continue }
                try fold(attribute, rules[name] ?? .fillNil, group)
            }
        }
        for (index, target) in plan.targets where context.target(of: winner, index) !== target {
            context.setTarget(of: winner, index, target)
        }
    }

    // MARK: Attributes

    private func fold(
        _ attribute: SchemaAttribute, _ rule: FoldingRule, _ group: [ManagedObject]
    ) throws(StoreError) {
        let winner = group[0]
        switch rule {
        case .keep, .union: return
        case .fillNil:
            guard attribute.columns.allSatisfy({ winner.baseValue($0).isNull }) else { return }
            let names = attribute.columns.map { winner.entity.columns[$0].name }
            let giver = group.dropFirst().first { other in
                names.contains { !DuplicateOrder.value(of: other, $0).isNull }
            }
            if let giver { copy(attribute.columns, from: giver, to: winner) }
        case .newest(let name):
            if let newest = Self.newest(of: group, by: name), newest !== winner {
                copy(attribute.columns, from: newest, to: winner)
            }
        case .maximum, .minimum, .sum:
            for column in attribute.columns {
                let values = values(column, group)
                if values.isEmpty { continue }
                guard let value = rule.folded(values, as: attribute.description.type) else {
                    throw StoreError(
                        .invalidRequest, "the sum of the values does not fit the attribute's type",
                        context: .init(
                            entity: winner.entity.name, key: winner.entity.columns[column].name,
                            objectID: winner.objectID))
                }
                set(column, value, winner)
            }
        }
    }

    /// The object with the greatest value of an attribute, of several the first.
    private static func newest(of group: [ManagedObject], by name: String) -> ManagedObject? {
        group.enumerated().min { one, other in
            let order = DuplicateOrder.compare(
                one.element, other.element, name, isDescending: true)
            return order == 0 ? one.offset < other.offset : order < 0
        }?.element
    }

    /// The values of a column that are not nil.
    private func values(_ column: Int, _ group: [ManagedObject]) -> [Value] {
        let name = group[0].entity.columns[column].name
        return group.map { DuplicateOrder.value(of: $0, name) }.filter { !$0.isNull }
    }

    private func copy(_ columns: Range<Int>, from giver: ManagedObject, to winner: ManagedObject) {
        for column in columns {
            let name = winner.entity.columns[column].name
            guard let other = giver.entity.columnIndex(named: name) else { continue }
            set(column, giver.columnValue(other), winner)
        }
    }

    private func set(_ column: Int, _ value: Value, _ winner: ManagedObject) {
        if winner.columnValue(column) != value { winner.setColumn(column, value) }
    }

    // MARK: Relationships

    /// Where a to-one relationship of the first object is to lead.
    private func target(
        of group: [ManagedObject], _ index: Int, _ rule: FoldingRule,
        _ survivors: Deduplicator.Survivors, _ context: ManagedObjectContext
    ) -> ManagedObject? {
        let winner = group[0]
        let relationship = winner.entity.relationships[index]
        let name = relationship.description.name
        func target(_ object: ManagedObject) -> ManagedObject? {
            guard let other = object.entity.relationshipIndex(named: name),
                let target = context.target(of: object, other), !target.isGone,
                let survivor = survivors.survivor(of: target, by: relationship),
                survivor !== winner
            else { return nil }
            // One in the place of another has its own partner.
            if survivor !== target, let inverse = relationship.inverse,
                !survivor.entity.relationships[inverse].description.isToMany,
                let partner = context.target(of: survivor, inverse),
                survivors.survivor(of: partner) !== winner
            {
                return nil
            }
            return survivor
        }
        // What leads to one of the group leads nowhere.
        let own = target(winner)
        switch rule {
        case .fillNil: return own ?? group.dropFirst().lazy.compactMap(target).first
        case .newest(let name):
            return Self.newest(of: group, by: name).flatMap(target) ?? own
        default: return own
        }
    }

    /// Gives the first object the members of the others, once all to-one relationships lead where they are to.
    func unite(
        _ group: [ManagedObject], _ plan: Plan, _ survivors: Deduplicator.Survivors,
        in context: ManagedObjectContext
    ) {
        let winner = group[0]
        for (index, loser, other, members) in plan.members {
            let relationship = winner.entity.relationships[index]
            for member in members {
                // Where a member has one owner, its own group has said which.
                let isDecided =
                    survivors.isInGroup(member)
                    && relationship.inverse.map {
                        !member.entity.relationships[$0].description.isToMany
                    } ?? false
                if !isDecided,
                    let survivor = survivors.survivor(of: member, by: relationship),
                    survivor !== winner, !context.isMember(survivor.objectID, of: winner, index)
                {
                    context.link(winner, index, survivor)
                }
                // Else the loser's rule would delete what is the winner's now, or the winner.
                if context.isMember(member.objectID, of: loser, other) {
                    context.unlink(loser, other, member)
                }
            }
        }
        for (index, target) in plan.targets {
            let name = winner.entity.relationships[index].description.name
            for loser in group.dropFirst() {
                guard let other = loser.entity.relationshipIndex(named: name),
                    let left = context.target(of: loser, other)
                else { continue }
                // The same holds here.
                let survivor = survivors.survivor(of: left)
                if survivor === winner || survivor === target {
                    context.setTarget(of: loser, other, nil)
                }
            }
        }
    }
}
