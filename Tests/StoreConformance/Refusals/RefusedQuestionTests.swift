// Questions that no store answers: it says why, and not whose values.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Questions that are refused")
struct RefusedQuestionTests {
    /// Asks a condition in every way.
    private func errors(_ predicate: PredicateNode, _ subject: Subject) throws -> [StoreError?] {
        let item = try subject.entity("Item")
        let snapshot = try subject.store.snapshot()
        let fetch = StoreFetch(entity: item.index, predicate: predicate)
        return [
            storeError { _ = try snapshot.fetch(fetch) },
            storeError { _ = try snapshot.count(fetch) },
            storeError { try snapshot.read(StoreRead(item, where: predicate)) { _ in } },
            storeError {
                _ = try snapshot.table(.init(fetch, TableTerms(columns: [.init("code")])))
            },
            storeError { _ = try subject.store.execute(BatchDeleteRequest(.fetch(fetch))) },
        ]
    }

    @Test(
        "A value of another type is refused: the message is without it, the detail with it",
        arguments: [
            PredicateNode.compare("price", .equal, .string("MARK7261")),
            .compare("code", .beginsWith, .integer(7261)), .compare("code", .equal, .integer(7261)),
            .compare("SELF", .equal, .string("MARK7261")),
            .compare("since", .less, .string("MARK7261")),
            .not(.compare("open", .equal, .string("MARK7261"))),
        ], Backend.everyStore)
    func values(_ predicate: PredicateNode, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            for error in try errors(predicate, subject) {
                let error = try #require(error)
                #expect(error.code == .invalidRequest && error.context.entity == "Item")
                #expect(!"\(error)".contains("7261"), "\(error)")
                let detail = try #require(error.context.detail)
                #expect(detail.contains("7261") && error.fullDescription.contains(detail))
            }
        }
    }

    @Test(
        "What the model does not have, or what makes no sense of it, is refused with its name",
        arguments: [
            ("colour == 1", "colour"), ("owner.colour == 1", "colour"),
            ("tags.label.length == 1", nil), ("NOT colour == 1", "colour"),
            ("small == 1 OR colour == 1", "colour"), ("ANY tags.colour == 1", nil),
            ("SUBQUERY(tags, $t, $t.colour == 1).@count > 0", nil), ("tags == 1", "tags"),
            ("size == 1", "size"), ("price LIKE 'x'", "price"), ("name MATCHES '['", nil),
            ("small == $X", nil), ("name + 1 == 2", nil), ("owner > 5", "owner"),
            ("tags.@count == 'many'", nil), ("power == 1", "power"),
        ] as [(String, String?)], Backend.everyStore)
    func formats(_ question: (format: String, key: String?), _ backend: Backend) throws {
        guard let predicate = try? PredicateNode(format: question.format) else {
            Issue.record("\(question.format) is refused when it is read")
            return
        }
        try backend.withSubject(sample: true) { subject in
            for error in try errors(predicate, subject) {
                #expect(error?.code == .invalidRequest)
                guard let key = question.key else { continue }
                #expect(error?.context.key == key)
            }
            #expect(try subject.names("Item") == "a b c d e f g h i j")
        }
    }

    @Test("An entity that there is not is refused", arguments: [-1, 99], Backend.everyStore)
    func entity(_ index: Int, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let snapshot = try subject.store.snapshot()
            let fetch = StoreFetch(entity: index)
            for error in [
                storeError { _ = try snapshot.fetch(fetch) },
                storeError { _ = try snapshot.count(fetch) },
                storeError {
                    _ = try snapshot.table(.init(fetch, TableTerms(columns: [.init("code")])))
                },
            ] {
                #expect(error?.code == .invalidRequest)
            }
        }
    }

    @Test("A fetch is cancelled when it is told so", arguments: Backend.everyStore)
    func cancelled(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            var fetch = try subject.fetch("Item", "note CONTAINS 'a'")
            fetch.isCancelled = { true }
            let snapshot = try subject.store.snapshot()
            #expect(storeError { _ = try snapshot.fetch(fetch) }?.code == .cancelled)
            fetch.isCancelled = { false }
            #expect(try snapshot.fetch(fetch).ids.count == 3)
        }
    }
}
