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

    /// Gives the first object what the others have.
    func fold(
        _ group: [ManagedObject], _ survivors: Deduplicator.Survivors,
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
        for (index, relationship) in winner.entity.relationships.enumerated() {
            let name = relationship.description.name
            if relationship.description.isToMany {
                guard rules?[name] != .keep else { continue }
                unite(index, group, survivors, context)
            } else if !keys.contains(name) {
                direct(index, rules?[name] ?? .fillNil, group, survivors, context)
            }
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
            let newest = group.enumerated().min { one, other in
                let order = DuplicateOrder.compare(
                    one.element, other.element, name, isDescending: true)
                return order == 0 ? one.offset < other.offset : order < 0
            }
            if let newest, newest.offset > 0 {
                copy(attribute.columns, from: newest.element, to: winner)
            }
        case .maximum, .minimum:
            for column in attribute.columns {
                let values = values(column, group)
                let value =
                    rule == .maximum
                    ? values.max { SortingOrder.compare($0, $1) < 0 }
                    : values.min { SortingOrder.compare($0, $1) < 0 }
                if let value { set(column, value, winner) }
            }
        case .sum:
            for column in attribute.columns {
                let values = values(column, group)
                if values.isEmpty { continue }
                guard let sum = Self.sum(values, as: attribute.description.type) else {
                    throw StoreError(
                        .invalidRequest, "the sum of the values is greater than its type can hold",
                        context: .init(
                            entity: winner.entity.name, key: winner.entity.columns[column].name,
                            objectID: winner.objectID))
                }
                set(column, sum, winner)
            }
        }
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

    /// Nil if the type cannot hold it.
    private static func sum(_ values: [Value], as type: AttributeType) -> Value? {
        var integer: Int64 = 0
        var decimal = Decimal(0)
        var double = 0.0
        for value in values {
            switch value {
            case .integer(let number):
                let (sum, isTooGreat) = integer.addingReportingOverflow(number)
                if isTooGreat { return nil }
                integer = sum
            case .decimal(let number): decimal += number
            case .double(let number): double += number
            case .float(let number): double += Double(number)
            default: return nil
            }
        }
        switch type {
        case .integer16, .integer32, .integer64: return Value.integer(integer).converted(to: type)
        case .decimal: return .decimal(decimal)
        case .float: return .float(Float(double))
        default: return .double(double)
        }
    }

    // MARK: Relationships

    private func unite(
        _ index: Int, _ group: [ManagedObject], _ survivors: Deduplicator.Survivors,
        _ context: ManagedObjectContext
    ) {
        let winner = group[0]
        let name = winner.entity.relationships[index].description.name
        for loser in group.dropFirst() {
            guard let other = loser.entity.relationshipIndex(named: name) else { continue }
            for member in context.members(of: loser, other) {
                let survivor = survivors.survivor(of: member)
                if survivor !== winner, !survivor.isDeleted, !survivor.isGone,
                    !context.isMember(survivor.objectID, of: winner, index)
                {
                    context.link(winner, index, survivor)
                }
                // Else the loser's rule would delete what is the winner's now, or the winner.
                if context.isMember(member.objectID, of: loser, other) {
                    context.unlink(loser, other, member)
                }
            }
        }
    }

    private func direct(
        _ index: Int, _ rule: FoldingRule, _ group: [ManagedObject],
        _ survivors: Deduplicator.Survivors, _ context: ManagedObjectContext
    ) {
        let winner = group[0]
        let name = winner.entity.relationships[index].description.name
        func target(_ object: ManagedObject) -> ManagedObject? {
            guard let other = object.entity.relationshipIndex(named: name),
                let target = context.target(of: object, other)
            else { return nil }
            let survivor = survivors.survivor(of: target)
            return survivor === winner || survivor.isDeleted || survivor.isGone ? nil : survivor
        }
        // What leads to one of the group leads nowhere.
        var chosen = target(winner)
        switch rule {
        case .fillNil: chosen = chosen ?? group.dropFirst().lazy.compactMap(target).first
        case .newest(let name):
            let newest = group.enumerated().min { one, other in
                let order = DuplicateOrder.compare(
                    one.element, other.element, name, isDescending: true)
                return order == 0 ? one.offset < other.offset : order < 0
            }
            chosen = newest.flatMap { target($0.element) } ?? chosen
        default: break
        }
        if context.target(of: winner, index) !== chosen {
            context.setTarget(of: winner, index, chosen)
        }
        for loser in group.dropFirst() {
            guard let other = loser.entity.relationshipIndex(named: name),
                let target = context.target(of: loser, other)
            else { continue }
            // Else the loser's rule would delete what is the winner's, or the winner.
            let survivor = survivors.survivor(of: target)
            if survivor === winner || survivor === chosen {
                context.setTarget(of: loser, other, nil)
            }
        }
    }
}
