// What others and the context itself do to objects while a fetch reads them.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Dispatch
import StoreBackends
import Synchronization
import Testing

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

    // MARK: What the context saves

    private static var all: FetchRequest<ManagedObject> {
        var request = FetchRequest(
            entityName: "Product", predicate: .compare("stock", .greater, .integer(0)))
        request.sortDescriptors = [SortKey("stock")]
        return request
    }

    /// A product that was found.
    private struct Found: Sendable, Equatable {
        let id: ObjectID
        let stock: Int?

        init(_ object: ManagedObject) {
            id = object.objectID
            stock = object.int("stock")
        }
    }

    /// What is to be done to a context, step by step.
    @MainActor
    private final class Script {
        var context: ManagedObjectContext?
        var steps: ArraySlice<(ManagedObjectContext) throws -> Void> = []
        var error: (any Error)?
        /// How often the store was asked for the fetch; more than that at any other time.
        nonisolated let asked = Atomic(100)

        func next() {
            guard let context, let step = steps.popFirst() else { return }
            do { try step(context) } catch { self.error = error }
        }
    }

    /// Has a context over products 1 to 3 do something each time the store reads for its fetch elsewhere, as long as there is
    /// something to be done; what the fetch gave, and how often the store was asked.
    @MainActor
    private func fetching(
        _ backend: Backend, prepare: (ManagedObjectContext) throws -> Void = { _ in },
        _ steps: [(ManagedObjectContext) throws -> Void]
    ) async throws -> (found: [Found], readings: Int, context: ManagedObjectContext) {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            (1...3).map { (stock: Int) in
                context.make("Product", ["stock": stock, "serialCode": "\(stock)"])
            }
        }
        let script = Script()
        let store = CountingStore(stack.store) { _ in
            let isDone = DispatchSemaphore(value: 0)
            Task { @MainActor in
                script.next()
                isDone.signal()
            }
            // The fifth reading is made where the step would be.
            if script.asked.add(1, ordering: .relaxed).newValue < 5 {
                isDone.wait(
                    for: "the main actor to do its step", within: OpenWait.patienceWithTasks)
            }
        }
        let context = ManagedObjectContext(store: store)
        try prepare(context)
        script.asked.store(0, ordering: .relaxed)
        script.context = context
        script.steps = steps[...]
        let before = store.reads
        let found = try await context.fetchAsynchronously(Self.all).map(Found.init)
        script.context = nil
        script.asked.store(100, ordering: .relaxed)
        if let error = script.error { throw error }
        return (found, store.reads - before, context)
    }

    @MainActor
    @Test("A new object that is saved meanwhile is found", arguments: Backend.allCases)
    func insertedAndSaved(_ backend: Backend) async throws {
        let (found, _, context) = try await fetching(
            backend, prepare: { $0.make("Product", ["stock": 7]) }, [{ try $0.save() }])
        #expect(found.map(\.stock) == [1, 2, 3, 7])
        #expect(try found == context.fetch(Self.all).map(Found.init) && !context.hasChanges)
    }

    @MainActor
    @Test("A change that is saved meanwhile counts", arguments: Backend.allCases)
    func changedAndSaved(_ backend: Backend) async throws {
        let (found, _, context) = try await fetching(
            backend,
            prepare: { context in
                let products = try context.all("Product", sortedBy: "stock")
                products[0]["stock"] = -1
                products[2]["stock"] = 1
            }, [{ try $0.save() }])
        #expect(found.map(\.stock) == [1, 2])
        #expect(try found == context.fetch(Self.all).map(Found.init))
    }

    @MainActor
    @Test(
        "An object whose deletion is saved meanwhile is not found, whenever it was deleted",
        arguments: Backend.allCases)
    func deletedAndSaved(_ backend: Backend) async throws {
        func delete(_ context: ManagedObjectContext) throws {
            for object in context.registeredObjects where object.int("stock") == 2 {
                context.delete(object)
            }
        }
        for isBefore in [false, true] {
            var held: [ManagedObject] = []
            let (found, _, context) = try await fetching(
                backend,
                prepare: { context in
                    held = try context.all("Product")
                    if isBefore { try delete(context) }
                },
                [
                    { context in
                        if !isBefore { try delete(context) }
                        try context.save()
                    }
                ])
            #expect(found.map(\.stock) == [1, 3] && held.count == 3)
            #expect(try found == context.fetch(Self.all).map(Found.init))
        }
    }

    @MainActor
    @Test(
        "Many new objects that are saved meanwhile, as columns or not, are found",
        arguments: Backend.allCases)
    func manySaved(_ backend: Backend) async throws {
        let (found, _, context) = try await fetching(
            backend,
            prepare: { context in for _ in 0..<40 { context.make("Product", ["stock": 9]) } },
            [{ try $0.save() }])
        #expect(found.count == 43)
        #expect(try found == context.fetch(Self.all).map(Found.init))
    }

    @MainActor
    @Test("A context that saves again and again has its answer all the same")
    func savingAgainAndAgain() async throws {
        let steps = (10..<30).map { number in
            { (context: ManagedObjectContext) throws in
                context.make("Product", ["stock": number])
                try context.save()
            }
        }
        let (found, readings, context) = try await fetching(.log, steps)
        #expect(found.map(\.stock) == [1, 2, 3, 10, 11, 12, 13])
        // Ids and rows each time.
        #expect(readings == 10)
        #expect(try found == context.fetch(Self.all).map(Found.init))
    }

    // MARK: Cancelling

    @Test(
        "Who cancels when all is read already has no answer: ids, faults, rows or values",
        arguments: Backend.allCases, [0, 3])
    func cancelledAtTheEnd(_ backend: Backend, _ count: Int) async throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            (0..<count).map { context.make("Product", ["stock": $0 + 1]) }
        }
        let context = stack.context()
        for kind in 0..<4 {
            let progress = FetchProgress { progress in
                if progress.completedCount == progress.totalCount { progress.cancel() }
            }
            var objects = FetchRequest(entityName: "Product")
            objects.includesPropertyValues = kind != 1
            var values = FetchRequest<DictionaryResult>(entityName: "Product")
            values.propertiesToFetch = ["stock"]
            do throws(StoreError) {
                switch kind {
                case 0:
                    _ = try await context.fetchAsynchronously(
                        FetchRequest<ObjectID>(entityName: "Product"), progress: progress)
                case 1, 2: _ = try await context.fetchAsynchronously(objects, progress: progress)
                default: _ = try await context.fetchAsynchronously(values, progress: progress)
                }
                Issue.record("kind \(kind) was cancelled")
            } catch {
                #expect(error.code == .cancelled)
            }
            #expect(progress.totalCount == count)
        }
    }
}
