// What a commit is said to change in rows, beside what differs between the states before and behind it.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("What differs in the rows of commits")
struct RowChangesTests {
    /// To-many relationships of an object, by their indexes.
    private typealias Lists = [Int: [ObjectID]]

    /// A state, as whoever reads it sees it.
    private struct State {
        var rows: [ObjectID: Row] = [:]
        var lists: [ObjectID: Lists] = [:]

        init(_ stack: Stack) throws {
            let context = stack.context()
            let state = try stack.store.snapshot()
            let roots = stack.store.schema.entities.filter { $0.root == $0.index }
            let ids = try roots.flatMap { try context.all($0.name) }.map(\.objectID)
            for row in try state.rows(ids).compactMap(\.self) { rows[row.id] = row }
            for (id, row) in rows {
                let entity = stack.store.schema.entities[row.entity]
                for (index, relationship) in entity.relationships.enumerated()
                where relationship.description.isToMany {
                    let members = try state.members(
                        ofRelationship: index, entity: row.entity, owners: [id])
                    lists[id, default: [:]][index] =
                        relationship.description.isOrdered
                        ? members[0] : members[0].sorted { $0.reference < $1.reference }
                }
            }
        }
    }

    @Test(
        "All that differs is said, and of what is not ordered no more",
        arguments: Backend.allCases, RandomSource.seeds(4))
    func random(_ backend: Backend, _ seed: UInt64) throws {
        print("what differs in rows, CAIRN_SEED=\(seed)")
        var random = RandomSource(seed: seed)
        let model = random.chance(50) ? Models.people : Models.ordered
        let stack = try Stack(model, backend)
        let changes = ChangeRecorder(stack.store)
        var before = try State(stack)
        var number = 0
        for step in 0..<Campaign.count(60, whole: 20_000) {
            let context = stack.context(.mergeByPropertyObjectTrump)
            if random.chance(10) {
                let all = Array(before.rows.values).filter { _ in random.chance(10) }
                for entity in Set(all.map(\.entity)) {
                    let ids = all.filter { $0.entity == entity }.map(\.id)
                    _ = try? context.execute(BatchDeleteRequest(.ids(ids, entity: entity)))
                }
                // One after the other, each is a commit.
                before = try State(stack)
                _ = changes.take()
                continue
            }
            for _ in 0...random.below(5) { try edit(context, stack, &random, &number) }
            do { try context.save() } catch { context.rollback() }
            let after = try State(stack)
            let sets = changes.take()
            #expect(sets.count <= 1)
            if let set = sets.first {
                try compare(set, before, after, stack, "seed \(seed), step \(step)")
            }
            before = after
        }
    }

    private func edit(
        _ context: ManagedObjectContext, _ stack: Stack, _ random: inout RandomSource,
        _ number: inout Int
    ) throws {
        number += 1
        let entities = stack.store.schema.entities
        guard let entity = random.pick(entities) else { return }
        let objects = try context.all(entity.name).filter { !$0.isDeleted }
        guard objects.count > 3, let one = random.pick(objects) else {
            context.make(entity.name)
            return
        }
        if random.chance(8) {
            context.delete(one)
            return context.processPendingChanges()
        }
        let names =
            one.entity.attributes.map(\.description.name)
            + one.entity.relationships.map(\.description.name)
        guard let name = random.pick(names) else { return }
        guard let index = one.entity.relationshipIndex(named: name) else {
            let attribute = try #require(one.entity.attributeIndex(named: name))
            let isText = one.entity.attributes[attribute].description.type == .string
            one[name] = isText ? "\(number)" : number
            return
        }
        let relationship = one.entity.relationships[index]
        let others = try context.all(entities[relationship.destination].name)
            .filter { !$0.isDeleted }
        guard relationship.description.isToMany else {
            one[name] = random.chance(80) ? random.pick(others) : nil
            return
        }
        let some = others.shuffled(using: &random).prefix(random.below(5))
        if relationship.description.isOrdered {
            one[name] = random.chance(50) ? Array(some) : one.list(name).shuffled(using: &random)
        } else {
            one[name] = Set(some)
        }
    }

    private func compare(
        _ set: ChangeSet, _ before: State, _ after: State, _ stack: Stack, _ place: String
    ) throws {
        let rows = try #require(try set.rows(), "\(place)")
        let schema = stack.store.schema
        var said: [ObjectID: RowDifference] = [:]
        for (group, numbers) in rows.updated {
            for number in numbers {
                let id = stack.store.identity.id(number, entity: group.entity)
                #expect(said[id] == nil && after.rows[id]?.entity == group.entity, "\(place)")
                said[id] = group.difference
            }
        }
        #expect(Set(said.keys) == Set(try set.updatedObjectIDs()), "\(place)")
        for (id, row) in after.rows {
            guard let old = before.rows[id] else { continue }
            let entity = schema.entities[row.entity]
            var (columns, ordered) = (ColumnSet(), ColumnSet())
            for (column, description) in entity.columns.enumerated() {
                if !old.cells.isEqual(row.cells, column: column, of: entity) {
                    columns.insert(column)
                }
                if let index = description.relationship,
                    let inverse = entity.relationships[index].inverse,
                    schema.entities[entity.relationships[index].destination]
                        .relationships[inverse].description.isOrdered
                {
                    ordered.insert(column)
                }
            }
            let difference = said[id] ?? RowDifference()
            #expect(columns.subtracting(difference.columns).isEmpty, "\(id), \(place)")
            #expect(
                difference.columns.subtracting(columns).subtracting(ordered).isEmpty,
                "\(id), \(place)")
            for (index, members) in after.lists[id] ?? [:] {
                let (relationship, former) = (entity.relationships[index], before.lists[id]?[index])
                let isSaid: Bool
                if case .pairs = relationship.storage {
                    isSaid = difference.relationships.contains(index)
                } else {
                    let list = MemberList(
                        entity: relationship.declaringEntity, relationship: index)
                    isSaid = rows.owners[list]?.contains(id.reference) == true
                }
                if relationship.description.isOrdered {
                    #expect(
                        isSaid || former == members,
                        "\(relationship.description.name), \(id), \(place)")
                } else {
                    #expect(
                        isSaid == (former != members),
                        "\(relationship.description.name), \(id), \(place)")
                }
            }
        }
    }

    @Test("Of very many objects nothing is said but that they have changed")
    func tooMany() throws {
        let stack = try Stack(Models.shop, .log)
        let changes = ChangeRecorder(stack.store)
        for count in [RowChanges.mostObjects, RowChanges.mostObjects + 1] {
            let rows: [[String: Any]] = (0..<count).map { ["name": "\($0)"] }
            _ = try stack.store.execute(BatchInsertRequest(entityName: "Product", objects: rows))
            let set = try changes.one()
            #expect(try set.insertedObjectIDs().count == count)
            #expect(try (set.rows() != nil) == (count == RowChanges.mostObjects))
        }
    }
}
