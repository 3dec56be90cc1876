// Zero with a minus sign and zero are one value, also among rows that are wanted once.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Both zeros")
struct EqualZerosTests {
    @Test(
        "Of rows that differ in the sign of zero one is given, as groups are made by it",
        arguments: Backend.allCases)
    func distinct(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            [0.0, -0.0, 1, -0.0].map { (price: Double) in
                context.make("Product", ["price": price, "name": "\(price)"])
            }
        }
        var rows = FetchRequest<DictionaryResult>(entityName: "Product")
        rows.propertiesToFetch = ["price"]
        rows.returnsDistinctResults = true
        #expect(try stack.context().fetch(rows).map { $0["price"] as? Double } == [0, 1])
        // The least of a group is one of the zeros; which of them depends on which came first.
        let least = try ExpressionDescription("least", "min:(price)")
        rows.propertiesToGroupBy = ["name"]
        rows.propertiesToFetch = [.expression(least)]
        #expect(try stack.context().fetch(rows).map { $0["least"] as? Double } == [0, 1])
        rows.propertiesToGroupBy = ["price"]
        rows.propertiesToFetch = ["price"]
        #expect(try stack.context().fetch(rows).count == 2)
    }
}
