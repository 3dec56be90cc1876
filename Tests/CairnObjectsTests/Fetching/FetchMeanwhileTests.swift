// What others and the context itself do to objects while a fetch reads them.

import CairnModel
import CairnObjects
import CairnStore
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

private class PlainCar: ManagedObject {}
private final class PlainTruck: PlainCar {}

@Suite("While a fetch reads")
struct FetchMeanwhileTests {
    // MARK: What others do

    /// Two trucks and a car. Whenever the store is asked, the first truck is deleted before it answers: the answer, which is
    /// of the state before, has it still.
    private func trucks(_ backend: Backend) throws -> (CountingStore, Stack, [ObjectID]) {
        let stack = try Stack(
            Models.vehicles, backend,
            classes: ObjectClasses(["Car": PlainCar.self, "Truck": PlainTruck.self]))
        let ids = try stack.store {
            [
                $0.make("Truck", ["permit": "first"]), $0.make("Truck", ["permit": "second"]),
                $0.make("Car"),
            ]
        }
        let store = CountingStore(stack.store) { [base = stack.store, id = ids[0]] _ in
            let other = ManagedObjectContext(store: base)
            guard let truck = try? other.existingObject(with: id) else { return }
            other.delete(truck)
            #expect(throws: Never.self) { try other.save() }
        }
        return (store, stack, ids)
    }

    @Test(
        "What is deleted while the ids of one entity are read is a fault of that entity, and no row is read to know it",
        arguments: Backend.allCases)
    func deletedOfOneEntity(_ backend: Backend) async throws {
        for kind in 0..<3 {
            let (store, stack, ids) = try trucks(backend)
            let context = ManagedObjectContext(store: store, classes: stack.container.classes)
            var request = FetchRequest<PlainTruck>(entityName: "Truck")
            request.includesPropertyValues = false
            let found: [PlainTruck] =
                switch kind {
                case 0: try context.fetch(request)
                case 1: try await context.fetchAsynchronously(request)
                default: try Array(context.fetchLazily(request))
                }
            #expect(found.map(\.objectID) == [ids[0], ids[1]], "kind \(kind)")
            #expect(found.allSatisfy { type(of: $0) == PlainTruck.self }, "kind \(kind)")
            if kind < 2 { #expect(store.reads == 1 && found.allSatisfy(\.isFault)) }
            #expect(found.map { $0.string("permit") } == [nil, "second"], "kind \(kind)")
        }
    }

    @Test(
        "What is deleted while objects of several entities are read has the row that was found",
        arguments: Backend.allCases)
    func deletedOfMany(_ backend: Backend) async throws {
        for isAsynchronous in [false, true] {
            let (store, stack, ids) = try trucks(backend)
            let context = ManagedObjectContext(store: store, classes: stack.container.classes)
            var request = FetchRequest<PlainCar>(entityName: "Car")
            request.includesPropertyValues = false
            let found =
                isAsynchronous
                ? try await context.fetchAsynchronously(request) : try context.fetch(request)
            #expect(found.map(\.objectID) == ids)
            #expect(found.map { $0 is PlainTruck } == [true, true, false])
            #expect(found[0].string("permit") == "first")
            request.includesSubentities = false
            #expect(try context.fetch(request).map(\.objectID) == [ids[2]])
        }
    }

    @Test("Objects of a lazy fetch that cannot be read are of the class that was asked for")
    func unreadable() throws {
        let (_, stack, ids) = try trucks(.log)
        let store = FailingStore(stack.store)
        let context = ManagedObjectContext(store: store, classes: stack.container.classes)
        let found = try context.fetchLazily(FetchRequest<PlainTruck>(entityName: "Truck"))
        store.isFailing = true
        #expect(found.map(\.objectID) == ids.dropLast() && found[0].isFault)
        store.isFailing = false
        #expect(storeError { _ = try context.count("Truck") }?.code == .damaged)
    }
}
