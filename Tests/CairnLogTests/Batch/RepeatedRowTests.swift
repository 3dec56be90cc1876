// Batches in which several rows are one object.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Rows of one object")
struct RepeatedRowTests {
    @Test(
        "One batch makes one version, in however many blocks the rows lie",
        arguments: [1, 2, 4, 1024])
    func versions(rowsPerBlock: Int) throws {
        var options = SampleStore.options(on: MemoryFileSystem())
        options.sizes.rowsPerBlock = rowsPerBlock
        let store = try LogStore.open(
            at: "/store", schema: Schema(CommittersTests.model), options: options)
        /// The versions of k0 to k5, after a batch that names each of them three times.
        func versions(_ value: Int) throws -> [UInt32] {
            var request = BatchInsertRequest(
                entityName: "Item",
                objects: (0..<18).map { ["key": "k\($0 % 6)", "value": value + $0] })
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try store.execute(request)
            var fetch = StoreFetch(entity: 0)
            fetch.includesRows = true
            return try store.snapshot().fetch(fetch).rows.map(\.version)
        }
        #expect(try versions(0) == Array(repeating: 1, count: 6))
        #expect(try CommittersTests.content(store)["k5"] == 17)
        #expect(try versions(100) == Array(repeating: 2, count: 6))
        #expect(try CommittersTests.content(store)["k0"] == 112)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }
}
