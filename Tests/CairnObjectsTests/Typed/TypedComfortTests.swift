// What contexts offer for typed classes beyond Core Data: enumerating, transactions, deleting by a condition.

import Cairn
import Foundation
import StoreBackends
import Testing

@Suite("Conveniences for typed classes")
struct TypedComfortTests {
    private func stack(_ backend: Backend) throws -> Stack {
        let types: [any PersistentEntity.Type] = [TypedProduct.self]
        return try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
    }

    private func fill(_ stack: Stack, _ count: Int) throws {
        let context = stack.context()
        for number in 0..<count {
            let product = context.insert(TypedProduct.self)
            product.serialCode = "\(number)"
            product.stock = number
        }
        try context.save()
    }

    private var ascending: FetchRequest<TypedProduct> {
        FetchRequest<TypedProduct>(sortBy: [SortKey("stock")])
    }

    // MARK: Enumerating

    @Test(
        "Enumerating goes over all objects in order and holds two batches at most",
        arguments: Backend.allCases)
    func bounded(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 2500)
        let context = stack.context()
        var seen: [Int] = []
        var most = 0
        try context.enumerate(ascending, batchSize: 100) { product in
            seen.append(product.stock)
            if product.stock % 50 == 0 { most = max(most, context.registeredObjects.count) }
        }
        #expect(seen == Array(0..<2500))
        #expect(most > 0 && most <= 200)
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("The request's condition, limit and offset hold", arguments: Backend.allCases)
    func request(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 50)
        var request = ascending
        request.predicate = .compare("stock", .greaterOrEqual, .integer(10))
        request.fetchOffset = 5
        request.fetchLimit = 12
        var seen: [Int] = []
        try stack.context().enumerate(request, batchSize: 5) { seen.append($0.stock) }
        #expect(seen == Array(15..<27))
    }

    @Test(
        "A change that would be kept is refused, unless it is allowed", arguments: Backend.allCases)
    func mutations(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 30)
        let context = stack.context()
        var count = 0
        let error = storeError {
            try context.enumerate(ascending, batchSize: 10) {
                count += 1
                if $0.stock == 3 { $0.stock = -1 }
            }
        }
        #expect(error?.code == .invalidRequest && count == 4)
        #expect(
            storeError { try context.enumerate(ascending) { _ in count += 1 } }?.code
                == .invalidRequest)
        #expect(count == 4, "a context with changes is refused at once")
        context.rollback()
        count = 0
        try context.enumerate(ascending, batchSize: 10, allowEscapingMutations: true) { product in
            product.name = "\(product.stock)"
            count += 1
            if count % 10 == 0 { try context.save() }
        }
        #expect(!context.hasChanges)
        let names = try stack.context().fetch(ascending).map(\.name)
        #expect(names == (0..<30).map { "\($0)" })
    }

    @Test("What was deleted meanwhile is left out", arguments: Backend.allCases)
    func deletedMeanwhile(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 30)
        var seen: [Int] = []
        try stack.context().enumerate(ascending, batchSize: 10) { product in
            seen.append(product.stock)
            if product.stock == 0 {
                let other = stack.context()
                try other.delete(
                    model: TypedProduct.self,
                    where: .compare("stock", .greaterOrEqual, .integer(25)))
                try other.save()
            }
        }
        #expect(seen == Array(0..<25))
    }

    @Test(
        "Objects that the closure refreshes, or forgets, are there all the same",
        arguments: Backend.allCases)
    func refreshing(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 30)
        let context = stack.context()
        for forgets in [false, true] {
            var seen: [Int] = []
            try context.enumerate(ascending, batchSize: 10) { product in
                #expect(product.managedObjectContext === context)
                seen.append(product.stock)
                if product.stock % 7 != 3 { return }
                if forgets { context.reset() } else { context.refreshAllObjects() }
            }
            #expect(seen == Array(0..<30))
        }
    }

    @Test("What the closure throws ends it", arguments: Backend.allCases)
    func throwing(_ backend: Backend) throws {
        struct Enough: Error {}
        let stack = try stack(backend)
        try fill(stack, 30)
        var count = 0
        #expect(throws: Enough.self) {
            try stack.context().enumerate(ascending, batchSize: 10) { _ in
                count += 1
                if count == 12 { throw Enough() }
            }
        }
        #expect(count == 12)
    }

    @Test("A store that cannot be read throws", arguments: Backend.allCases)
    func failing(_ backend: Backend) throws {
        let types: [any PersistentEntity.Type] = [TypedProduct.self]
        let failing = FailingStore(try stack(backend).store)
        let stack = Stack(store: failing, classes: ObjectClasses(for: types))
        try fill(stack, 30)
        var count = 0
        let error = storeError {
            try stack.context().enumerate(ascending, batchSize: 10) { _ in
                count += 1
                if count == 10 { failing.isFailing = true }
            }
        }
        #expect(error?.code == .damaged && count == 10)
    }

    @Test("Ids and numbers under their other names", arguments: Backend.allCases)
    func identifiers(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 20)
        let context = stack.context()
        #expect(try context.fetchIdentifiers(ascending) == context.fetchObjectIDs(ascending))
        #expect(try context.fetchIdentifiers(ascending).count == 20)
        #expect(try context.fetchCount(ascending) == 20)
    }

    // MARK: Transactions

    @Test("A transaction saves what its closure has changed", arguments: Backend.allCases)
    func transaction(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 2)
        let context = stack.context()
        let sum = try context.transaction {
            let products = try context.fetch(ascending)
            for product in products { product.stock += 10 }
            return products.reduce(0) { $0 + $1.stock }
        }
        #expect(sum == 21 && !context.hasChanges)
        #expect(try stack.context().fetch(ascending).map(\.stock) == [10, 11])
    }

    @Test("One that throws, or cannot be saved, leaves nothing behind", arguments: Backend.allCases)
    func failedTransaction(_ backend: Backend) throws {
        struct Changed: Error {}
        let stack = try stack(backend)
        try fill(stack, 2)
        let context = stack.context()
        let first = try #require(try context.fetch(ascending).first)
        #expect(throws: Changed.self) {
            try context.transaction {
                first.stock = 100
                context.insert(TypedProduct.self)
                throw Changed()
            }
        }
        #expect(!context.hasChanges && first.stock == 0 && context.insertedObjects.isEmpty)
        let error = storeError {
            try context.transaction {
                first.stock = 100
                context.insert(TypedProduct.self).serialCode = "1"
            }
        }
        #expect(error?.code == .constraintConflict)
        #expect(!context.hasChanges && first.stock == 0)
        #expect(try stack.context().fetch(ascending).map(\.stock) == [0, 1])
    }

    @Test("A context with changes begins none", arguments: Backend.allCases)
    func dirtyTransaction(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let product = context.insert(TypedProduct.self)
        product.serialCode = "x"
        var isRun = false
        let error = storeError { try context.transaction { isRun = true } }
        #expect(error?.code == .invalidRequest && !isRun)
        #expect(context.insertedObjects == [product], "nothing is lost")
    }

    // MARK: Deleting

    @Test(
        "Objects that match are deleted by the next save, unsaved ones too",
        arguments: Backend.allCases)
    func deleting(_ backend: Backend) throws {
        let stack = try stack(backend)
        try fill(stack, 10)
        let context = stack.context()
        let new = context.insert(TypedProduct.self)
        new.serialCode = "new"
        new.stock = 3
        try #require(try context.fetch(ascending).last).stock = 0
        try context.delete(
            model: TypedProduct.self, where: #Predicate<TypedProduct> { $0.stock < 5 })
        #expect(context.deletedObjects.count == 6 && context.insertedObjects.isEmpty)
        #expect(try stack.context().fetchCount(ascending) == 10)
        context.rollback()
        #expect(try context.fetchCount(ascending) == 10)
        try context.delete(
            model: TypedProduct.self, where: .compare("stock", .less, .integer(5)))
        try context.save()
        #expect(try stack.context().fetch(ascending).map(\.stock) == Array(5..<10))
        try context.delete(model: TypedProduct.self)
        try context.save()
        #expect(try stack.context().fetchCount(ascending) == 0)
    }

    @Test("Delete rules apply", arguments: Backend.allCases)
    func deleteRules(_ backend: Backend) throws {
        let stack = try stack(backend)
        let context = stack.context()
        let maker = context.insert(TypedMaker.self)
        for number in 0..<3 {
            let product = context.insert(TypedProduct.self)
            product.serialCode = "\(number)"
            product.maker = maker
        }
        try context.save()
        try context.delete(model: TypedMaker.self)
        try context.save()
        #expect(try stack.context().fetchCount(ascending) == 0, "the maker's products go along")
    }

    @Test("A class that is known by its superclass is the one that is deleted")
    func dynamicClass() throws {
        let types: [any PersistentEntity.Type] = [
            CheckedOwner.self, CheckedThing.self, CheckedToy.self,
        ]
        let stack = try Stack(
            ManagedObjectModel(for: types), .dictionary, classes: ObjectClasses(for: types))
        let context = stack.context()
        let thing = context.insert(CheckedThing.self)
        let toy = context.insert(CheckedToy.self)
        let type: CheckedThing.Type = CheckedToy.self
        try context.delete(model: type)
        #expect(toy.isDeleted && !thing.isDeleted)
    }

    @Test("Subclasses are spared if that is asked for", arguments: Backend.allCases)
    func subclasses(_ backend: Backend) throws {
        let types: [any PersistentEntity.Type] = [CheckedThing.self, CheckedToy.self]
        let stack = try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
        let context = stack.context()
        let owner = context.insert(CheckedOwner.self)
        context.insert(CheckedThing.self).owner = owner
        context.insert(CheckedToy.self).owner = owner
        try context.save()
        try context.delete(model: CheckedThing.self, includeSubclasses: false)
        try context.save()
        let left = try stack.context().fetch(CheckedThing.fetchRequest())
        #expect(left.count == 1 && left.first is CheckedToy)
        try context.delete(model: CheckedThing.self)
        try context.save()
        #expect(try stack.context().fetchCount(CheckedThing.fetchRequest()) == 0)
    }

    // MARK: What a class says

    @Test("A class gives its entity and a request for its objects")
    func classes() throws {
        #expect(TypedProduct.entity().name == "TypedProduct")
        #expect(TypedProduct.entity().attributes.map(\.name).contains("serialCode"))
        #expect(TypedMaker.entity().name == "Maker")
        let request = TypedMaker.fetchRequest()
        #expect(request == FetchRequest<TypedMaker>() && request.entityName == "Maker")
    }
}
