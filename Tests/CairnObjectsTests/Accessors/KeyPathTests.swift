// Values by key path, several at once, and to-many relationships that are changed in place.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Values by key path")
struct KeyPathTests {
    /// Two shops: one with three products, the other empty; tags that products share.
    private struct Scene {
        let stack: Stack
        let context: ManagedObjectContext
        let corner: ManagedObject
        let empty: ManagedObject
        let products: [ManagedObject]

        init(_ backend: Backend) throws {
            stack = try Stack(Models.shop, backend)
            context = stack.context()
            corner = context.make("Shop", ["name": "corner"])
            empty = context.make("Shop", ["name": "empty"])
            let (red, blue) = (
                context.make("Tag", ["label": "red"]), context.make("Tag", ["label": "blue"])
            )
            products = [
                context.make("Product", ["name": "a", "price": 1.5, "stock": 2, "tags": [red]]),
                context.make(
                    "Product", ["name": "b", "price": 2.5, "stock": 4, "tags": [red, blue]]),
                context.make("Product", ["name": "c", "price": 1.5]),
            ]
            for product in products { product["shop"] = corner }
            try context.save()
        }
    }

    @Test("A path of one key is the key", arguments: Backend.allCases)
    func single(_ backend: Backend) throws {
        let scene = try Scene(backend)
        #expect(scene.products[0].value(forKeyPath: "name") as? String == "a")
        #expect(
            scene.corner.value(forKeyPath: "products") as? Set<ManagedObject>
                == Set(scene.products))
    }

    @Test("Along to-one relationships, nil on the way gives nil", arguments: Backend.allCases)
    func toOne(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let product = scene.products[0]
        #expect(product.value(forKeyPath: "shop.name") as? String == "corner")
        #expect(product.value(forKeyPath: "shop.objectID") as? ObjectID == scene.corner.objectID)
        #expect(
            product.value(forKeyPath: "shop.products") as? Set<ManagedObject> == Set(scene.products)
        )
        product["shop"] = nil
        #expect(product.value(forKeyPath: "shop.name") == nil)
        #expect(product.value(forKeyPath: "shop.products.@count") == nil)
    }

    @Test(
        "Across a to-many relationship it gathers an array, in order, without nils",
        arguments: Backend.allCases)
    func toMany(_ backend: Backend) throws {
        let scene = try Scene(backend)
        #expect(scene.corner.value(forKeyPath: "products.name") as? [String] == ["a", "b", "c"])
        #expect(scene.corner.value(forKeyPath: "products.stock") as? [Int] == [2, 4])
        let tags = scene.corner.value(forKeyPath: "products.tags") as? [ManagedObject]
        let labels = tags?.map { $0.string("label") ?? "" }.sorted()
        #expect(labels == ["blue", "red", "red"])
        #expect(
            scene.corner.value(forKeyPath: "products.shop.name") as? [String] == [
                "corner", "corner", "corner",
            ])
        #expect((scene.empty.value(forKeyPath: "products.name") as? [Any])?.isEmpty == true)
        // What is not saved counts as well.
        scene.products[1]["name"] = "B"
        scene.context.make("Product", ["name": "d", "shop": scene.corner])
        #expect(
            scene.corner.value(forKeyPath: "products.name") as? [String] == ["a", "B", "c", "d"])
    }

    @Test("Operators make one value of many", arguments: Backend.allCases)
    func operators(_ backend: Backend) throws {
        let scene = try Scene(backend)
        func corner(_ path: String) -> Any? { scene.corner.value(forKeyPath: path) }
        #expect(corner("products.@count") as? Int == 3)
        #expect(corner("products.@sum.stock") as? Int == 6)
        #expect(corner("products.@sum.price") as? Double == 5.5)
        #expect(corner("products.@avg.stock") as? Double == 3)
        #expect(corner("products.@min.name") as? String == "a")
        #expect(corner("products.@max.price") as? Double == 2.5)
        #expect(corner("products.@unionOfObjects.price") as? [Double] == [1.5, 2.5, 1.5])
        #expect(corner("products.@distinctUnionOfObjects.price") as? [Double] == [1.5, 2.5])
        let labels = corner("products.tags.@distinctUnionOfObjects.label") as? [String]
        #expect(labels?.sorted() == ["blue", "red"])
        #expect((corner("products.@distinctUnionOfObjects.tags") as? [ManagedObject])?.count == 2)
        #expect(
            corner("products.@max.tags.@count") as? Int == 2, "an operator in the path behind it")
        #expect(corner("products.@sum.tags.@count") as? Int == 3)
        #expect(corner("products.tags.@count") as? Int == 3, "of all that was gathered")
        #expect(scene.products[0].value(forKeyPath: "shop.products.@count") as? Int == 3)
        #expect(scene.products[0].value(forKeyPath: "shop.products.@max.price") as? Double == 2.5)
        func empty(_ path: String) -> Any? { scene.empty.value(forKeyPath: path) }
        #expect(empty("products.@count") as? Int == 0 && empty("products.@sum.stock") as? Int == 0)
        for name in ["avg", "min", "max"] { #expect(empty("products.@\(name).stock") == nil) }
        #expect((empty("products.@unionOfObjects.name") as? [Any])?.isEmpty == true)
    }

    @Test("The leaves of a composite attribute have paths")
    func composite() throws {
        let context = try Stack(Models.values, .dictionary).context()
        let thing = context.make("Thing")
        try thing.setValue("red", forKeyPath: "color.primary")
        #expect(thing.value(forKeyPath: "color.primary") as? String == "red")
        #expect(thing.value(forKeyPath: "color.shade") == nil)
        #expect((thing.value(forKeyPath: "color") as? [String: Any])?.count == 1)
    }

    @Test(
        "Setting by path sets the object at its end, if there is one", arguments: Backend.allCases)
    func setting(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let product = scene.products[0]
        try product.setValue("renamed", forKeyPath: "shop.name")
        try product.setValue("plain", forKeyPath: "name")
        #expect(scene.corner.string("name") == "renamed" && product.string("name") == "plain")
        try product.setValue(nil, forKeyPath: "shop.name")
        #expect(scene.corner["name"] == nil)
        product["shop"] = nil
        try product.setValue("nobody", forKeyPath: "shop.name")
        #expect(scene.corner["name"] == nil)
        try scene.context.save()
    }

    @Test("Several values at once", arguments: Backend.allCases)
    func several(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let product = scene.products[2]
        let values = product.dictionaryWithValues(forKeys: ["name", "stock", "shop"])
        #expect(Set(values.keys) == ["name", "stock", "shop"], "nil has its key")
        #expect(
            values["name"] as? String == "c" && values["shop"] as? ManagedObject === scene.corner)
        #expect(values["stock"].flatMap { $0 } == nil)
        let other = scene.context.make("Product")
        try other.setValuesForKeys(values)
        #expect(other.string("name") == "c" && other.object("shop") === scene.corner)
        try other.setValuesForKeys(["name": "d", "note": nil, "price": 4.0])
        #expect(other.string("name") == "d" && other["price"] as? Double == 4)
        try scene.context.save()
    }

    @Test("A path that leads nowhere is a mistake of the program")
    func mistakes() async {
        for path in ["nothing", "shop.nothing", "name.length"] {
            await #expect(processExitsWith: .failure, "\(path)") { [path = path as String] in
                let context = try Stack(Models.shop, .dictionary).context()
                let product = context.make("Product", ["shop": context.make("Shop")])
                _ = product.value(forKeyPath: path)
            }
        }
        for path in [
            "products.nothing", "products.@middle.price", "products.@sum", "products.@count.name",
            "name.@count", "@count",
        ] {
            await #expect(processExitsWith: .failure, "\(path)") { [path = path as String] in
                let context = try Stack(Models.shop, .dictionary).context()
                let shop = context.make("Shop", ["name": "s"])
                context.make("Product", ["shop": shop])
                _ = shop.value(forKeyPath: path)
            }
        }
    }

    // MARK: Members in place

    @Test("Members are added and removed in place, on both sides", arguments: Backend.allCases)
    func members(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let members = scene.corner.mutableSetValue(forKey: "products")
        #expect(members.count == 3 && !members.isEmpty && members.objects == Set(scene.products))
        let new = scene.context.make("Product", ["name": "d"])
        #expect(!members.contains(new) && members.insert(new) && !members.insert(new))
        #expect(new.object("shop") === scene.corner && members.contains(new))
        #expect(members.remove(scene.products[0]) && !members.remove(scene.products[0]))
        #expect(scene.products[0]["shop"] == nil)
        #expect(members.map { $0.string("name") } == ["b", "c", "d"])
        try scene.context.save()
        let id = scene.corner.objectID
        let stored = scene.stack.context().object(with: id).mutableSetValue(forKey: "products")
        #expect(stored.count == 3)
        // A member of one is a member of one only.
        let other = scene.empty.mutableSetValue(forKey: "products")
        other.insert(new)
        #expect(members.count == 2 && other.objects == [new])
        members.formUnion(other)
        #expect(other.isEmpty && members.count == 3)
        members.subtract([new])
        members.formIntersection([scene.products[1], new])
        #expect(members.objects == [scene.products[1]])
        members.removeAll()
        #expect(members.isEmpty && scene.products[1]["shop"] == nil)
    }

    @Test("Many-to-many members in place are stored as pairs", arguments: Backend.allCases)
    func pairs(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let green = scene.context.make("Tag", ["label": "green"])
        let tags = scene.products[1].mutableSetValue(forKey: "tags")
        tags.insert(green)
        for tag in tags where tag.string("label") == "red" { tags.remove(tag) }
        try scene.context.save()
        let stored = scene.stack.context().object(with: scene.products[1].objectID)
        #expect(Set(stored.members("tags").map { $0.string("label") }) == ["blue", "green"])
    }

    @Test("An object of another context, or of another entity, is no member")
    func foreignMembers() async {
        await #expect(processExitsWith: .failure) {
            let stack = try Stack(Models.shop, .dictionary)
            stack.context().make("Shop").mutableSetValue(forKey: "products")
                .insert(stack.context().make("Product"))
        }
        await #expect(processExitsWith: .failure) {
            let context = try Stack(Models.shop, .dictionary).context()
            context.make("Shop").mutableSetValue(forKey: "products").insert(context.make("Tag"))
        }
        await #expect(processExitsWith: .failure) {
            _ = try Stack(Models.shop, .dictionary).context().make("Product")
                .mutableSetValue(forKey: "shop")
        }
    }
}
