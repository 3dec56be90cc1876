// Delete rules.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Deleting")
struct DeletingTests {
    @Test("A cascade reaches any depth, circles too", arguments: Backend.allCases)
    func cascade(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let p = (0..<5).map { context.make("Person", ["name": "\($0)"]) }
            p[1]["parent"] = p[0]
            p[2]["parent"] = p[1]
            p[0]["parent"] = p[2]
            p[3]["parent"] = p[2]
            return p
        }
        let context = stack.context()
        context.delete(context.object(with: ids[0]))
        context.processPendingChanges()
        #expect(context.deletedObjects.count == 4)
        try context.save()
        #expect(try stack.context().all("Person").map(\.objectID) == [ids[4]])
    }

    @Test("Nullify clears the other side, at once in memory", arguments: Backend.allCases)
    func nullify(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let p = (0..<3).map { context.make("Person", ["name": "\($0)"]) }
            p[0]["spouse"] = p[1]
            p[0]["friends"] = [p[1], p[2]]
            p[0]["passport"] = context.make("Passport", ["number": 1])
            return p
        }
        let context = stack.context()
        let p = ids.map { context.object(with: $0) }
        #expect(p[1].members("friends") == [p[0]])
        context.delete(p[0])
        context.processPendingChanges()
        #expect(p[1]["spouse"] == nil && p[1].members("friends").isEmpty)
        #expect(p[0].members("friends").isEmpty && p[0]["passport"] == nil)
        try context.save()
        let fresh = stack.context()
        #expect(try fresh.all("Passport")[0]["holder"] == nil)
        #expect(fresh.object(with: ids[2]).members("friends").isEmpty)
    }

    @Test(
        "Deny fails the save with 1600 until the blockers are deleted too (B055)",
        arguments: Backend.allCases)
    func deny(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let sales = context.make("Department", ["name": "Sales"])
            return [sales, context.make("Person", ["name": "a", "department": sales])]
        }
        let context = stack.context()
        let (sales, person) = (context.object(with: ids[0]), context.object(with: ids[1]))
        context.delete(sales)
        let error = storeError { try context.save() }
        #expect(error?.code == .deleteDenied && error?.context.key == "employees")
        #expect(sales.isDeleted, "the deletion is still pending")
        context.delete(person)
        try context.save()
        #expect(try stack.context().count("Department") == 0)
        #expect(try stack.context().count("Person") == 0)
    }

    @Test("Deny is lifted when the blocker goes elsewhere", arguments: Backend.allCases)
    func denyLifted(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let sales = context.make("Department", ["name": "Sales"])
            return [sales, context.make("Person", ["name": "a", "department": sales])]
        }
        let context = stack.context()
        context.object(with: ids[1])["department"] = nil
        context.delete(context.object(with: ids[0]))
        try context.save()
        #expect(try stack.context().count("Department") == 0)
    }

    @Test(
        "A mandatory other side fails with 1570 unless it is deleted too",
        arguments: Backend.allCases)
    func mandatory(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let sales = context.make("Department", ["name": "Sales"])
            return [sales, context.make("Desk", ["number": 1, "department": sales])]
        }
        let context = stack.context()
        context.delete(context.object(with: ids[0]))
        let error = storeError { try context.save() }
        #expect(error?.code == .missingMandatory && error?.context.entity == "Desk")
        context.delete(context.object(with: ids[1]))
        try context.save()
        #expect(try stack.context().count("Desk") == 0)
    }

    @Test("References without an inverse are cleared, read or not", arguments: Backend.allCases)
    func oneWay(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let p = (0..<3).map { context.make("Person", ["name": "\($0)"]) }
            for other in p.dropFirst() {
                other["mentor"] = p[0]
                other["heroes"] = [p[0]]
            }
            return p
        }
        let context = stack.context()
        let read = context.object(with: ids[1])
        #expect(read.members("heroes").count == 1)
        context.delete(context.object(with: ids[0]))
        try context.save()
        #expect(read["mentor"] == nil && read.members("heroes").isEmpty)
        let fresh = stack.context()
        for id in ids.dropFirst() {
            #expect(fresh.object(with: id)["mentor"] == nil)
            #expect(fresh.object(with: id).members("heroes").isEmpty)
        }
    }

    @Test(
        "No action leaves the other side alone: it keeps pointing at what is not there",
        arguments: Backend.allCases)
    func noAction(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let sales = context.make("Department", ["name": "Sales"])
            return [sales, context.make("Sign", ["text": "t", "department": sales])]
        }
        let context = stack.context()
        context.delete(context.object(with: ids[0]))
        try context.save()
        let fresh = stack.context()
        let sign = fresh.object(with: ids[1])
        #expect(sign.objectIDs(forRelationshipNamed: "department") == [ids[0]])
        let gone = try #require(sign.object("department"))
        #expect(gone["name"] == nil && gone.isDeleted)
        sign["department"] = nil
        try fresh.save()
    }

    @Test(
        "No action leaves a deleted object where it was, be that read before it was deleted or after",
        arguments: Backend.allCases)
    func noActionBeforeSave(_ backend: Backend) throws {
        for (isToMany, isOrdered, rule) in [
            (true, false, DeleteRule.noAction), (true, true, .noAction), (false, false, .noAction),
            (false, true, .noAction), (true, false, .deny),
        ] {
            // The members of `previous` go with `next`, whose rule says nothing.
            var previous = RelationshipDescription(
                "previous", to: "Node", toMany: true, inverse: "next", deleteRule: .nullify)
            previous.isOrdered = isOrdered
            let node = EntityDescription(
                "Node", attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription(
                        "next", to: "Node", toMany: isToMany, inverse: "previous",
                        deleteRule: rule), previous,
                ])
            let stack = try Stack(ManagedObjectModel(entities: [node]), backend)
            let ids = try stack.store { context in
                let nodes = (0..<3).map { context.make("Node", ["name": "\($0)"]) }
                nodes[2]["previous"] = [nodes[0], nodes[1]]
                return nodes
            }
            for isReadBefore in [true, false] {
                let context = stack.context()
                let nodes = ids.map { context.object(with: $0) }
                func previous(_ context: ManagedObjectContext) -> Set<String> {
                    let members = context.object(with: ids[2])["previous"]
                    let set = members as? Set<ManagedObject>
                    let all = set ?? Set(members as? [ManagedObject] ?? [])
                    return Set(all.compactMap { $0.string("name") })
                }
                if isReadBefore { #expect(previous(context) == ["0", "1"]) }
                context.delete(nodes[1])
                context.processPendingChanges()
                #expect(previous(context) == ["0", "1"], "\(isToMany) \(isOrdered) \(rule)")
                context.rollback()
                #expect(previous(context) == ["0", "1"])
                if isReadBefore || rule == .deny { continue }
                context.delete(nodes[1])
                context.processPendingChanges()
                #expect(previous(context) == ["0", "1"])
                nodes[2]["name"] = "changed"
                try context.save()
                #expect(previous(context) == ["0"])
                #expect(previous(stack.context()) == ["0"])
            }
        }
    }

    @Test(
        "A reference that another context stored meanwhile does not lead to the dead",
        arguments: Backend.allCases)
    func race(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let shop = try stack.store { [$0.make("Shop", ["name": "s"])] }[0]
        let (one, other) = (stack.context(), stack.context())
        let product = one.make("Product", ["shop": one.object(with: shop)])
        other.delete(other.object(with: shop))
        try other.save()
        try one.save()
        #expect(product["shop"] == nil)
        #expect(
            try stack.context().all("Product").first?.objectIDs(forRelationshipNamed: "shop") == [])
    }

    @Test("A deletion that is rolled back restores both sides", arguments: Backend.allCases)
    func rollback(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let p = (0..<2).map { context.make("Person", ["name": "\($0)"]) }
            p[0]["spouse"] = p[1]
            p[0]["friends"] = [p[1]]
            p[1]["heroes"] = [p[0]]
            return p
        }
        let context = stack.context()
        let p = ids.map { context.object(with: $0) }
        #expect(p[1].members("friends") == [p[0]] && p[1].members("heroes") == [p[0]])
        context.delete(p[0])
        context.processPendingChanges()
        context.rollback()
        #expect(p[1].object("spouse") === p[0] && p[1].members("friends") == [p[0]])
        #expect(p[1].members("heroes") == [p[0]] && !p[0].isDeleted)
    }

    @Test(
        "Members that were read while one of them was deleted are all there once that is taken back",
        arguments: Backend.allCases, ["rollback", "refresh", "undo"])
    func readMeanwhile(_ backend: Backend, _ way: String) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            (0..<2).map { context.make("Person", ["name": "\($0)"]) }
        }
        let context = stack.context()
        context.undoHistory = UndoHistory()
        let p = ids.map { context.object(with: $0) }
        context.delete(p[0])
        context.processPendingChanges()
        // What others have made to lead to it is no change here that would be taken back.
        let other = stack.context()
        other.object(with: ids[1])["heroes"] = [other.object(with: ids[0])]
        try other.save()
        #expect(p[1].members("heroes").isEmpty)
        switch way {
        case "rollback": context.rollback()
        case "refresh": context.refresh(p[0], mergeChanges: false)
        default: context.undo()
        }
        #expect(!p[0].isDeleted && p[1].members("heroes") == [p[0]])
    }
}
