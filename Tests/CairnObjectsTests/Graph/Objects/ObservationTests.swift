// Who reads an object inside `withObservationTracking` is told of the next change of what was read, whoever makes it.

import Cairn
import Foundation
import Observation
import StoreBackends
import Synchronization
import Testing

@testable import CairnObjects

extension MergePolicy {
    /// A policy of one's own, which the store does not carry out.
    fileprivate final class Own: MergePolicy {}
}

/// Counts how often somebody is told.
private final class Counter: Sendable {
    private let told = Atomic<Int>(0)
    var count: Int { told.load(ordering: .relaxed) }
    func tell() { told.add(1, ordering: .relaxed) }
}

@Suite("Observing typed objects")
struct ObservationTests {
    private let stack: Stack
    private let context: ManagedObjectContext

    init() throws {
        let types: [any PersistentEntity.Type] = [
            TypedProduct.self, TypedTag.self, TypedMaker.self, TypedMarks.self, TypedPart.self,
            TypedThing.self, TypedBlank.self,
        ]
        stack = try Stack(
            ManagedObjectModel(for: types), .log, classes: ObjectClasses(for: types))
        context = stack.context()
        context.isObservable = true
    }

    /// Tracks what is read; the counter is 1 once a change was told of.
    private func track(_ read: () -> Void) -> Counter {
        let counter = Counter()
        withObservationTracking(read) { counter.tell() }
        return counter
    }

    /// What somebody sees who looks again each time he is told.
    private final class Watcher {
        private(set) var seen: [String] = []
        private let read: () -> String

        init(_ read: @escaping () -> String) {
            self.read = read
            look()
        }

        func look() {
            nonisolated(unsafe) let watcher = self
            let value = withObservationTracking(read) { watcher.look() }
            if seen.last != value { seen.append(value) }
        }
    }

    @Test("What policies make of edits is one change: nobody sees what was stored before both")
    func resolving() throws {
        let policies: [(MergePolicy, [String])] = [
            (.mergeByPropertyStoreTrump, ["mine", "theirs"]), (.rollback, ["mine", "theirs"]),
            (.mergeByPropertyObjectTrump, ["mine"]),
            // The context decides.
            (MergePolicy.Own(merge: .mergeByPropertyStoreTrump), ["mine", "theirs"]),
            (MergePolicy.Own(merge: .rollback), ["mine", "theirs"]),
        ]
        for (number, (policy, wanted)) in policies.enumerated() {
            let product = try savedProduct("\(number)")
            product.name = "base"
            try context.save()
            product.name = "mine"
            context.mergePolicy = policy
            let watcher = Watcher { product.name }
            try changeElsewhere(product) { $0.name = "theirs" }
            try context.save()
            watcher.look()
            #expect(watcher.seen == wanted, "\(number)")
        }
    }

    private func savedProduct(_ code: String = "1") throws -> TypedProduct {
        let product = context.insert(TypedProduct.self)
        product.serialCode = code
        product.category = "toys"
        try context.save()
        return product
    }

    /// Changes a product where this context does not see it.
    private func changeElsewhere(_ product: TypedProduct, _ change: (TypedProduct) -> Void) throws {
        let other = stack.context(.overwrite)
        let twin = try #require(other.object(with: product.objectID) as? TypedProduct)
        change(twin)
        try other.save()
    }

    @Test("Setting a property tells once those who have read it, and nobody else")
    func setters() throws {
        let product = try savedProduct()
        let (name, price) = (track { _ = product.name }, track { _ = product.price })
        product.name = "a"
        #expect(name.count == 1 && price.count == 0)
        product.name = "b"
        #expect(name.count == 1)
        product.price = 2
        #expect(price.count == 1)
    }

    @Test("A tracking that never comes to anything ends with the object")
    func leaving() throws {
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let other = stack.context()
            other.isObservable = true
            let product = other.insert(TypedProduct.self)
            let held = Token()
            token = held
            withObservationTracking {
                _ = product.name
            } onChange: {
                withExtendedLifetime(held) {}
            }
            #expect(token != nil)
            other.reset()
        }
        #expect(token == nil)
    }

    @Test("New objects are told of as well")
    func newObjects() {
        let product = context.insert(TypedProduct.self)
        let (name, stock) = (track { _ = product.name }, track { _ = product.stock })
        product.name = "a"
        #expect(name.count == 1 && stock.count == 0 && product.name == "a")
        product.stock = 3
        #expect(stock.count == 1 && product.stock == 3)
    }

    @Test("It is told before the value changes, and what is read again is told of again")
    func before() throws {
        let product = try savedProduct()
        nonisolated(unsafe) let observed = product
        let seen = Mutex<[String]>([])
        withObservationTracking {
            _ = product.name
        } onChange: {
            let name = observed.name
            seen.withLock { $0.append(name) }
        }
        product.name = "new"
        #expect(seen.withLock { $0 } == ["unnamed"])
        let again = track { _ = product.name }
        product.name = "newer"
        #expect(again.count == 1)
    }

    @Test("Values of every kind are told of: raw values, JSON, composites, what has no value")
    func kinds() throws {
        let thing = context.insert(TypedThing.self)
        thing.unit = .dark
        let blank = context.insert(TypedBlank.self)
        let counters = [
            track { _ = thing.shade }, track { _ = thing.words }, track { _ = thing.home },
            track { _ = thing.work }, track { _ = thing.cost }, track { _ = blank.identifier },
            track { _ = blank.moment }, track { _ = blank.exact },
        ]
        #expect(counters.allSatisfy { $0.count == 0 })
        thing.shade = .dark
        thing.words = ["a"]
        thing.home.city = "Bonn"
        thing.work = Address(street: "x")
        thing.cost = Money(amount: 2, currency: "EUR")
        blank.identifier = UUID()
        blank.moment = Date(timeIntervalSinceReferenceDate: 9)
        blank.exact = 7
        #expect(counters.map(\.count) == Array(repeating: 1, count: 8))
    }

    @Test("By key, reading is tracked and setting is told of")
    func byKey() throws {
        let product = try savedProduct()
        let (typed, untyped) = (track { _ = product.name }, track { _ = product["name"] })
        let members = track { _ = product.mutableSetValue(forKey: "tags").count }
        product["name"] = "a"
        product.mutableSetValue(forKey: "tags").insert(context.insert(TypedTag.self))
        #expect(typed.count == 1 && untyped.count == 1 && members.count == 1)
        let products = context.insert(TypedMaker.self).mutableOrderedSetValue(forKey: "products")
        let ordered = track { _ = products.count }
        products.append(product)
        #expect(ordered.count == 1)
    }

    @Test("The other side of a relationship is told of")
    func inverses() throws {
        let product = try savedProduct()
        let maker = context.insert(TypedMaker.self)
        let tag = context.insert(TypedTag.self)
        let (made, tagged) = (track { _ = maker.products }, track { _ = tag.products })
        let (own, ownTags) = (track { _ = product.maker }, track { _ = product.tags })
        product.maker = maker
        #expect(made.count == 1 && own.count == 1 && tagged.count == 0)
        tag.products.insert(product)
        #expect(tagged.count == 1 && ownTags.count == 1)
        try context.save()
        let (gone, away) = (track { _ = maker.products }, track { _ = product.maker })
        maker.products = []
        #expect(gone.count == 1 && away.count == 1)
    }

    @Test("A refresh tells of all that was read, or of what differs under the edits")
    func refresh() throws {
        let product = try savedProduct()
        let plain = track { _ = product.name }
        context.refresh(product, mergeChanges: false)
        #expect(plain.count == 1)
        product.stock = 5
        try changeElsewhere(product) {
            $0.name = "theirs"
            $0.stock = 7
        }
        let counters = [
            track { _ = product.name }, track { _ = product.stock }, track { _ = product.price },
        ]
        context.refresh(product, mergeChanges: true)
        #expect(product.name == "theirs" && product.stock == 5)
        #expect(counters.map(\.count) == [1, 0, 0])
    }

    @Test("Rolling back tells of what goes back, and of new objects that go")
    func rollback() throws {
        let product = try savedProduct()
        product.name = "a"
        let new = context.insert(TypedTag.self)
        let (name, label) = (track { _ = product.name }, track { _ = new.label })
        context.rollback()
        #expect(name.count == 1 && label.count == 1 && product.name == "unnamed")
    }

    @Test("Deleting tells, as mark and when it has happened")
    func deletion() throws {
        let product = try savedProduct()
        let marked = track { _ = product.name }
        context.delete(product)
        #expect(marked.count == 1)
        let saved = track { _ = product.name }
        try context.save()
        #expect(saved.count == 1)
    }

    @Test("A row that turns out to be gone is told of")
    func vanished() throws {
        let product = try savedProduct()
        let other = stack.context()
        other.delete(other.object(with: product.objectID))
        try other.save()
        let name = track { _ = product.name }
        product.stock = 1
        context.refresh(product, mergeChanges: true)
        #expect(name.count == 1 && product.isDeleted)
    }

    @Test("What a save has found to be otherwise is told of, and what stays is not")
    func savedOtherwise() throws {
        let product = try savedProduct()
        try changeElsewhere(product) { $0.category = "theirs" }
        context.mergePolicy = .mergeByPropertyObjectTrump
        product.price = 3
        let counters = [
            track { _ = product.category }, track { _ = product.name }, track { _ = product.price },
        ]
        try context.save()
        #expect(product.category == "theirs" && product.price == 3)
        #expect(counters.map(\.count) == [1, 0, 0])
    }

    @Test("A derived attribute is told of when the save has computed it")
    func derived() throws {
        let marks = context.insert(TypedMarks.self)
        marks.code = "AB"
        marks.parts = [context.insert(TypedPart.self)]
        marks.main = marks.parts.first
        try context.save()
        #expect(marks.search == "ab")
        let (search, price) = (track { _ = marks.search }, track { _ = marks.price })
        marks.code = "CD"
        #expect(search.count == 0)
        try context.save()
        #expect(marks.search == "cd" && search.count == 1 && price.count == 0)
    }

    @Test("An ephemeral attribute is told of")
    func ephemeral() throws {
        let marks = context.insert(TypedMarks.self)
        let (selection, cache) = (track { _ = marks.selection }, track { _ = marks.cache })
        marks.selection = 8
        marks.cache = []
        #expect(selection.count == 1 && cache.count == 0)
    }

    @Test("A snapshot that is taken while somebody tracks reads everything")
    func snapshot() throws {
        let product = try savedProduct()
        let counter = track { _ = product.snapshot() }
        product.stock = 4
        #expect(counter.count == 1)
    }

    @Test("A context that is not observable tells nobody, and can become so")
    func switchedOff() throws {
        let product = try savedProduct()
        context.isObservable = false
        let off = track { _ = (product.name, product.tags, product.category) }
        product.name = "a"
        product.category = nil
        #expect(off.count == 0 && product.rarer?.observation == nil)
        context.isObservable = true
        let on = track { _ = product.name }
        product.name = "b"
        #expect(on.count == 1)
    }

    @Test("What is read while nobody tracks leaves nothing behind")
    func untracked() throws {
        let product = try savedProduct()
        #expect(product.name == "unnamed" && product.tags.isEmpty && product.stock == 0)
        #expect(product.rarer?.observation == nil && !product.flags.contains(.observed))
        let counter = track { _ = product.name }
        #expect(product.flags.contains(.observed) && counter.count == 0)
    }
}

@Suite("Which contexts are observable")
struct ObservableContextTests {
    @Test("A container's view context is observable, its background contexts are not")
    @MainActor
    func contexts() async throws {
        let types: [any PersistentEntity.Type] = [TypedProduct.self]
        let container = try Stack(
            ManagedObjectModel(for: types), .log, classes: ObjectClasses(for: types)
        ).container
        #expect(container.viewContext.isObservable)
        let isObservable = await container.newBackgroundContext().perform { $0.isObservable }
        #expect(!isObservable)
        let product = container.viewContext.insert(TypedProduct.self)
        let counter = Counter()
        withObservationTracking {
            _ = product.price
        } onChange: {
            counter.tell()
        }
        product.price = 9
        #expect(counter.count == 1)
    }
}
