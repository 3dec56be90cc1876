// The examples of the article of this name: what is right as code that runs, what is wrong as text that the compiler is given.

import Cairn
import Foundation
import StoreBackends
import Testing

// ObjectsStayWhereTheyAre 1 begins
@Entity
final class Parcel: ManagedObject {
    var label: String = ""
    var weight: Double = 0
}
// ObjectsStayWhereTheyAre 1 ends

// ObjectsStayWhereTheyAre 15 begins
struct Delivery: Sendable {
    let parcel: ObjectID
}
// ObjectsStayWhereTheyAre 15 ends

// ObjectsStayWhereTheyAre 19 begins
@MainActor
final class ParcelScreen {
    let parcel: Parcel

    init(_ parcel: Parcel) { self.parcel = parcel }

    isolated deinit {
        parcel.managedObjectContext?.rollback()
    }
}
// ObjectsStayWhereTheyAre 19 ends

@Suite("Objects stay where they are")
struct ObjectsStayWhereTheyAre {
    /// What the wrong code uses.
    private static let common = """
        import Cairn

        @Entity
        final class Parcel: ManagedObject {
            var label: String = ""
            var weight: Double = 0
        }

        func send(_ label: String) async -> Bool { !label.isEmpty }

        func later(_ work: @escaping @Sendable () -> Void) { work() }
        """

    /// What the compiler sees when it looks for data races.
    private static let races = [
        RefusedCode(
            "returned", says: "as a 'sending' result risks causing data races",
            source: """
                func returned(_ container: PersistentContainer) async throws {
                    // ObjectsStayWhereTheyAre 2 begins
                    let parcels = try await container.performBackgroundTask { context in
                        try context.fetch(FetchRequest<Parcel>())
                    }
                    // ObjectsStayWhereTheyAre 2 ends
                    print(parcels.count)
                }
                """),
        RefusedCode(
            "returnedByDoor", says: "as a 'sending' result risks causing data races",
            source: """
                func returnedByDoor(_ background: BackgroundContext) async throws {
                    // ObjectsStayWhereTheyAre 3 begins
                    let parcel = try await background.perform { context in
                        try context.fetch(FetchRequest<Parcel>())[0]
                    }
                    // ObjectsStayWhereTheyAre 3 ends
                    print(parcel.label)
                }
                """),
        RefusedCode(
            "returnedContext", says: "returning task-isolated 'context' as a 'sending' result",
            source: """
                func returnedContext(_ background: BackgroundContext) async {
                    let context = await background.perform { context in context }
                    print(context.hasChanges)
                }
                """),
        RefusedCode(
            "assigned", says: "sending value of non-Sendable type",
            source: """
                func assigned(_ background: BackgroundContext) async throws {
                    // ObjectsStayWhereTheyAre 5 begins
                    var parcels: [Parcel] = []
                    try await background.perform { context in
                        parcels = try context.fetch(FetchRequest<Parcel>())
                    }
                    // ObjectsStayWhereTheyAre 5 ends
                    print(parcels.count)
                }
                """),
        RefusedCode(
            "takenAlong",
            says: "between main actor-isolated code and concurrent execution of the closure",
            source: """
                @MainActor
                func takenAlong(_ container: PersistentContainer) async throws {
                    // ObjectsStayWhereTheyAre 6 begins
                    let parcel = try container.viewContext.fetch(FetchRequest<Parcel>())[0]
                    try await container.performBackgroundTask { context in
                        parcel.weight = 2
                        try context.save()
                    }
                    // ObjectsStayWhereTheyAre 6 ends
                }
                """),
        RefusedCode(
            "takenToDoor",
            says: "between main actor-isolated code and concurrent execution of the closure",
            source: """
                @MainActor
                func takenToDoor(_ parcel: Parcel, _ background: BackgroundContext) async {
                    await background.perform { context in context.delete(parcel) }
                }
                """),
        RefusedCode(
            "detached",
            says: "between main actor-isolated code and concurrent execution of the closure",
            source: """
                @MainActor
                func detached(_ parcel: Parcel) {
                    Task.detached { print(parcel.label) }
                }
                """),
        RefusedCode(
            "detachedContext",
            says: "between main actor-isolated code and concurrent execution of the closure",
            source: """
                @MainActor
                func detachedContext(_ container: PersistentContainer) {
                    let context = container.viewContext
                    Task.detached { try context.save() }
                }
                """),
        RefusedCode(
            "fromContextToContext",
            says: "between code in the current task and concurrent execution of the closure",
            source: """
                func between(
                    _ container: PersistentContainer, _ background: BackgroundContext
                ) async throws {
                    try await container.performBackgroundTask { context in
                        let parcel = try context.fetch(FetchRequest<Parcel>())[0]
                        await background.perform { other in other.delete(parcel) }
                    }
                }
                """),
        RefusedCode(
            "readBeside", says: "sending 'parcel' risks causing data races",
            source: """
                func beside(_ container: PersistentContainer) async throws {
                    // ObjectsStayWhereTheyAre 8 begins
                    try await container.performBackgroundTask { context in
                        let parcel = try context.fetch(FetchRequest<Parcel>())[0]
                        async let isSent = send(parcel.label)
                        // ObjectsStayWhereTheyAre 8 pauses
                        _ = await isSent
                        // ObjectsStayWhereTheyAre 8 goes on
                    }
                    // ObjectsStayWhereTheyAre 8 ends
                }
                """),
        RefusedCode(
            "savedLater",
            says: "between code in the current task and concurrent execution of the closure",
            source: """
                func savedLater(_ container: PersistentContainer) async throws {
                    // ObjectsStayWhereTheyAre 9 begins
                    await container.performBackgroundTask { context in
                        context.insert(Parcel.self).label = "new"
                        _ = Task { try context.save() }
                    }
                    // ObjectsStayWhereTheyAre 9 ends
                }
                """),
        RefusedCode(
            "shownByMainActor", says: "sending 'parcel' risks causing data races",
            source: """
                @MainActor func show(_ parcel: Parcel) {}

                func shown(_ container: PersistentContainer) async throws {
                    try await container.performBackgroundTask { context in
                        let parcel = try context.fetch(FetchRequest<Parcel>())[0]
                        await show(parcel)
                    }
                }
                """),
        RefusedCode(
            "keptByActor", says: "sending 'container.viewContext' risks causing data races",
            source: """
                actor Keeper {
                    let context: ManagedObjectContext
                    init(_ context: ManagedObjectContext) { self.context = context }
                }

                @MainActor
                func kept(_ container: PersistentContainer) { _ = Keeper(container.viewContext) }
                """),
        RefusedCode(
            "streamed", says: "sending 'parcel' risks causing data races",
            source: """
                func streamed(
                    _ stream: AsyncStream<Parcel>.Continuation, _ background: BackgroundContext
                ) async throws {
                    try await background.perform { context in
                        for parcel in try context.fetch(FetchRequest<Parcel>()) {
                            stream.yield(parcel)
                        }
                    }
                }
                """),
        RefusedCode(
            "usedMeanwhile", says: "sending 'feed' risks causing data races",
            source: """
                func imported(_ container: PersistentContainer) async throws {
                    let feed = NSMutableArray()
                    async let isDone: Void = container.performBackgroundTask { context in
                        for case let label as String in feed {
                            context.insert(Parcel.self).label = label
                        }
                        try context.save()
                    }
                    feed.add("late")
                    try await isDone
                }
                """),
        RefusedCode(
            "deinitElsewhere",
            says: "with a non-Sendable type 'Parcel' from nonisolated deinit",
            source: """
                // ObjectsStayWhereTheyAre 18 begins
                @MainActor
                final class Screen {
                    let parcel: Parcel

                    init(_ parcel: Parcel) { self.parcel = parcel }

                    deinit {
                        parcel.managedObjectContext?.rollback()
                    }
                }
                // ObjectsStayWhereTheyAre 18 ends
                """),
    ]

    /// What the compiler sees by the types alone.
    private static let types = [
        RefusedCode(
            "viewContextElsewhere", says: "cannot exit main actor-isolated context",
            source: """
                func counted(_ container: PersistentContainer) async throws -> Int {
                    // ObjectsStayWhereTheyAre 11 begins
                    let count = try await container.viewContext.count(for: FetchRequest<Parcel>())
                    // ObjectsStayWhereTheyAre 11 ends
                    return count
                }
                """),
        RefusedCode(
            "viewContextWithoutAwait",
            says:
                "main actor-isolated property 'viewContext' can not be referenced from a nonisolated context",
            source: """
                func changed(_ container: PersistentContainer) -> Bool {
                    let context = container.viewContext
                    return context.hasChanges
                }
                """),
        RefusedCode(
            "givenByMainActor",
            says:
                "a managed object belongs to its context: pass its objectID or a snapshot",
            source: """
                func given(_ container: PersistentContainer) async throws -> String {
                    // ObjectsStayWhereTheyAre 12 begins
                    let parcel = try await MainActor.run {
                        try container.viewContext.fetch(FetchRequest<Parcel>())[0]
                    }
                    // ObjectsStayWhereTheyAre 12 ends
                    return parcel.label
                }
                """),
        RefusedCode(
            "keptByAll",
            says: "static property 'last' is not concurrency-safe",
            "static property 'all' is not concurrency-safe because non-'Sendable' type",
            "stored property 'parcel' of 'Sendable'-conforming struct 'Message' has non-Sendable type",
            source: """
                // ObjectsStayWhereTheyAre 14 begins
                enum Parcels {
                    static var last: Parcel?
                    static let all: [Parcel] = []
                }

                struct Message: Sendable {
                    let parcel: Parcel
                }
                // ObjectsStayWhereTheyAre 14 ends
                """),
        RefusedCode(
            "capturedBySendable",
            says: "capture of 'context' with non-Sendable type 'ManagedObjectContext'",
            source: """
                func captured(_ container: PersistentContainer) async {
                    // ObjectsStayWhereTheyAre 16 begins
                    await container.performBackgroundTask { context in
                        later { context.refreshAllObjects() }
                    }
                    // ObjectsStayWhereTheyAre 16 ends
                }
                """),
        RefusedCode(
            "sendableWanted",
            says: "a managed object belongs to its context: pass its objectID or a snapshot",
            "a context stays where it was created: use a BackgroundContext to work elsewhere",
            source: """
                func give<T: Sendable>(_ value: T) {}

                func given(_ parcel: Parcel, _ context: ManagedObjectContext) {
                    give(parcel)
                    give(context)
                }
                """),
    ]

    /// What must compile, and without a warning.
    private static let right = """
        import Cairn
        import Foundation

        enum Refusal: Error { case empty }

        /// Values, ids, snapshots, and what was made inside, may leave; what nobody uses any more may come along.
        func away(_ container: PersistentContainer) async throws {
            let feed = NSMutableArray(array: ["one", "two"])
            let ids = try await container.performBackgroundTask { context in
                for case let label as String in feed {
                    context.insert(Parcel.self).label = label
                }
                try context.save()
                return try context.fetch(FetchRequest<Parcel>()).map(\\.objectID)
            }
            let background = container.newBackgroundContext()
            let snapshots = try await background.perform { context in
                try context.fetch(FetchRequest<Parcel>()).snapshots()
            }
            let names = await background.perform { context in
                ids.map { context.object(with: $0)["label"] as? String }
            }
            let filled = await background.perform { context in
                let list = NSMutableArray()
                list.add(context.hasChanges)
                return list
            }
            async let isSent = send(snapshots[0].label)
            let count = try await MainActor.run {
                try container.viewContext.count(for: FetchRequest<Parcel>())
            }
            Task.detached { print(snapshots.map(\\.weight), ids, names) }
            await print(isSent, count, filled.count)
        }

        /// Errors keep their type, and who throws none needs no try.
        func typed(_ background: BackgroundContext) async throws(Refusal) {
            await background.perform { $0.rollback() }
            try await background.perform { (context) throws(Refusal) in
                if context.insertedObjects.isEmpty { throw .empty }
            }
        }

        /// On the main actor objects of its context go where they like.
        @MainActor
        func here(_ container: PersistentContainer) throws -> Task<Void, Never> {
            let parcel = try container.viewContext.fetch(FetchRequest<Parcel>())[0]
            let draft = container.viewContext.newChildContext()
            draft.insert(Parcel.self).label = parcel.label
            return Task {
                parcel.weight += 1
                _ = await send(parcel.label)
            }
        }

        /// In a task of its own a context may be used across suspensions.
        func suspended(_ container: PersistentContainer) async throws {
            try await container.performBackgroundTask { context in
                for parcel in try context.fetch(FetchRequest<Parcel>()) {
                    let label = parcel.label
                    async let isSent = send(label)
                    if await isSent { context.delete(parcel) }
                }
                try context.save()
            }
        }
        """

    /// What must compile in a module whose code is on the main actor unless it says otherwise.
    private static let rightOnMainActor = """
        import Cairn
        import Foundation

        @Entity
        nonisolated final class Letter: ManagedObject {
            var address: String = ""
            var corner: Corner = Corner()
            var kind: Kind = .plain
            @Relationship(inverse: \\Stamp.letter) var stamps: Set<Stamp>

            var line: String { "To " + address }

            override func willSave() { if address != line { address = line } }
        }

        @Entity
        nonisolated final class Stamp: ManagedObject {
            var letter: Letter?
        }

        @Composite
        nonisolated struct Corner {
            var width: Double = 0
        }

        nonisolated enum Kind: String { case plain, registered }

        final class Desk {
            let container: PersistentContainer

            init(_ container: PersistentContainer) { self.container = container }

            func addresses() throws -> [String] {
                let plain = Kind.plain.rawValue
                let request = try FetchRequest<Letter>(
                    #Predicate { $0.address != plain }, sortBy: [.init(\\.address)])
                return try container.viewContext.fetch(request).map(\\.address)
            }

            func clear() async throws -> Int {
                try await container.performBackgroundTask { context in
                    let request = try FetchRequest<Letter>(#Predicate { $0.address == "" })
                    for letter in try context.fetch(request) where letter.line == "To " {
                        letter.stamps = []
                    }
                    try context.save()
                    return try context.executeBatchDelete(request).deletedCount
                }
            }
        }
        """

    private static let refusedRaces = RefusedCodes(races, common: common)
    private static let refusedTypes = RefusedCodes(types, common: common)

    @Test("What could be used in two places at once does not compile", arguments: races)
    func raced(_ code: RefusedCode) async throws { try await Self.refusedRaces.check(code) }

    @Test("What is of a type that stays does not compile elsewhere", arguments: types)
    func typed(_ code: RefusedCode) async throws { try await Self.refusedTypes.check(code) }

    @Test("Ids, values and snapshots go anywhere, and what stays on the main actor compiles there")
    func allowed() async throws {
        let compiler = try SwiftCompiler()
        let said = try await compiler.diagnostics(of: ["common": Self.common, "right": Self.right])
        #expect(said.isEmpty)
    }

    @Test(
        "Entities work in a module whose code is on the main actor unless it says otherwise, said or unsaid",
        arguments: ["", "nonisolated "])
    func mainActor(_ modifier: String) async throws {
        let source = Self.rightOnMainActor.replacing("nonisolated ", with: modifier)
        let said = try await SwiftCompiler().diagnostics(
            of: ["right": source], ["-default-isolation", "MainActor"])
        #expect(said.isEmpty)
    }

    @Test("The article says what the compiler says")
    func quoted() async throws {
        let article = try QuotingArticle("ObjectsStayWhereTheyAre")
        let races = try await Self.refusedRaces.errors()
        let types = try await Self.refusedTypes.errors()
        article.check(against: races + types)
    }

    // MARK: What is right

    private func prepare(_ container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            for label in ["books", "shoes"] { context.insert(Parcel.self).label = label }
            try context.save()
        }
    }

    @MainActor
    @Test(
        "Ids become objects of another context, and snapshots are values",
        arguments: Backend.compared)
    func values(_ backend: Backend) async throws {
        let container = try backend.container(for: Parcel.self)
        try await prepare(container)
        // ObjectsStayWhereTheyAre 4 begins
        let ids = try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Parcel>()).map(\.objectID)
        }
        let parcels = ids.map { container.viewContext.object(with: $0) }  // faults, until touched

        let snapshots = try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Parcel>()).snapshots()
        }
        let labels = snapshots.map(\.label)
        // ObjectsStayWhereTheyAre 4 ends
        #expect(parcels.allSatisfy { $0 is Parcel && $0.isFault })
        #expect(labels == ["books", "shoes"])
    }

    @MainActor
    @Test("An id goes along to where its object is to be changed", arguments: Backend.compared)
    func along(_ backend: Backend) async throws {
        let container = try backend.container(for: Parcel.self)
        try await prepare(container)
        let parcel = try container.viewContext.fetch(FetchRequest<Parcel>())[0]
        // ObjectsStayWhereTheyAre 7 begins
        let id = parcel.objectID
        try await container.performBackgroundTask { context in
            let parcel = try context.existingObject(with: id) as? Parcel
            parcel?.weight = 2
            try context.save()
        }
        // ObjectsStayWhereTheyAre 7 ends
        container.viewContext.refreshAllObjects()
        #expect(parcel.weight == 2)
    }

    @Test("A value is read before something runs beside", arguments: Backend.compared)
    func beside(_ backend: Backend) async throws {
        func send(_ label: String) async -> Bool { label == "books" }
        let container = try backend.container(for: Parcel.self)
        try await prepare(container)
        // ObjectsStayWhereTheyAre 10 begins
        try await container.performBackgroundTask { context in
            let parcel = try context.fetch(FetchRequest<Parcel>())[0]
            let label = parcel.label
            async let isSent = send(label)
            parcel.weight = 1
            if await isSent { context.delete(parcel) }
            try context.save()
        }
        // ObjectsStayWhereTheyAre 10 ends
        // ObjectsStayWhereTheyAre 13 begins
        let count = try await MainActor.run {
            try container.viewContext.count(for: FetchRequest<Parcel>())
        }
        // ObjectsStayWhereTheyAre 13 ends
        #expect(count == 1)
    }

    @Test("A background context may go anywhere", arguments: Backend.compared)
    func door(_ backend: Backend) async throws {
        let container = try backend.container(for: Parcel.self)
        try await prepare(container)
        func later(_ work: @escaping @Sendable () -> Task<Void, Never>) async {
            await work().value
        }
        let id = try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Parcel>())[0].objectID
        }
        let delivery = Delivery(parcel: id)
        let background = container.newBackgroundContext()
        await background.perform { $0.object(with: delivery.parcel)["weight"] = 3.0 }
        await later {
            // ObjectsStayWhereTheyAre 17 begins
            Task { await background.perform { $0.refreshAllObjects() } }
            // ObjectsStayWhereTheyAre 17 ends
        }
        let weight = await background.perform { $0.object(with: id)["weight"] as? Double }
        #expect(weight == 3)
    }

    @MainActor
    @Test("An isolated deinit may touch an object", arguments: Backend.compared)
    func screens(_ backend: Backend) async throws {
        let container = try backend.container(for: Parcel.self)
        try await prepare(container)
        let parcel = try container.viewContext.fetch(FetchRequest<Parcel>())[0]
        var screen: ParcelScreen? = ParcelScreen(parcel)
        screen?.parcel.weight = 5
        #expect(parcel.hasChanges)
        screen = nil
        #expect(!parcel.hasChanges && parcel.weight == 0)
    }
}
