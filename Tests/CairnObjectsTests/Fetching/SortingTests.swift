// The order of results: texts by each comparison, keys across relationships, and what is refused.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Sorting")
struct SortingTests {
    /// A texts' order by a comparison, as it is expected.
    struct Given: Sendable, CustomTestStringConvertible {
        let comparison: SortKey.Comparison
        /// Texts on one line are equal in the order.
        let order: [[String]]
        var testDescription: String { comparison.rawValue }
    }

    static let given = [
        Given(
            comparison: .binary,
            order: [["A"], ["B"], ["a"], ["b"], ["e\u{301}"], ["z"], ["\u{c4}"], ["\u{e9}"]]),
        Given(
            comparison: .caseInsensitive,
            order: [
                ["a", "A"], ["B", "b"], ["z"], ["\u{c4}", "\u{e4}"], ["\u{e9}", "e\u{301}"],
            ]),
        Given(
            comparison: .localized,
            order: [
                ["A"], ["a"], ["\u{c4}"], ["ab"], ["b"], ["e"], ["\u{e9}", "e\u{301}"], ["f"],
                ["file 10"], ["file 9"],
            ]),
        Given(
            comparison: .localizedCaseInsensitive,
            order: [
                ["A", "a"], ["\u{c4}", "\u{e4}"], ["ab"], ["B", "b"], ["e"], ["\u{e9}"], ["f"],
            ]
        ),
        Given(
            comparison: .localizedStandard,
            order: [
                ["2 pears"], ["10 pears"], ["\u{e9}tage 2"], ["etage 3"], ["File 9"], ["file 09"],
                ["file 9"], ["FILE 10"], ["file 10 a"], ["file 10 b"], ["file 100"],
                ["file 100000000000000000000000000000000000000"], ["filf"], ["z"],
            ]),
    ]

    @Test("Texts are ordered by the comparison, in the store and with changes", arguments: given)
    func comparisons(_ given: Given) throws {
        // By bytes: to a dictionary, two ways to write a letter are one.
        let rank = Dictionary(
            uniqueKeysWithValues: given.order.enumerated().flatMap { line in
                line.element.map { (Array($0.utf8), line.offset) }
            })
        for backend in Backend.allCases {
            let stack = try Stack(Models.shop, backend)
            let names = given.order.flatMap { $0 }
            try stack.store { context in
                names.shuffled().map { context.make("Product", ["name": $0, "note": "old"]) }
            }
            for isAscending in [true, false] {
                for changes in 0...2 {
                    let context = stack.context()
                    var request = FetchRequest(entityName: "Product")
                    let objects = try context.fetch(request)
                    // None, every second, or all of them.
                    for (index, object) in objects.enumerated() where index % 2 < changes {
                        object["note"] = "new"
                    }
                    request.sortDescriptors = [
                        SortKey("name", ascending: isAscending, comparison: given.comparison)
                    ]
                    let ranks = try context.fetch(request).map {
                        rank[Array(($0.string("name") ?? "").utf8)] ?? -1
                    }
                    let sorted = ranks.sorted()
                    #expect(ranks == (isAscending ? sorted : sorted.reversed()), "\(backend)")
                }
            }
        }
    }

    @Test("What is equal in the order of texts comes by id", arguments: Backend.allCases)
    func ties(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            ["b", "A", "B", "a"].map { context.make("Product", ["name": $0]) }
        }
        var request = FetchRequest<ObjectID>(entityName: "Product")
        request.sortDescriptors = [SortKey("name", comparison: .caseInsensitive)]
        let expected = [ids[1], ids[3], ids[0], ids[2]]
        #expect(try stack.context().fetch(request) == expected)
        request.fetchLimit = 2
        #expect(try stack.context().fetch(request) == [ids[1], ids[3]])
    }

    @Test("Core Data's selectors name the comparisons")
    func selectors() throws {
        for comparison in SortKey.Comparison.allCases {
            let key = try SortKey("name", ascending: false, selector: comparison.selector)
            #expect(key == SortKey("name", ascending: false, comparison: comparison))
        }
        #expect(throws: PredicateFormatError.self) {
            try SortKey("name", ascending: true, selector: "compareMyWay:")
        }
    }

    @Test("Letters are ordered as [l] orders them in a predicate")
    func localized() {
        var random = RandomSource()
        let comparison = ValueComparison(operator: .less, options: .localeSensitive)
        let letters = Array("aAbB \u{e4}\u{c4}z10-")
        func text() -> String {
            String(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    letters[Int.random(in: 0..<letters.count, using: &random)]
                })
        }
        for _ in 0..<2000 {
            let (a, b) = (Value.string(text()), Value.string(text()))
            let order = SortingOrder.compare(
                SortKey.Comparison.localized.ordered(a), SortKey.Comparison.localized.ordered(b))
            #expect(order.signum() == comparison.order(a, b)?.signum(), "\(a) \(b)")
        }
    }

    @Test(
        "An index, which is in the order of bytes, is not taken for another order",
        arguments: Backend.allCases)
    func indexes(_ backend: Backend) throws {
        var note = EntityDescription("Note", attributes: [AttributeDescription("text", .string)])
        note.indexes = [FetchIndexDescription("byText", elements: [.init("text")])]
        let stack = try Stack(ManagedObjectModel(entities: [note]), backend)
        let texts = (0..<3000).map { "\($0 % 2 == 0 ? "N" : "n")ote \($0)" }
        try stack.store { context in texts.map { context.make("Note", ["text": $0]) } }
        var request = FetchRequest<DictionaryResult>(entityName: "Note")
        request.fetchLimit = 5
        func found(_ comparison: SortKey.Comparison) throws -> [String] {
            request.sortDescriptors = [SortKey("text", comparison: comparison)]
            let rows = try stack.context().fetch(request).compactMap { $0["text"] as? String }
            let objects = FetchRequest(entityName: "Note")
            var sorted = objects
            sorted.sortDescriptors = request.sortDescriptors
            sorted.fetchLimit = 5
            #expect(try stack.context().fetch(sorted).map { $0.string("text") } == rows)
            return rows
        }
        #expect(try found(.binary) == ["Note 0", "Note 10", "Note 100", "Note 1000", "Note 1002"])
        #expect(
            try found(.caseInsensitive) == ["Note 0", "note 1", "Note 10", "Note 100", "Note 1000"])
        #expect(
            try found(.localizedStandard) == ["Note 0", "note 1", "Note 2", "note 3", "Note 4"])
    }

    // MARK: Across relationships

    @Test(
        "Objects are sorted by what a to-one relationship leads to; nil on the way is nil",
        arguments: Backend.allCases)
    func paths(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let departments = ["b", nil, "a"].map { context.make("Department", ["name": $0]) }
            let parents = departments.map { context.make("Person", ["department": $0]) }
            let nobody = context.make("Person")
            return [2, 0, 1].map { context.make("Person", ["parent": parents[$0]]) }
                + [context.make("Person", ["parent": nobody]), context.make("Person"), parents[0]]
        }
        var request = FetchRequest<ObjectID>(
            entityName: "Person",
            predicate: .comparison(.init(.objectID, .in, ids.map(Value.objectID))))
        request.sortDescriptors = [SortKey("parent.department.name")]
        let nothing = [ids[2], ids[3], ids[4], ids[5]].sorted { $0.reference < $1.reference }
        #expect(try stack.context().fetch(request) == nothing + [ids[0], ids[1]])
        request.sortDescriptors = [SortKey("parent.department.name", ascending: false)]
        #expect(try stack.context().fetch(request) == [ids[1], ids[0]] + nothing)
        request.fetchLimit = 1
        #expect(try stack.context().fetch(request) == [ids[1]])
        request.fetchOffset = 1
        #expect(try stack.context().fetch(request) == [ids[0]])
    }

    @Test("Changed objects are put in their places by paths, too", arguments: Backend.allCases)
    func changedPaths(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let shops = try stack.store { context in
            ["a", "c", "e"].map { name in
                let shop = context.make("Shop", ["name": name])
                context.make("Product", ["name": "of \(name)", "shop": shop])
                return shop
            }
        }
        let context = stack.context()
        let moved = try context.find("Product", "name", .string("of a"))[0]
        moved["shop"] = context.object(with: shops[2])
        moved["price"] = 1.0
        let new = context.make("Shop", ["name": "D"])
        context.make("Product", ["name": "new", "shop": new])
        context.make("Product", ["name": "nowhere"])
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [
            SortKey("shop.name", comparison: .localized), SortKey("price", ascending: false),
        ]
        #expect(
            try context.fetch(request).map { $0.string("name") }
                == ["nowhere", "of c", "new", "of a", "of e"])
        request.fetchOffset = 1
        request.fetchLimit = 2
        #expect(try context.fetch(request).map { $0.string("name") } == ["of c", "new"])
    }

    @Test(
        "Objects without a value come first or last as the key says, in every direction",
        arguments: Backend.allCases)
    func nulls(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            [("b", 2), ("x", nil), ("a", 1), ("y", nil), ("c", 3)].map {
                context.make("Product", ["name": $0.0, "stock": $0.1])
            }
        }
        let expected: [(ascending: Bool, nulls: SortKey.NullsPosition?, names: String)] = [
            (true, nil, "xyabc"), (true, .first, "xyabc"), (true, .last, "abcxy"),
            (false, nil, "cbaxy"), (false, .first, "xycba"), (false, .last, "cbaxy"),
        ]
        for (isAscending, nulls, names) in expected {
            var request = FetchRequest(entityName: "Product")
            request.sortDescriptors = [
                SortKey("stock", ascending: isAscending, nulls: nulls), SortKey("name"),
            ]
            func found(_ context: ManagedObjectContext) throws -> String {
                try context.fetch(request).compactMap { $0.string("name") }.joined()
            }
            #expect(try found(stack.context()) == names)
            for limit in 1...4 {
                request.fetchLimit = limit
                #expect(try found(stack.context()) == names.prefix(limit))
            }
            request.fetchLimit = 0
            // Beside changes that are not saved.
            let context = stack.context()
            try context.find("Product", "name", .string("x"))[0]["stock"] = 0
            try context.find("Product", "name", .string("c"))[0]["stock"] = nil
            let nilFirst = nulls.map { $0 == .first } ?? isAscending
            let rest = isAscending ? "xab" : "bax"
            #expect(try found(context) == (nilFirst ? "cy\(rest)" : "\(rest)cy"))
            let key = try JSONDecoder().decode(
                SortKey.self, from: JSONEncoder().encode(request.sortDescriptors[0]))
            #expect(key == request.sortDescriptors[0])
        }
        let plain = try JSONEncoder().encode(SortKey("a"))
        #expect(!String(decoding: plain, as: UTF8.self).contains("nulls"))
    }

    @Test("Leaves of composite attributes are sorted by", arguments: Backend.allCases)
    func composites(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let ids = try stack.store { context in
            ["red", nil, "blue"].map { color in
                context.make("Thing", ["color": ["color.primary": color as Any]])
            }
        }
        var request = FetchRequest<ObjectID>(entityName: "Thing")
        request.sortDescriptors = [SortKey("color.primary")]
        #expect(try stack.context().fetch(request) == [ids[1], ids[2], ids[0]])
    }

    @Test("Rows of values are sorted by paths and comparisons", arguments: Backend.allCases)
    func tables(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            ["shop 10", "Shop 9", "shop 1"].map { name in
                context.make(
                    "Product", ["name": name, "shop": context.make("Shop", ["name": name])])
            }
        }
        var request = FetchRequest<DictionaryResult>(entityName: "Product")
        request.propertiesToFetch = ["name"]
        for path in ["name", "shop.name"] {
            request.sortDescriptors = [SortKey(path, comparison: .localizedStandard)]
            let expected = ["shop 1", "Shop 9", "shop 10"]
            #expect(try stack.context().fetch(request).map { $0["name"] as? String } == expected)
            request.propertiesToFetch = [.property(path)]
            request.propertiesToGroupBy = [.property(path)]
            #expect(try stack.context().fetch(request).map { $0[path] as? String } == expected)
            request.propertiesToFetch = ["name"]
            request.propertiesToGroupBy = []
        }
        request.sortDescriptors = [SortKey("price", comparison: .caseInsensitive)]
        #expect(storeError { _ = try stack.context().fetch(request) }?.context.key == "price")
    }

    @Test(
        "What cannot be sorted by is refused with its name", arguments: Backend.allCases,
        [
            ("Person", "friends"), ("Person", "friends.name"), ("Person", "parent.children.name"),
            ("Person", "nme"), ("Person", "parent.nme"), ("Person", "name.length"),
            ("Person", "parent."), ("Person", ""), ("Department", "employees"),
        ])
    func refusals(_ backend: Backend, _ key: (entity: String, path: String)) throws {
        let stack = try Stack(Models.people, backend)
        var request = FetchRequest(entityName: key.entity)
        request.sortDescriptors = [SortKey(key.path)]
        let error = storeError { _ = try stack.context().fetch(request) }
        #expect(error?.code == .invalidRequest && error?.context.key == key.path)
        let schema = stack.store.schema
        var fetch = StoreFetch(entity: try #require(schema.entity(named: key.entity)).index)
        fetch.sort = request.sortDescriptors
        let direct = storeError { _ = try stack.store.snapshot().fetch(fetch) }
        #expect(direct?.code == .invalidRequest && direct?.context.key == key.path)
    }

    @Test("Transient attributes, composite ones, and comparisons of what is no text are refused")
    func otherRefusals() throws {
        let context = try Stack(Models.values, .log).context()
        let keys = [
            SortKey("cache"), SortKey("color"), SortKey("large", comparison: .localized),
            SortKey("link", comparison: .caseInsensitive),
        ]
        for key in keys {
            var request = FetchRequest(entityName: "Thing")
            request.sortDescriptors = [key]
            let error = storeError { _ = try context.fetch(request) }
            #expect(error?.code == .invalidRequest && error?.context.key == key.key)
        }
    }

    @Test("Random orders are the same in both stores, and with changes")
    func differential() throws {
        let keys: [SortKey] =
            SortKey.Comparison.allCases.flatMap {
                [SortKey("name", comparison: $0), SortKey("mentor.name", comparison: $0)]
            } + [SortKey("department.name"), SortKey("mentor.passport.number"), SortKey("spouse")]
        try Rounds.run("sorting", everyDay: 4, whole: 400) { random in
            let letters = ["a", "A", "b", "\u{e4}", "1", "02", "10", " ", "e\u{301}", "\u{e9}"]
            func text() -> String {
                (0..<Int.random(in: 1...4, using: &random))
                    .map { _ in letters.randomElement(using: &random) ?? "" }.joined()
            }
            var people: [[String: Any?]] = []
            var names: Set<String> = []
            for _ in 0..<60 {
                let name = text()
                people.append(["name": names.insert(name).inserted ? name : nil])
            }
            let links = people.indices.map { _ in
                [Int.random(in: -1..<60, using: &random), Int.random(in: -1..<6, using: &random)]
            }
            var numbers: [Int] = (0..<30).shuffled(using: &random)
            numbers += Array(repeating: -1, count: 30)
            func fill(_ context: ManagedObjectContext) -> [ManagedObject] {
                let departments = (0..<6).map { context.make("Department", ["name": "d\($0)"]) }
                let objects = people.map { context.make("Person", $0) }
                for (index, object) in objects.enumerated() {
                    let (mentor, department) = (links[index][0], links[index][1])
                    object["mentor"] = mentor < 0 ? nil : objects[mentor]
                    object["department"] = department < 0 ? nil : departments[department]
                    if numbers[index] >= 0 {
                        object["passport"] = context.make("Passport", ["number": numbers[index]])
                    }
                }
                return objects
            }
            var contexts: [(ManagedObjectContext, [ObjectID: Int])] = []
            for backend in Backend.allCases {
                let stack = try Stack(Models.people, backend)
                let ids = try stack.store(fill)
                let places = Dictionary(uniqueKeysWithValues: zip(ids, ids.indices))
                let changed = stack.context()
                for object in try changed.all("Person") where Bool.random(using: &random) {
                    object["spouse"] = nil
                }
                contexts.append((stack.context(), places))
                contexts.append((changed, places))
            }
            for _ in 0..<12 {
                var request = FetchRequest<ObjectID>(entityName: "Person")
                request.sortDescriptors = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    var key = keys.randomElement(using: &random) ?? keys[0]
                    key.isAscending = Bool.random(using: &random)
                    key.nulls = [nil, .first, .last].randomElement(using: &random) ?? nil
                    return key
                }
                request.fetchLimit = Int.random(in: 0...70, using: &random)
                request.fetchOffset = Int.random(in: 0...5, using: &random)
                let answers = try contexts.map { context, places in
                    try context.fetch(request).map { places[$0] ?? -1 }
                }
                for answer in answers {
                    #expect(answer == answers[0], "\(request.sortDescriptors), seed \(random.seed)")
                }
            }
        }
    }
}
