// What is said of a value that a question or a row cannot have: the message without it, the detail with it.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Values that are refused")
struct RefusedValueTests {
    private static func look(_ error: StoreError?) throws {
        let error = try #require(error)
        #expect(error.code == .invalidRequest)
        #expect(!"\(error)".contains("7261"), "\(error)")
        let detail = try #require(error.context.detail)
        #expect(detail.contains("7261"), "\(detail)")
        #expect(error.fullDescription.contains(detail))
    }

    @Test(
        "A value of another type in a predicate",
        arguments: [
            PredicateNode.compare("value", .equal, .string("MARK7261")),
            .compare("key", .beginsWith, .integer(7261)),
            .compare("key", .equal, .integer(7261)),
            .compare("SELF", .equal, .string("MARK7261")),
        ])
    func predicate(_ predicate: PredicateNode) throws {
        let store = try LogStore.open(
            at: "/store", schema: Schema(CommittersTests.model),
            options: SampleStore.options(on: MemoryFileSystem()))
        let snapshot = try store.snapshot()
        try Self.look(
            storeError { _ = try snapshot.count(StoreFetch(entity: 0, predicate: predicate)) })
        try store.close()
    }

    @Test("A value of another type in a save")
    func save() throws {
        let store = try LogStore.open(
            at: "/store", schema: Schema(CommittersTests.model),
            options: SampleStore.options(on: MemoryFileSystem()))
        var request = SaveRequest()
        request.inserted = [
            .init(
                id: ObjectID(
                    temporary: 1, hierarchy: store.identity.hierarchies[0],
                    context: store.identity.identifier), entity: 0,
                values: [.string("k"), .string("MARK7261")], assigned: [0, 1])
        ]
        try Self.look(storeError { _ = try store.save(request) })
        try store.close()
    }
}
