// Edits of members that are none any more, because the parent says the same meanwhile: should it say another thing later, both
// sides show that.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Edits of members that are none any more")
struct MemberEditTests {
    private func family(_ backend: Backend) throws -> (
        parent: ManagedObjectContext, child: ManagedObjectContext, corner: ObjectID,
        market: ObjectID, product: ObjectID
    ) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let corner = context.make("Shop", ["name": "corner"])
            let product = context.make("Product", ["serialCode": "a"])
            product["shop"] = corner
            return [corner, context.make("Shop", ["name": "market"]), product]
        }
        let parent = stack.context()
        return (parent, parent.newChildContext(), ids[0], ids[1], ids[2])
    }

    @Test("Who left and came back is a member while it leads there", arguments: Backend.allCases)
    func cameBack(_ backend: Backend) throws {
        let (parent, child, corner, market, product) = try family(backend)
        let shop = child.object(with: corner)
        let moved = child.object(with: product)
        moved["shop"] = child.object(with: market)
        moved["shop"] = shop
        parent.object(with: product)["shop"] = nil
        child.refreshAllObjects()
        #expect(moved.object("shop") == nil)
        #expect(shop.members("products").isEmpty)
    }

    @Test(
        "Who came where the parent has put it leaves as it does there", arguments: Backend.allCases)
    func cameAbove(_ backend: Backend) throws {
        let (parent, child, _, market, product) = try family(backend)
        let shop = child.object(with: market)
        let moved = child.object(with: product)
        moved["shop"] = shop
        parent.object(with: product)["shop"] = parent.object(with: market)
        child.refreshAllObjects()
        parent.rollback()
        child.refreshAllObjects()
        #expect(moved.object("shop")?.objectID != market)
        #expect(shop.members("products").isEmpty)
    }

    @Test(
        "Who left where the parent has taken it out returns as it does there",
        arguments: Backend.allCases)
    func leftAbove(_ backend: Backend) throws {
        let (parent, child, corner, _, product) = try family(backend)
        let shop = child.object(with: corner)
        let moved = child.object(with: product)
        moved["shop"] = nil
        parent.object(with: product)["shop"] = nil
        child.refreshAllObjects()
        parent.rollback()
        child.refreshAllObjects()
        #expect(moved.object("shop") == shop)
        #expect(shop.members("products") == [moved])
    }

    @Test("An edit that is none any more is not taken back", arguments: Backend.allCases)
    func takenBack(_ backend: Backend) throws {
        let (parent, child, corner, _, product) = try family(backend)
        let shop = child.object(with: corner)
        let moved = child.object(with: product)
        moved["shop"] = nil
        parent.object(with: product)["shop"] = nil
        child.refreshAllObjects()
        child.refresh(shop, mergeChanges: false)
        #expect(moved.object("shop") == nil)
        #expect(shop.members("products").isEmpty)
    }

    @Test(
        "Who was moved away while members were read is there again after a rollback",
        arguments: Backend.allCases)
    func rolledBack(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let product = context.make("Product", ["serialCode": "a"])
            return [
                context.make("Shop", ["name": "corner"]), context.make("Shop", ["name": "market"]),
                product,
            ]
        }
        let (mine, other) = (stack.context(), stack.context())
        mine.automaticallyMergesChangesFromParent = true
        let (corner, product) = (mine.object(with: ids[0]), mine.object(with: ids[2]))
        product["shop"] = mine.object(with: ids[1])
        other.object(with: ids[2])["shop"] = other.object(with: ids[0])
        try other.save()
        mine.processPendingChanges()
        #expect(corner.members("products").isEmpty)
        mine.rollback()
        #expect(product.object("shop") == corner)
        #expect(corner.members("products") == [product])
    }
}
