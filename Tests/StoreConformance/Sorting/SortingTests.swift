// The order of what is found, and parts of it.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Sorting, limits and offsets")
struct SortingTests {
    struct Order: Sendable, CustomTestStringConvertible {
        let keys: [SortKey]
        let expected: String

        var testDescription: String { keys.map { "\($0.outline)" }.joined(separator: ", ") }

        init(_ keys: SortKey..., gives expected: String) {
            self.keys = keys
            self.expected = expected
        }
    }

    /// Nil comes first, what is no number comes last; equal ones come in the order of their creation, whichever way.
    private static let orders = [
        Order(SortKey("code"), gives: "a b c d e f g h i j"),
        Order(SortKey("code", ascending: false), gives: "j i h g f e d c b a"),
        Order(SortKey("small"), gives: "d j c a b e f g h i"),
        Order(SortKey("small", ascending: false), gives: "i h g f e b a c j d"),
        Order(SortKey("small", nulls: .last), gives: "j c a b e f g h i d"),
        Order(SortKey("small", ascending: false, nulls: .first), gives: "d i h g f e b a c j"),
        Order(SortKey("large"), gives: "d j e a f g h c b i"),
        Order(SortKey("price"), gives: "c d h e i j a b g f"),
        Order(SortKey("price", ascending: false), gives: "f g b a j i e h c d"),
        Order(SortKey("price", nulls: .last), gives: "h e i j a b g f c d"),
        Order(SortKey("ratio"), gives: "c d h j e i a b g f"),
        Order(SortKey("cost"), gives: "c d g h j e i a b f"),
        Order(SortKey("open"), gives: "c d g h i j b f a e"),
        Order(SortKey("open", ascending: false), gives: "a e b f c d g h i j"),
        Order(SortKey("since"), gives: "c d g h i j e a b f"),
        Order(SortKey("plan"), gives: "c d e f g h i j b a"),
        Order(SortKey("mark", nulls: .last), gives: "a b c d e f g h i j"),
        Order(SortKey("link", ascending: false), gives: "b a c d e f g h i j"),
        Order(SortKey("size.height", ascending: false), gives: "a b c d e f g h i j"),
        Order(SortKey("name"), gives: "d a f e h j b g c i"),
        Order(SortKey("name", comparison: .caseInsensitive), gives: "d a b e f g h j c i"),
        Order(SortKey("name", comparison: .localized), gives: "d a b c e f h g j i"),
        Order(
            SortKey("name", comparison: .localizedCaseInsensitive), gives: "d a b c e f g h j i"),
        Order(SortKey("name", comparison: .localizedStandard), gives: "d a b c e f h g j i"),
        Order(
            SortKey("name", ascending: false, comparison: .caseInsensitive),
            gives: "i c j g h e f a b d"),
        Order(SortKey("amount"), SortKey("code", ascending: false), gives: "d c j f e h g a b i"),
        Order(
            SortKey("open", nulls: .last), SortKey("small", ascending: false),
            gives: "f b e a i h g c j d"),
        Order(SortKey("owner.name"), gives: "c d g i j a e b h f"),
        Order(SortKey("owner.name", ascending: false), gives: "f b h a e c d g i j"),
        Order(SortKey("owner.boss.name"), SortKey("code"), gives: "a c d e g i j b h f"),
        Order(SortKey("owner.age", nulls: .last), gives: "f a e b c d g h i j"),
        Order(SortKey("whole.code"), gives: "a d e f h i j b c g"),
        Order(SortKey("state"), gives: "a c d e f g h i j b"),
        Order(gives: "a b c d e f g h i j"),
    ]

    @Test(
        "Objects come in the order of the keys, equal ones by id; any part of it is that part",
        arguments: orders, Backend.everyStore)
    func order(_ order: Order, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            #expect(try subject.names("Item", sort: order.keys) == order.expected)
            let all = order.expected.split(separator: " ")
            for (offset, limit) in [(0, 3), (2, 3), (7, 9), (4, 1), (10, 2)] {
                let part = try subject.names("Item", sort: order.keys) {
                    ($0.offset, $0.limit) = (offset, limit)
                }
                #expect(part == all.dropFirst(offset).prefix(limit).joined(separator: " "))
            }
        }
    }

    @Test(
        "Numbers in texts are compared by size where people list files",
        arguments: Backend.everyStore)
    func numbers(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.batch("Item", ["a10", "a9", "A9b", "a09", "b1"].map { ["code": $0] })
            func names(_ comparison: SortKey.Comparison) throws -> String {
                try subject.names("Item", sort: [SortKey("code", comparison: comparison)])
            }
            let (binary, standard) = (try names(.binary), try names(.localizedStandard))
            #expect(binary == "A9b a09 a10 a9 b1")
            #expect(standard == "a09 a9 A9b a10 b1")
        }
    }

    struct Part: Sendable {
        var offset = 0
        var limit: Int?
        let expected: String
    }

    private static let parts = [
        Part(limit: 0, expected: ""), Part(limit: 1, expected: "b"),
        Part(limit: 99, expected: "b e f g h i"), Part(offset: 2, expected: "f g h i"),
        Part(offset: 5, limit: 3, expected: "i"), Part(offset: 6, expected: ""),
        Part(offset: 99, limit: 1, expected: ""), Part(offset: 1, limit: 0, expected: ""),
        Part(offset: 1, limit: 2, expected: "e f"),
    ]

    @Test(
        "Limit and offset count what is found, and a count counts with them",
        arguments: parts, Backend.everyStore)
    func part(_ part: Part, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            for sort in [[SortKey("code")], []] {
                var fetch = try subject.fetch("Item", "small > 1")
                (fetch.sort, fetch.offset, fetch.limit) = (sort, part.offset, part.limit)
                #expect(try subject.names(fetch) == part.expected)
                let snapshot = try subject.store.snapshot()
                let count = part.expected.split(separator: " ").count
                #expect(try snapshot.count(fetch) == count)
                var read = StoreRead(try subject.entity("Item"))
                read.fetch = fetch
                var ids: [ObjectID] = []
                try snapshot.read(read) { ids.append($0.objectID) }
                #expect(try ids == snapshot.fetch(fetch).ids)
            }
        }
    }

    @Test(
        "Without subentities, objects of the entity alone are found", arguments: Backend.everyStore)
    func subentities(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            for (entity, expected) in [
                ("Item", "a b c d i j"), ("Tool", "e f"), ("Vehicle", "g h"),
            ] {
                #expect(try subject.names(entity) { $0.includesSubentities = false } == expected)
                var fetch = try subject.fetch(entity)
                fetch.includesSubentities = false
                let count = try subject.store.snapshot().count(fetch)
                #expect(count == expected.split(separator: " ").count)
            }
            #expect(
                try subject.names("Item", "small > 1") { $0.includesSubentities = false } == "b i")
        }
    }

    @Test(
        "What objects cannot be sorted by is refused with its name",
        arguments: ["colour", "tags", "tags.label", "owner.items.code", "owner.colour"],
        Backend.everyStore)
    func refused(_ key: String, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let error = storeError { _ = try subject.names("Item", sort: [SortKey(key)]) }
            #expect(error?.code == .invalidRequest && error?.context.entity == "Item")
            #expect(error?.context.key != nil)
        }
    }
}
