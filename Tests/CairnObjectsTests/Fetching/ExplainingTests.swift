// What the context says of how a request is answered: for each kind of result what a fetch of it asks.

import CairnLog
import CairnModel
import CairnStore
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Explaining requests")
struct ExplainingTests {
    private func context(_ recorder: EventRecorder? = nil) throws -> ManagedObjectContext {
        let store = try Backend.log.makeStore(Schema(Kitchen.indexedModel))
        try Kitchen.fill(store)
        return ManagedObjectContext(store: store, instruments: recorder.map { [$0] } ?? [])
    }

    /// One recipe, by all that the index has.
    private static let one = PredicateNode.and([
        .compare("source", .equal, .string("web")), .compare("externalID", .equal, .string("7")),
    ])
    private static let index =
        #"index byOrigin (source, externalID) for source = "web", externalID = "7""#

    private static func groups() throws -> FetchRequest<DictionaryResult> {
        var request = FetchRequest<DictionaryResult>(
            entityName: "Recipe", predicate: .compare("title", .greater, .string("recipe 1")))
        request.propertiesToFetch = [
            "source", .expression(try ExpressionDescription("count", "count:(SELF)")),
        ]
        request.propertiesToGroupBy = ["source"]
        request.havingPredicate = try PredicateNode(format: "count > 1")
        request.sortDescriptors = [SortKey("count", ascending: false), SortKey("source")]
        return request
    }

    private static let groupSteps = """
        groups of scan of Recipe
          filter: title > 'recipe 1'
          grouped by source, with count = count:(SELF)
          having: count > 1
          sorted by -count, source
        """

    @Test(
        "Rows of groups: what they are grouped by, asked and sorted by, also by a name of a figure")
    func groups() throws {
        let context = try context()
        let request = try Self.groups()
        let plan = try context.explain(request)
        #expect(plan.steps == Self.groupSteps)
        #expect(try plan.results == context.fetch(request).count && plan.results == 2)
        #expect([plan.estimatedRows, plan.allRows, plan.rowsLooked] == [60, 60, 60])
        #expect(plan.blocksRead == 1 && plan.blocksSkipped == 0 && plan.seconds > 0)
        #expect(plan.description.contains("estimated 60 of 60 rows; 60 examined, 2 results"))
    }

    @Test("Rows of values: what is sorted by and given once, expressions among it")
    func values() throws {
        let context = try context()
        var request = FetchRequest<DictionaryResult>(entityName: "Recipe", predicate: Self.one)
        request.propertiesToFetch = [
            "type.name", .expression(try ExpressionDescription("loud", "uppercase:(externalID)")),
        ]
        request.returnsDistinctResults = true
        request.sortDescriptors = [SortKey("type.name")]
        let plan = try context.explain(request)
        #expect(
            plan.steps == "\(Self.index)\n  sorted by type.name\n  distinct")
        #expect(try plan.results == context.fetch(request).count)
        // The recipes' block, and that of the types across the relationship.
        #expect(plan.blocksRead == 2 && plan.blocksSkipped == 0)
        var all = FetchRequest<DictionaryResult>(entityName: "Recipe")
        all.propertiesToFetch = [.expression(try ExpressionDescription("last", "max:(title)"))]
        #expect(
            try context.explain(all).steps
                == "groups of scan of Recipe\n  grouped all together, with last = max:(title)")
    }

    @Test("Ids and counts that an index alone gives say that it covers them; objects have rows")
    func covering() throws {
        let context = try context()
        let index = Self.index
        let ids = try context.explain(
            FetchRequest<ObjectID>(entityName: "Recipe", predicate: Self.one))
        #expect(ids.access == "covering \(index)" && ids.blocksRead == 0 && ids.results == 1)
        let count = try context.explain(
            FetchRequest<Int>(entityName: "Recipe", predicate: Self.one))
        #expect(count.access == "covering \(index)" && count.blocksRead == 0)
        #expect(count.results == 1 && count.rowsLooked == 1)
        let objects = try context.explain(
            FetchRequest(entityName: "Recipe", predicate: Self.one))
        #expect(objects.access == index && objects.blocksRead == 1)
        var faults = FetchRequest(entityName: "Recipe", predicate: Self.one)
        faults.includesPropertyValues = false
        #expect(try context.explain(faults).access == "covering \(index)")
        // What an index does not answer is asked of rows, and sorting reads them.
        var request = FetchRequest<ObjectID>(
            entityName: "Recipe",
            predicate: .and([Self.one, .compare("title", .contains, .string("9"))]))
        let asked = try context.explain(request)
        #expect(asked.access == index && asked.blocksRead == 1)
        request.predicate = Self.one
        request.sortDescriptors = [SortKey("title")]
        #expect(try context.explain(request).steps == "\(index)\n  sorted by title")
        #expect(
            try context.explain(FetchRequest<Int>(entityName: "Recipe")).access
                == "the numbers of objects that are kept")
        let scanned = try context.explain(
            FetchRequest<Int>(
                entityName: "Recipe", predicate: .compare("title", .equal, .string("recipe 107"))))
        #expect(scanned.access == "scan of Recipe" && scanned.results == 1)
    }

    @Test("A request reads rows where its objects need them, whatever it says of values")
    func rowsThatAreNeeded() throws {
        let recorder = EventRecorder(.fetches)
        let context = try context(recorder)
        var request = FetchRequest(entityName: "Recipe", predicate: Self.one)
        request.includesPropertyValues = false
        request.shouldRefreshRefetchedObjects = true
        let plan = try context.explain(request)
        #expect(plan.access == Self.index && plan.blocksRead == 1)
        _ = try context.fetch(request)
        #expect(try recorder.fetches.map { try $0.plan()?.steps } == [plan.steps])
        // Only rows can tell which class an object of several entities is of.
        let garage = try Stack(Models.vehicles, .log)
        try garage.store { [$0.make("Car"), $0.make("Truck")] }
        for (entity, withChildren, readsRows) in [
            ("Car", true, true), ("Car", false, false), ("Truck", true, false),
        ] {
            var cars = FetchRequest(entityName: entity)
            cars.includesPropertyValues = false
            cars.includesSubentities = withChildren
            let asked = try garage.context().storeQuestion(cars.terms, .managedObject)
            guard case .fetch(let fetch) = asked else {
                Issue.record("\(entity) is no fetch")
                continue
            }
            #expect(fetch.includesRows == readsRows, "\(entity)")
        }
    }

    @Test("With the nil of SQL rows and groups are shown as they are asked")
    func sqlNulls() throws {
        let recorder = EventRecorder(.fetches)
        let context = try context(recorder)
        var request = try Self.groups()
        request.predicate = .compare("title", .notEqual, .string("recipe 1"))
        request.havingPredicate = try PredicateNode(format: "source != 'web' AND count > 1")
        request.nullSemantics = .sql
        #expect(try context.fetch(request).count == 1)
        let steps = """
            groups of scan of Recipe
              filter: title != 'recipe 1' AND title != NULL
              grouped by source, with count = count:(SELF)
              having: source != 'web' AND source != NULL AND count > 1
              sorted by -count, source
            """
        let plan = try context.explain(request)
        #expect(plan.steps == steps, "\(plan.steps)")
        let event = try #require(recorder.fetches.first)
        #expect(try event.plan()?.steps == steps && event.request.nullSemantics == .sql)
        #expect(
            event.request.text(showsValues: false)
                == "source, count of Recipe where title != $value grouped by source having source != $value AND count > $value with SQL nulls sorted by -count, source"
        )
    }

    @Test("A request that cannot be fetched cannot be explained, for the same reason")
    func refusals() throws {
        let context = try context()
        var values = try Self.groups()
        values.propertiesToFetch.append("title")
        var objects = FetchRequest(entityName: "Recipe")
        objects.returnsDistinctResults = true
        for (fetching, explaining) in [
            (
                storeError { _ = try context.fetch(values) },
                storeError { _ = try context.explain(values) }
            ),
            (
                storeError { _ = try context.fetch(objects) },
                storeError { _ = try context.explain(objects) }
            ),
        ] {
            let error = try #require(fetching)
            #expect(error.code == .invalidRequest && explaining?.code == .invalidRequest)
            #expect(error.message == explaining?.message)
        }
    }

    @Test("Events of values and counts have the plans of what was asked")
    func events() throws {
        let recorder = EventRecorder(.fetches)
        let context = try context(recorder)
        _ = try context.fetch(Self.groups())
        _ = try context.count(for: FetchRequest(entityName: "Recipe", predicate: Self.one))
        let events = recorder.fetches
        #expect(events.map(\.kind) == [.values, .count])
        #expect(try events[0].plan()?.steps == Self.groupSteps)
        #expect(
            events[0].request.text(showsValues: true)
                == "source, count of Recipe where title > 'recipe 1' grouped by source having count > 1 sorted by -count, source"
        )
        #expect(try events[1].plan()?.access.hasPrefix("covering index byOrigin") == true)
    }

    @Test("A request is executed by a verb of its own")
    func executing() throws {
        let context = try context()
        #expect(try FetchRequest.recipes.execute(in: context) == context.fetch(.recipes))
        let ids = FetchRequest<ObjectID>(entityName: "Recipe", predicate: Self.one)
        #expect(try ids.execute(in: context) == context.fetchObjectIDs(ids))
        #expect(try FetchRequest<Int>(entityName: "Recipe").execute(in: context) == [60])
        let rows = try Self.groups()
        #expect(try rows.execute(in: context) == context.fetch(rows))
    }
}
