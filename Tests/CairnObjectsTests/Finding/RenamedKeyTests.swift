// Keys of relationships to objects that get other ids while somebody may find by them.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Finding by key what leads to objects with new ids")
struct RenamedKeyTests {
    @Test(
        "What a child has noted by temporary ids of its parent's objects it finds when they are permanent",
        arguments: Backend.allCases, [true, false])
    func children(_ backend: Backend, _ isSaved: Bool) throws {
        let stack = try Stack(Models.shop, backend)
        let parent = stack.context()
        let shop = parent.make("Shop", ["name": "one"])
        let stored = parent.make("Product", ["name": "stored above", "shop": shop])
        let child = ManagedObjectContext(parent: parent)
        let own = child.object(with: shop.objectID)
        let changed = child.object(with: stored.objectID)
        // One whose reference is an edit, and one whose reference is what the parent shows.
        changed["note"] = "changed"
        func find(_ name: String) throws -> (object: ManagedObject, isNew: Bool) {
            try child.findOrInsert(entityName: "Product", key: ["name": name, "shop": own])
        }
        let made = try find("made here").object
        #expect(try find("made here").object === made)
        #expect(try find("stored above").object === changed)
        if isSaved { try parent.save() } else { try parent.obtainPermanentIDs(for: [shop]) }
        #expect(!own.objectID.isTemporary && own.objectID == shop.objectID)
        let again = try find("made here")
        #expect(again.object === made && !again.isNew)
        let other = try find("stored above")
        #expect(other.object === changed && !other.isNew)
        try child.save()
        try parent.save()
        #expect(try stack.context().count("Product") == 2)
    }
}
