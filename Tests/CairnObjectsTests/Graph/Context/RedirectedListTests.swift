// Lists whose conditions name objects that are folded into others.

import CairnLog
import CairnModel
import CairnStore
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Lists that name folded objects")
struct RedirectedListTests {
    private func follower(_ predicate: PredicateNode, _ context: ManagedObjectContext) throws
        -> ResultsFollower
    {
        var request = FetchRequest(entityName: "Person", predicate: predicate)
        request.sortDescriptors = [SortKey("name")]
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: true)
        try follower.load(context)
        follower.observe(context, isOwn: false)
        return follower
    }

    private func names(_ follower: ResultsFollower) -> [String?] {
        var names: [String?] = []
        follower.list?.forEach { id, _ in
            names.append(follower.list?.object(of: id)?.string("name"))
        }
        return names
    }

    @Test(
        "A list of what leads to a loser is one of what leads to the winner from then on, if that was written or not",
        arguments: [true, false])
    func folding(_ leadsToLoser: Bool) throws {
        let stack = try Stack(DuplicatePeople.model, .log)
        let companies = try stack.store { context in
            [1, 2].map { _ in context.make("Company", ["name": "x"]) }
        }
        try stack.store { context in
            let first = context.make("Person", ["name": "first"])
            first["employer"] = context.object(with: companies[0])
            let second = context.make("Person", ["name": "second"])
            if leadsToLoser { second["employer"] = context.object(with: companies[1]) }
            return [first, second]
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let loser = PredicateNode.compare("employer", .equal, .objectID(companies[1]))
        let list = try follower(loser, context)
        let other = try follower(.compare("name", .equal, .string("first")), context)
        var told = 0
        list.listener.didChange = { _, _ in told += 1 }
        #expect(names(list) == (leadsToLoser ? ["second"] : []))
        try stack.context().execute(
            DeduplicationRequest(entityName: "Company", by: ["name"], keeping: .first))
        context.processPendingChanges()
        #expect(names(list) == (leadsToLoser ? ["first", "second"] : ["first"]))
        #expect(told == 1 && list.fetches == 2)
        // It goes on from there, and others are not fetched again.
        let new = context.make("Person", ["name": "new"])
        new["employer"] = context.object(with: companies[0])
        try context.save()
        #expect(names(list).contains("new") && list.fetches == 2)
        #expect(names(other) == ["first"] && other.fetches == 1)
    }
}
