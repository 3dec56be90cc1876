// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

/// The classes as they were shipped first.
enum FirstCookbook {
    // WhyTheListIsSlow 1 begins
    @Entity
    final class Dish: ManagedObject {
        var title: String = ""
        var source: String = ""
        var number: Int = 0
        @Relationship(inverse: \Course.dishes) var course: Course?
        @Relationship(inverse: \Ingredient.dish) var ingredients: Set<Ingredient>
    }

    @Entity
    final class Course: ManagedObject {
        var name: String = ""
        var dishes: Set<Dish>
    }

    @Entity
    final class Ingredient: ManagedObject {
        var name: String = ""
        var dish: Dish?
    }
    // WhyTheListIsSlow 1 ends
}

/// The same entities with an index.
enum SecondCookbook {
    // WhyTheListIsSlow 7 begins
    @Entity
    final class Dish: ManagedObject {
        #Index<Dish>([\.source, \.number])
        var title: String = ""
        // WhyTheListIsSlow 7 pauses
        var source: String = ""
        var number: Int = 0
        @Relationship(inverse: \Course.dishes) var course: Course?
        @Relationship(inverse: \Ingredient.dish) var ingredients: Set<Ingredient>
        // WhyTheListIsSlow 7 goes on
        // and all the rest as it was
    }
    // WhyTheListIsSlow 7 ends

    @Entity
    final class Course: ManagedObject {
        var name: String = ""
        var dishes: Set<Dish>
    }

    @Entity
    final class Ingredient: ManagedObject {
        var name: String = ""
        var dish: Dish?
    }
}

@Suite("Why is the list slow")
struct WhyTheListIsSlow {
    typealias Dish = FirstCookbook.Dish
    typealias Course = FirstCookbook.Course
    typealias Ingredient = FirstCookbook.Ingredient

    /// Takes the lines of a trace, their times taken out.
    private final class Lines: Sendable {
        private let kept = Mutex<[String]>([])

        var take: @Sendable (String) -> Void {
            { text in
                self.kept.withLock { $0 += text.split(separator: "\n").map(timeless) }
            }
        }

        /// What came since the last call.
        func all() -> [String] {
            kept.withLock { kept in
                defer { kept = [] }
                return kept
            }
        }
    }

    private static func timeless(_ line: Substring) -> String {
        String(line).replacing(/in \d+\.\d{3} ms/, with: "in … ms")
    }

    private static func article() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = root.appending(path: "Sources/Cairn/Cairn.docc/WhyTheListIsSlow.md")
        return try String(contentsOf: article, encoding: .utf8)
    }

    /// The lines of traces that the article shows.
    private static func shown() throws -> [String] {
        try article().split(separator: "\n").filter { $0.hasPrefix("cairn: ") }.map(timeless)
    }

    /// Sixty dishes of two cookbooks, each of a course of its own, with nine ingredients; dishes 0 and 30 are the same.
    private func fill(_ container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            for number in 0..<60 {
                let dish = context.insert(Dish.self)
                dish.title = "dish \(100 + number)"
                dish.source = number % 2 == 0 ? "grandmother" : "web"
                dish.number = number == 30 ? 0 : number
                dish.course = context.insert(Course.self)
                dish.course?.name = "course \(number)"
                for place in 1...9 {
                    let ingredient = context.insert(Ingredient.self)
                    ingredient.name = "ingredient \(place) of \(number)"
                    ingredient.dish = dish
                }
            }
            try context.save()
        }
    }

    @MainActor
    @Test(
        "The trace shows a fault for each row and names the prefetch that cures it",
        arguments: Backend.compared)
    func list(_ backend: Backend) async throws {
        let container = try backend.container(for: Dish.self)
        try await fill(container)
        let lines = Lines()
        let log = lines.take
        let context = container.viewContext
        // WhyTheListIsSlow 2 begins
        container.instruments = [TraceInstrument(level: .values, to: log)]

        var request = FetchRequest<Dish>(sortBy: [SortKey("title")])
        let slow = try context.fetch(request).map { "\($0.title): \($0.course?.name ?? "")" }
        // WhyTheListIsSlow 2 ends
        var trace = lines.all()
        #expect(trace.count { $0.hasPrefix("cairn: fault Course ") } == 60)
        #expect(trace.count == 62)
        var known = trace
        // WhyTheListIsSlow 3 begins
        request.relationshipKeyPathsForPrefetching = ["course"]
        let fast = try context.fetch(request).map { "\($0.title): \($0.course?.name ?? "")" }
        // WhyTheListIsSlow 3 ends
        trace = lines.all()
        #expect(trace.count == 2 && !trace.contains { $0.contains("fault") })
        #expect(fast == slow && fast.count == 60 && fast[7] == "dish 107: course 7")
        known += trace

        // WhyTheListIsSlow 4 begins
        var detail = try FetchRequest<Dish>(#Predicate { $0.title == "dish 107" })
        detail.relationshipKeyPathsForPrefetching = ["ingredients"]
        let names = try context.fetch(detail)[0].ingredients.map(\.name)
        // WhyTheListIsSlow 4 ends
        trace = lines.all()
        #expect(trace.count == 2 && !trace.contains { $0.contains("fault") })
        #expect(names.count == 9 && names.contains("ingredient 9 of 7"))
        known += trace
        // Without the prefetch: a fault of the relationship, and none of the nine, as their rows are read along.
        context.reset()
        detail.relationshipKeyPathsForPrefetching = []
        #expect(try context.fetch(detail)[0].ingredients.map(\.name).count == 9)
        trace = lines.all()
        #expect(trace.count { $0.contains("fault Dish.ingredients") } == 1)
        #expect(trace.count { $0.contains("fault") } == 1)

        context.reset()
        // WhyTheListIsSlow 5 begins
        request.fetchBatchSize = 20
        let dishes = try context.fetchLazily(request)
        let screen = dishes.prefix(15).map { "\($0.title): \($0.course?.name ?? "")" }
        // WhyTheListIsSlow 5 ends
        trace = lines.all()
        #expect(trace.count == 3 && screen == Array(fast.prefix(15)) && dishes.count == 60)
        known += trace

        let shown = try Self.shown()
        #expect(shown.count == 11, "\(known.joined(separator: "\n"))")
        for line in shown { #expect(known.contains(line)) }
    }

    @Test("The plan of the duplicate query is a scan and groups, and with an index the index alone")
    func plans() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("cookbook.cairn")
        func duplicates(_ container: PersistentContainer) async throws -> [String] {
            try await container.performBackgroundTask { context in
                // WhyTheListIsSlow 6 begins
                var twice = FetchRequest<DictionaryResult>(entityName: "Dish")
                let count = try ExpressionDescription(
                    "count", "count:(number)", resultType: .integer64)
                twice.propertiesToFetch = ["source", "number", .expression(count)]
                twice.propertiesToGroupBy = ["source", "number"]
                twice.havingPredicate = try PredicateNode(format: "$count > 1")
                let steps = try context.explain(twice).steps
                // WhyTheListIsSlow 6 ends
                let found = try context.fetch(twice)
                #expect(found.count == 1 && found[0]["source"] as? String == "grandmother")
                var list = FetchRequest(entityName: "Dish")
                list.sortDescriptors = [SortKey("source"), SortKey("number")]
                return [steps, try context.explain(list).steps]
            }
        }
        var container = try PersistentContainer(at: path, for: FirstCookbook.Dish.self)
        try await fill(container)
        let before = try await duplicates(container)
        let groups = """

              grouped by source, number, with count = count:(number)
              having: count > 1
            """
        #expect(
            before == [
                "groups of scan of Dish" + groups, "scan of Dish\n  sorted by source, number",
            ])
        try container.store.close()
        container = try PersistentContainer(at: path, for: SecondCookbook.Dish.self)
        let after = try await duplicates(container)
        #expect(
            after == [
                "groups of covering index bySourceAndNumber (source, number), in its order"
                    + groups,
                "index bySourceAndNumber (source, number), in its order",
            ])
        let article = try Self.article()
        for plan in [before[0], after[0]] { #expect(article.contains("```\n\(plan)\n```")) }
        try container.store.close()
    }
}
