// Faults whose entity could not be read when they were made: they are taken for objects of the ancestor.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

private class PlainCar: ManagedObject {}
private final class PlainTruck: PlainCar {}

@Suite("Faults of an entity that could not be read")
struct UnresolvedFaultTests {
    /// Ways to read a fault that was taken for a car and is a truck.
    enum Way: CaseIterable {
        case touching, fulfilling, fulfillingMany, mergingEdits, prefetching, child, merging
    }

    /// Cars and trucks of owners.
    private static let model: ManagedObjectModel = {
        var model = Models.vehicles
        model.entities[0].relationships = [.init("owner", to: "Owner", inverse: "cars")]
        model.entities.append(
            EntityDescription(
                "Owner", attributes: [AttributeDescription("name", .string)],
                relationships: [.init("cars", to: "Car", toMany: true, inverse: "owner")]))
        return model
    }()

    @Test(
        "A parent's new object is not taken for a stored one of its number",
        arguments: Backend.allCases)
    func temporaryNumbers(_ backend: Backend) throws {
        let stack = try Stack(Self.model, backend)
        let owners = try stack.store { [$0.make("Owner", ["name": "Ann"])] }
        let parent = stack.context()
        let truck = parent.make("Truck", ["maker": "new"])
        parent.object(with: owners[0])["cars"] = Set([truck])
        let child = ManagedObjectContext(parent: parent)
        // Taken for a car, as there is no row: its number is that of the truck.
        let car = child.object(
            with: stack.store.identity.id(truck.objectID.reference, entity: truck.entity.root))
        #expect(car.isFault && !car.objectID.isTemporary)
        let cars = child.object(with: owners[0])["cars"] as? Set<ManagedObject> ?? []
        #expect(cars.map { $0.string("maker") } == ["new"])
        try child.fulfill(Array(cars))
        #expect(car.managedObjectContext === child && !car.isDeleted)
        #expect(child.registeredObject(for: car.objectID) === car)
    }

    @Test(
        "An object that turns out to be of a descendant takes none of its values: it is gone, and the right one in its place",
        arguments: Backend.allCases, Way.allCases)
    func descendant(_ backend: Backend, _ way: Way) throws {
        let classes = ObjectClasses(["Car": PlainCar.self, "Truck": PlainTruck.self])
        let store = FailingStore(try backend.makeStore(try Schema(Self.model)))
        let stack = Stack(store: store, classes: classes)
        let ids = try stack.store { context in
            let truck = context.make("Truck", ["permit": "first", "maker": "x"])
            truck["owner"] = context.make("Owner", ["name": "Ann"])
            return [truck]
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = way == .merging
        store.isFailing = true
        let wrong = context.object(with: ids[0])
        #expect(!(wrong is PlainTruck) && wrong.entity.name == "Car")
        if way == .mergingEdits { wrong["maker"] = "mine" }
        store.isFailing = false
        // What could not be read is thrown where it can be.
        #expect(storeError { _ = try context.count("Car") }?.code == .damaged)

        switch way {
        case .touching: #expect(wrong.string("maker") == nil)
        case .fulfilling:
            context.shouldDeleteInaccessibleFaults = false
            #expect(storeError { try wrong.fulfill() }?.code == .objectNotFound)
        case .fulfillingMany: try context.fulfill([wrong])
        case .mergingEdits: context.refresh(wrong, mergeChanges: true)
        case .prefetching:
            var request = FetchRequest<ManagedObject>(entityName: "Owner")
            request.relationshipKeyPathsForPrefetching = ["cars"]
            #expect(try context.fetch(request).count == 1)
        case .child:
            let child = ManagedObjectContext(parent: context)
            #expect(child.object(with: ids[0]).string("permit") == "first")
        case .merging:
            let other = stack.context()
            other.object(with: ids[0])["permit"] = "second"
            try other.save()
            context.processPendingChanges()
        }
        let right = context.object(with: ids[0])
        #expect(right is PlainTruck && right !== wrong)
        #expect(right.string("permit") == (way == .merging ? "second" : "first"))
        #expect(wrong.isDeleted && wrong.string("maker") == nil)
        try context.save()
        #expect(stack.context().object(with: ids[0]).string("maker") == "x")
    }
}
