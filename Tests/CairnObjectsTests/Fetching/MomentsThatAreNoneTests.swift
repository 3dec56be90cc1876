// Dates that are no number: nothing equals them, and nothing is less or greater. Objects refuse to be saved with them, but
// a condition may have one.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Moments that are none")
struct MomentsThatAreNoneTests {
    private func context(isIndexed: Bool) throws -> ManagedObjectContext {
        var event = EntityDescription("Event", attributes: [.init("when", .date)])
        if isIndexed {
            event.indexes = [FetchIndexDescription("byWhen", elements: [.init("when")])]
        }
        let stack = try Stack(ManagedObjectModel(entities: [event]), .log)
        let context = stack.context()
        for seconds in [0, 1, 2, 3] + (10..<60).map(Double.init) {
            context.insert("Event")["when"] = Date(timeIntervalSinceReferenceDate: seconds)
        }
        context.insert("Event")
        try context.save()
        return stack.context()
    }

    @Test(
        "No comparison with one finds anything, with an index and without",
        arguments: [false, true])
    func comparisons(isIndexed: Bool) throws {
        let context = try context(isIndexed: isIndexed)
        let none = ExpressionNode.constant(
            .date(Date(timeIntervalSinceReferenceDate: .nan)))
        let key = ExpressionNode.keyPath("when")
        for relation: PredicateNode.Comparison.Operator in [
            .equal, .less, .lessOrEqual, .greater, .greaterOrEqual,
        ] {
            var request = FetchRequest(
                entityName: "Event", predicate: .compare(key, relation, none))
            #expect(try context.count(for: request) == 0, "\(relation)")
            request.sortDescriptors = [SortKey("when")]
            request.fetchLimit = 1
            #expect(try context.fetch(request).isEmpty, "\(relation)")
        }
        let early = FetchRequest(
            entityName: "Event",
            predicate: .compare(
                key, .lessOrEqual, .constant(.date(Date(timeIntervalSinceReferenceDate: 1)))))
        #expect(try context.count(for: early) == 2)
    }
}
