// Groups that are counted in an index: which index, and what becomes of a question that nobody wants answered any more.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("Groups counted in an index")
struct IndexGroupsTests {
    /// Items of seven kinds, and one of none, with indexes over them.
    private static func store(_ indexes: [[String]]) throws -> LogStore {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("kind", .string), .init("name", .string), .init("size", .integer32),
            ])
        item.indexes = indexes.map { keys in
            FetchIndexDescription(
                keys.joined(separator: "And"),
                elements: keys.map { FetchIndexDescription.Element($0) })
        }
        let schema = try Schema(ManagedObjectModel(entities: [item]))
        let store = try LogStore.inMemory(schema: schema)
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Item",
                objects: (0..<3000).map {
                    ["kind": "kind \($0 % 7)", "name": "name \($0)", "size": $0] as [String: Any]
                } + [["name": "none"]]))
        return store
    }

    private static func kinds(_ isCancelled: (@Sendable () -> Bool)? = nil) throws
        -> StoreTableFetch
    {
        var terms = TableTerms(columns: [
            .init("kind"), .init("n", try ExpressionNode(format: "count:(kind)")),
        ])
        terms.groupBy = [.keyPath("kind")]
        var fetch = StoreFetch(entity: 0)
        fetch.isCancelled = isCancelled
        return StoreTableFetch(fetch, terms)
    }

    @Test(
        "Of indexes in the same order the one with fewer elements is read, wherever it stands",
        arguments: [
            [["kind", "name", "size"], ["kind"], ["kind", "name"]],
            [["kind"], ["kind", "name"], ["kind", "name", "size"]],
        ])
    func shortest(_ indexes: [[String]]) throws {
        let store = try Self.store(indexes)
        let table = try store.snapshot().table(Self.kinds())
        #expect(table.plan == "groups of covering index kind (kind), in its order")
        #expect(table.rows.count == 8)
        #expect(table.rows.first == [.null, .integer(0)])
        #expect(table.rows[1] == [.string("kind 0"), .integer(429)])
    }

    @Test("A question that is cancelled at any moment, and by one word, has no partial answer")
    func cancelled() throws {
        let store = try Self.store([["kind"]])
        let whole = try store.snapshot().table(Self.kinds()).rows
        var number = 1
        while true {
            let asked = Mutex(0)
            let last = number
            let request = try Self.kinds {
                asked.withLock {
                    $0 += 1
                    return $0 == last
                }
            }
            let rows = try? store.snapshot().table(request).rows
            let count = asked.withLock { $0 }
            if count < last {
                #expect(rows == whole)
                break
            }
            #expect(rows == nil, "asked \(count) times, cancelled the \(last). time")
            number += 1
        }
        #expect(number > 2)
    }
}
