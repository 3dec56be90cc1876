// S4: Why is the list slow? The trace says it, and what cures it.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

/// Takes the lines of a trace, their times taken out.
final class Lines: Sendable {
    private let kept = Mutex<[String]>([])

    var take: @Sendable (String) -> Void {
        { text in
            self.kept.withLock {
                $0.append(contentsOf: text.split(separator: "\n").map(String.init))
            }
        }
    }

    /// What came since the last call.
    func all() -> [String] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept.map { $0.replacing(/in \d+\.\d{3} ms/, with: "in … ms") }
        }
    }
}

@Suite("S4: Why is the list slow?")
struct SlowListTests {
    /// A list shows each recipe with its type.
    private func show(_ recipes: some Sequence<ManagedObject>) -> [String] {
        recipes.map { "\($0.string("title") ?? ""): \($0.object("type")?.string("name") ?? "")" }
    }

    @Test("The trace shows one fault for each row and the prefetch that cures it")
    func list() throws {
        let store = try Kitchen.store(.log)
        let lines = Lines()
        let context = ManagedObjectContext(
            store: store, instruments: [TraceInstrument(level: .values, to: lines.take)])
        let slow = show(try context.fetch(.recipes))
        var trace = lines.all()
        #expect(trace.first == "cairn: fetch Recipe sorted by title: 60 objects in … ms")
        let faults = trace.filter { $0.hasPrefix("cairn: fault Type ") }
        #expect(faults.count == 60, "one for each row")
        #expect(faults.allSatisfy { $0.hasSuffix(": 1 row in … ms") })
        let advice = trace.filter { $0.contains("advice") }
        #expect(
            advice == [
                "cairn: advice: Recipe.type queried the store 20 times for objects of one fetch "
                    + "(Recipe sorted by title): add relationshipKeyPathsForPrefetching = [\"type\"] to it"
            ])
        #expect(trace.count == 62)

        var request = FetchRequest.recipes
        request.relationshipKeyPathsForPrefetching = ["type"]
        let fast = show(try context.fetch(request))
        trace = lines.all()
        #expect(
            trace == [
                "cairn: prefetch Recipe.type: 6 rows in … ms",
                "cairn: fetch Recipe sorted by title: 60 objects in … ms",
            ])
        #expect(fast == slow && fast.count == 60)
    }

    @Test("The ingredients of a detail view come by one fetch instead of nine")
    func detail() throws {
        let store = try Kitchen.store(.log)
        let lines = Lines()
        let context = ManagedObjectContext(
            store: store, instruments: [TraceInstrument(level: .values, to: lines.take)])
        var request = FetchRequest.recipes
        request.predicate = .compare("title", .equal, .string("recipe 107"))
        func ingredients() throws -> Set<String?> {
            Set(try context.fetch(request)[0].members("ingredients").map { $0.string("name") })
        }
        let names = try ingredients()
        var trace = lines.all()
        #expect(names.count == 9)
        // Their rows come along with the relationship.
        #expect(trace.count { $0.hasPrefix("cairn: fault Ingredient ") } == 0)
        #expect(trace.count { $0.hasPrefix("cairn: fault Recipe.ingredients of ") } == 1)
        request.relationshipKeyPathsForPrefetching = ["ingredients"]
        #expect(try ingredients() == names)
        trace = lines.all()
        #expect(
            trace == [
                "cairn: prefetch Recipe.ingredients: 9 rows in … ms",
                "cairn: fetch Recipe where title == 'recipe 107' sorted by title: 1 object in … ms",
            ])
    }

    @Test("A batch size reads what is shown", arguments: [1, 7, 20, 59, 60, 100])
    func batches(_ size: Int) throws {
        let recorder = EventRecorder(.fetches)
        let store = try Kitchen.store(.log)
        let context = ManagedObjectContext(store: store, instruments: [recorder])
        var request = FetchRequest.recipes
        request.fetchBatchSize = size
        let list = try context.fetchLazily(request)
        #expect(recorder.fetches.map(\.kind) == [.objectIDs])
        _ = recorder.take()
        // A screen shows the first fifteen.
        for place in 0..<15 { _ = list[place]["title"] }
        #expect(recorder.fetches.allSatisfy { $0.kind == .batch })
        let shown = (15 + size - 1) / size
        #expect(recorder.fetches.count == shown)
        #expect(recorder.fetches.reduce(0) { $0 + $1.count } == min(60, shown * size))
        _ = recorder.take()
        let fresh = ManagedObjectContext(store: store, instruments: [recorder])
        for recipe in try fresh.fetchLazily(request) { _ = recipe["title"] }
        #expect(recorder.fetches.count { $0.kind == .batch } == (60 + size - 1) / size)
    }

    @Test("The plan of the duplicate query is a scan and a sort, and with an index a search")
    func plans() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("kitchen.cairn")
        func trace(_ model: ManagedObjectModel) throws -> [String] {
            let store = try LogStore.open(at: path, schema: Schema(model))
            defer { try? store.close() }
            if try store.snapshot().count(StoreFetch(entity: 0)) == 0 {
                try Kitchen.fill(store, recipes: 300)
            }
            let lines = Lines()
            let context = ManagedObjectContext(
                store: store, instruments: [TraceInstrument(level: .plans, to: lines.take)])
            // Are there two of one source with the same number?
            var request = FetchRequest(entityName: "Recipe")
            request.sortDescriptors = [SortKey("source"), SortKey("externalID")]
            let all = try context.fetch(request)
            #expect(all.count == 300)
            request.sortDescriptors = []
            request.predicate =
                .compare("source", .equal, .string("web"))
                && .compare("externalID", .equal, .string("17"))
            #expect(try context.fetch(request).map { $0.string("title") } == ["recipe 134"])
            return lines.all()
        }
        #expect(
            try trace(Kitchen.model) == [
                "cairn: fetch Recipe sorted by source, externalID: 300 objects in … ms",
                "  scan of Recipe", "    sorted by source, externalID",
                "  estimated 300 of 300 rows; 300 examined", "  1 blocks read, 0 skipped",
                "cairn: fetch Recipe where source == 'web' AND externalID == '17': 1 object in … ms",
                "  scan of Recipe", "    filter: source == 'web' AND externalID == '17'",
                "  estimated 300 of 300 rows; 300 examined", "  1 blocks read, 0 skipped",
            ])
        #expect(
            try trace(Kitchen.indexedModel) == [
                "cairn: fetch Recipe sorted by source, externalID: 300 objects in … ms",
                "  index byOrigin (source, externalID), in its order",
                "  estimated 300 of 300 rows; 300 examined", "  1 blocks read, 0 skipped",
                "cairn: fetch Recipe where source == 'web' AND externalID == '17': 1 object in … ms",
                "  index byOrigin (source, externalID) for source = \"web\", externalID = \"17\"",
                "  estimated 1 of 300 rows; 1 examined", "  1 blocks read, 0 skipped",
            ])
    }

    @Test("Who is there twice is counted in a compound index, and scanned for without one")
    func duplicates() throws {
        let directory = try TemporaryDirectory()
        func plan(_ model: ManagedObjectModel) throws -> String {
            let path = directory.path("kitchen.cairn")
            let store = try LogStore.open(at: path, schema: Schema(model))
            defer { try? store.close() }
            if try store.snapshot().count(StoreFetch(entity: 0)) == 0 {
                // The same recipes from the same source, twice.
                for _ in 0..<2 { try Kitchen.fill(store, recipes: 100) }
            }
            let count = ExpressionNode.function(.count, [.evaluatedObject])
            var terms = TableTerms(columns: [
                .init("source"), .init("externalID"), .init("count", count),
            ])
            terms.groupBy = [.keyPath("source"), .keyPath("externalID")]
            terms.having = .compare(count, .greater, .constant(.integer(1)))
            let table = try store.snapshot().table(StoreTableFetch(StoreFetch(entity: 0), terms))
            #expect(table.rows.count == 100)
            #expect(table.rows.allSatisfy { $0[2] == .integer(2) })
            return table.plan
        }
        #expect(try plan(Kitchen.model) == "groups of scan of Recipe")
        #expect(
            try plan(Kitchen.indexedModel)
                == "groups of covering index byOrigin (source, externalID), in its order")
    }
}
