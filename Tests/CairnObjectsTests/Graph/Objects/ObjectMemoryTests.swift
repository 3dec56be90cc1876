// What an object takes in memory, and when what it has beside its row comes and goes.

import CairnModel
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@testable import CairnObjects

#if os(Linux)
    /// How much of a piece of memory can be used. The module of the C library leaves it out.
    @_silgen_name("malloc_usable_size")
    private func usableSize(_ memory: UnsafeMutableRawPointer) -> Int
#endif

@Suite("An object in memory")
struct ObjectMemoryTests {
    #if os(Linux)
        @Test("is small")
        func size() throws {
            let stack = try Stack(Models.shop, .log)
            let shop = stack.context().insert("Shop")
            // That is a piece of 64; the next larger one has 72.
            #expect(usableSize(Unmanaged.passUnretained(shop).toOpaque()) <= 56)
        }
    #endif

    @Test("has an annex as long as it is changed or has something rare")
    func annex() throws {
        let stack = try Stack(Models.shop, .log)
        let id = try stack.store { context in
            let shop = context.make("Shop", ["name": "a"])
            context.make("Product", ["serialCode": "1", "shop": shop])
            return [shop]
        }[0]
        let context = stack.context()
        let shop = context.object(with: id)
        #expect(shop.isFault && shop.annex == nil)
        #expect(shop["name"] as? String == "a" && shop.annex == nil)
        shop["name"] = "b"
        #expect(shop.slots != nil && shop.changedIndex == 0 && shop.rarer == nil)
        context.rollback()
        #expect(shop["name"] as? String == "a" && shop.annex == nil)
        shop["name"] = "c"
        try context.save()
        #expect(shop["name"] as? String == "c" && shop.annex == nil)

        // Something rare comes first, then an edit, which goes again.
        #expect(shop.members("products").count == 1)
        #expect(shop.rarer != nil && shop.slots == nil)
        let members = shop.toMany
        shop["name"] = "d"
        #expect(shop.slots != nil && shop.annex?.pointee.hasRoom == true)
        #expect(shop.toMany.keys == members.keys && shop["name"] as? String == "d")
        try context.save()
        #expect(shop.slots == nil && shop.annex?.pointee.hasRoom == false && shop.rarer != nil)
        #expect(shop["name"] as? String == "d")
        #expect(shop.toMany.keys == members.keys)

        // New ones that are saved as columns keep their slots, which are their rows until they are edited.
        let new = (0..<40).map { context.make("Shop", ["name": "e\($0)"]) }[0]
        try context.save()
        #expect(new.slots != nil && !new.hasCells && new.changedIndex == -1)
        new["name"] = "f"
        #expect(new.hasCells && new.slots != nil && new["name"] as? String == "f")
        context.rollback()
        #expect(new["name"] as? String == "e0" && new.annex == nil)

        context.delete(new)
        #expect(new.changedIndex >= 0 && new.slots == nil)
        try context.save()
        #expect(new.slots == nil && new.changedIndex == -1 && new.managedObjectContext == nil)
    }

    @Test("keeps its context alive, and outlives it when it has left")
    func context() throws {
        let stack = try Stack(Models.shop, .log)
        try stack.store { [$0.make("Shop", ["name": "a"])] }
        weak var known: ManagedObjectContext?
        var held: [ManagedObject] = []
        var left: ManagedObject?
        do {
            let context = stack.context()
            known = context
            held = try context.fetch(FetchRequest(entityName: "Shop"))
            let new = context.insert("Shop")
            context.delete(new)
            try context.save()
            left = new
        }
        #expect(known != nil && held[0].managedObjectContext === known)
        #expect(held[0]["name"] as? String == "a")
        held = []
        #expect(known == nil)
        #expect(left?.managedObjectContext == nil && left?.entity.name == "Shop")
        #expect(left?.isFault == false && left?.objectID.isTemporary == true)

        let next = stack.context()
        let apart = ManagedObject(entity: next.entity(named: "Shop"), insertInto: nil)
        #expect(apart.managedObjectContext == nil && !apart.isFault)
        apart["name"] = "b"
        next.insert(apart)
        #expect(apart.managedObjectContext === next && apart["name"] as? String == "b")
        try next.save()
        #expect(try next.count("Shop") == 2)
    }
}
