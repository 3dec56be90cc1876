// The members of relationships as something to be changed in place: what it costs, and what becomes of owners that are gone.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Members that are changed in place")
struct ContextMemberTests {
    private func stack(_ backend: Backend) throws -> (Stack, [ObjectID]) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            let tag = context.make("Tag", ["label": "red"])
            return [shop, tag]
                + (0..<4).map {
                    context.make("Product", ["serialCode": "\($0)", "shop": $0 < 2 ? shop : nil])
                }
        }
        return (stack, ids)
    }

    @Test(
        "Counting and asking for members agree with the members, however they are known",
        arguments: Backend.allCases)
    func counts(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        for looksBefore in [false, true] {
            let context = stack.context()
            let shop = context.object(with: ids[0])
            let products = ids[2...].map { context.object(with: $0) }
            if looksBefore { #expect(shop.members("products").count == 2) }
            let members = shop.mutableSetValue(forKey: "products")
            func check(_ expected: Set<ManagedObject>) {
                #expect(members.count == expected.count && members.objects == expected)
                for product in products {
                    #expect(members.contains(product) == expected.contains(product))
                }
            }
            check([products[0], products[1]])
            #expect(members.remove(products[0]) && !members.remove(products[0]))
            check([products[1]])
            #expect(members.insert(products[2]) && !members.insert(products[2]))
            check([products[1], products[2]])
            #expect(members.insert(products[0]))
            check([products[0], products[1], products[2]])
            members.removeAll()
            #expect(members.isEmpty)
            check([])
            context.rollback()
        }
    }

    @Test("To an object that is gone nothing is added", arguments: Backend.allCases)
    func goneOwner(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        let (context, other) = (stack.context(), stack.context())
        let (shop, product) = (context.object(with: ids[0]), context.object(with: ids[4]))
        other.delete(other.object(with: ids[0]))
        try other.save()
        #expect(shop.string("name") == nil && shop.isDeleted)
        let members = shop.mutableSetValue(forKey: "products")
        #expect(!members.insert(product))
        members.formUnion([product])
        #expect(members.isEmpty && product.object("shop") == nil && !context.hasChanges)
    }

    @Test(
        "A context above others asks no store for what they begin with",
        arguments: Backend.allCases)
    func children(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        let counting = CountingStore(stack.store)
        let parent = ManagedObjectContext(store: counting, classes: stack.container.classes)
        let before = counting.snapshots
        let child = parent.newChildContext()
        child.refreshAllObjects()
        child.reset()
        #expect(counting.snapshots == before)
        #expect(child.object(with: ids[1]).string("label") == "red")
    }
}
