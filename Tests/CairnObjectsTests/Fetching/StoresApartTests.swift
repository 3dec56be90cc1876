// A context asks the one store that it is over. Where Core Data has a coordinator of several stores and `affectedStores` to
// choose among them, here whoever asks chooses the context.
//
// Of B098 this has what one store for each context can show. What needs several stores behind one context (`affectedStores`
// itself, for each kind of request) comes with containers of several stores, and batch updates with these requests.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Stores apart")
struct StoresApartTests {
    @Test(
        "Fetch, count, batch insert and batch delete are of the store that is asked, and of no other of the same model (B098: of one store a context; no batch updates yet)",
        arguments: Backend.allCases)
    func oneOfTwo(_ backend: Backend) throws {
        let stacks = [try Stack(Models.shop, backend), try Stack(Models.shop, backend)]
        for (number, stack) in stacks.enumerated() {
            try stack.store { context in
                (0...number).map { context.make("Product", ["serialCode": "\(number)-\($0)"]) }
            }
        }
        let contexts = stacks.map { $0.context() }
        func codes() throws -> [[String?]] {
            try contexts.map { context in
                try context.all("Product", sortedBy: "serialCode").map { $0.string("serialCode") }
            }
        }
        #expect(try codes() == [["0-0"], ["1-0", "1-1"]])
        #expect(try contexts.map { try $0.count("Product") } == [1, 2])
        // The object of one store is none of the other's.
        let id = try contexts[1].all("Product")[0].objectID
        let isIt = PredicateNode.compare("SELF", .equal, .objectID(id))
        #expect(
            try contexts.map {
                try $0.count(for: FetchRequest(entityName: "Product", predicate: isIt))
            } == [0, 1])
        guard backend != .dictionary else { return }
        _ = try contexts[0].execute(
            BatchInsertRequest(entityName: "Product", objects: [["serialCode": "0-1"]]))
        #expect(try codes() == [["0-0", "0-1"], ["1-0", "1-1"]])
        _ = try contexts[1].executeBatchDelete(FetchRequest<ManagedObject>(entityName: "Product"))
        #expect(try codes() == [["0-0", "0-1"], []])
    }
}
