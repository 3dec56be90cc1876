// Questions that make no sense are refused by whoever is asked: the reader of formats, a context, a snapshot. Nothing traps.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Questions that make no sense")
struct BadQuestionTests {
    private static let model: ManagedObjectModel = {
        var mood = AttributeDescription("mood", .string)
        mood.isTransient = true
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("city", .string)]
        var person = EntityDescription(
            "Person",
            attributes: [
                .init("name", .string), .init("age", .integer16), .init("height", .double),
                .init("born", .date), .init("key", .uuid), .init("isTall", .boolean),
                .init("photo", .binary), .init("payload", .transformable), mood, place,
            ])
        person.relationships = [
            .init("boss", to: "Person", inverse: "staff"),
            .init("staff", to: "Person", toMany: true, inverse: "boss"),
        ]
        person.indexes = [.init("byName", elements: [.init("name"), .init("age")])]
        return ManagedObjectModel(entities: [person])
    }()

    /// Three people, one the boss of the others.
    private func store() throws -> LogStore {
        let store = try LogStore.inMemory(schema: Schema(Self.model))
        let context = ManagedObjectContext(store: store)
        let people = ["Anna", "Bob", "Cleo"].map { context.make("Person", ["name": $0, "age": 7]) }
        people[1]["boss"] = people[0]
        people[2]["boss"] = people[0]
        try context.save()
        return store
    }

    /// How many objects a condition is true of, by every door that there is; or that every door refuses it.
    private func ask(_ node: PredicateNode?, _ store: LogStore, sort: [SortKey] = []) -> Int? {
        var answers: [Int?] = []
        func note(_ body: () throws -> Int) {
            do {
                answers.append(try body())
            } catch {
                #expect((error as? StoreError)?.code == .invalidRequest, "\(error)")
                #expect((error as? StoreError)?.message.isEmpty == false)
                answers.append(nil)
            }
        }
        let context = ManagedObjectContext(store: store)
        // Something is changed, so that the context asks as well.
        context.make("Person", ["name": "new"])
        var request = FetchRequest(entityName: "Person", predicate: node)
        request.includesPendingChanges = false
        request.sortDescriptors = sort
        note { try context.fetch(request).count }
        note { try context.fetchObjectIDs(request).count }
        note { try context.count(for: request) }
        note { try context.fetchLazily(request).count }
        var rows = FetchRequest<DictionaryResult>(entityName: "Person", predicate: node)
        rows.propertiesToFetch = ["name"]
        rows.sortDescriptors = sort
        note { try context.fetch(rows).count }
        request.includesPendingChanges = true
        do {
            _ = try context.fetch(request)
            #expect(answers[0] != nil)
        } catch {
            #expect(answers[0] == nil, "\(error)")
        }
        note {
            var fetch = StoreFetch(entity: 0, predicate: node)
            fetch.sort = sort
            return try store.snapshot().fetch(fetch).ids.count
        }
        if sort.isEmpty {
            note { try store.snapshot().count(StoreFetch(entity: 0, predicate: node)) }
            note {
                var count = 0
                let entity = store.schema.entities[0]
                try store.snapshot().read(StoreRead(entity, where: node)) { _ in count += 1 }
                return count
            }
        }
        #expect(Set(answers).count == 1, "\(answers)")
        return answers[0]
    }

    // MARK: Formats

    @Test(
        "A format that cannot be read is refused at its place",
        arguments: [
            "", " ", "name", "name ==", "== 'x'", "name = = 'x'", "name == 'x", "name == \"x",
            "(name == 'x'", "name == 'x')", "name == 'x' AND", "AND name == 'x'", "NOT",
            "name == %@", "name == %q", "%K == 1", "name LIKE[x] 'a'", "name ==[", "name IN {1, 2",
            "name IN {1 2}", "name BETWEEN", "SUBQUERY(staff, $x) > 1",
            "SUBQUERY(staff, x, TRUEPREDICATE)",
            "SUBQUERY(staff).@count > 0", "SUBQUERY(, $x, TRUEPREDICATE).@count > 0",
            "staff.@nothing > 1", "staff.@sum", "nosuch:(age) > 1", "sum:(age", "abs:(1, 2) > 1",
            "ANY", "ANY ANY staff.age > 1", "ALL == 1", "CAST(age) == 1", "CAST(age, 'Nope') == 1",
            "TERNARY(age, 1, 2) == 1", "TERNARY(age > 1, 2) == 1", "name == 0x", "age == 1e",
            "age == 1.2.3",
            "age == 99999999999999999999e99999", "$ == 1", "staff[ == 1", "staff[] == 1",
            "staff[FIRST == 1",
            "name == 'x' OR OR age == 1", "name == \u{0}", "\u{0}", "name == 'a\\", "#name",
            "@#$%^&", "age == --",
            "FUNCTION() == 1", "FETCH() == 1", "name CONTAINS[cd", "🙂 ==", "age BETWEEN {1}}",
            "name IN 5", "age BETWEEN 5", "age BETWEEN {1}", "age BETWEEN {1, 2, 3}",
        ])
    func unreadable(_ format: String) {
        do {
            let node = try PredicateNode(format: format)
            Issue.record("read as \(node)")
        } catch {
            #expect(!error.message.isEmpty && error.format == format)
            #expect((error.offset ?? -1) >= 0 && (error.offset ?? .max) <= format.count)
        }
    }

    @Test(
        "A condition that does not fit the model is refused by a context and by a snapshot",
        arguments: [
            "nothing == 1", "boss.nothing == 1", "ANY staff.nothing == 1", "name.nothing == 1",
            "place.nothing == 1", "boss.place.nothing == 1", "age == 'old'", "born == 'soon'",
            "key == 'no uuid'", "isTall == 'perhaps'", "photo == 7", "height CONTAINS 'x'",
            "age BEGINSWITH '1'", "name > 5", "born > 'x'", "boss == 5", "boss > NULL", "SELF > 3",
            "SELF == 'not an id'", "boss == name", "age == name", "staff == 1", "staff.age > 1",
            "staff.age IN {1}", "staff.@sum.name > 1", "boss.@sum.age > 1", "boss.@count > 1",
            "name.@count > 1", "age.@max > 1", "staff.@sum.nothing > 1", "staff.@max.staff > 1",
            "staff.@avg.boss == 1", "ANY name == 'x'", "ALL age > 1", "ANY boss.age > 1",
            "SUBQUERY(boss, $b, $b.age > 1).@count > 0", "SUBQUERY(name, $n, $n == 'x').@count > 0",
            "SUBQUERY(staff, $s, $t.age > 1).@count > 0",
            "SUBQUERY(staff, $s, $s.nothing > 1).@count > 0",
            "SUBQUERY(staff, $s, $s.age > 1) > 0",
            "SUBQUERY(nothing, $s, TRUEPREDICATE).@count > 0",
            "name == $free", "$free.age == 1", "name IN age", "name IN boss", "age IN {'x'}",
            "age BETWEEN name", "age BETWEEN {'a', 'b'}",
            "name MATCHES '('", "name MATCHES '[a'", "name MATCHES '*'", "name MATCHES 'a{2,1}'",
            "name MATCHES '\\\\'",
            "ANY staff.name MATCHES '('", "name MATCHES 5", "name LIKE 5", "name LIKE age",
            "payload == 1",
            "payload == payload", "payload.x == 1", "mood == 'good'", "mood == NULL",
            "place == 'x'", "place == place",
            "uppercase:(age) == 'X'", "abs:(name) == 1", "name + 1 == 2", "age + name == 2",
            "-name == 1",
            "length:(age) == 1", "sum:(name) == 1", "FUNCTION(age, 'double:') == 1",
            "boss.boss.boss.nothing == NULL", "boss BETWEEN {NULL, NULL}", "payload < NULL",
            "FETCH(name, age, NO) == 1", "CAST(boss, 'NSDate') > name",
            "TERNARY(nothing == 1, 1, 2) == 1",
            "staff[0].nothing == 1", "name[0] == 1", "staff[name] == SELF",
            "staff UNION name == NULL", "age & 'x' == 1",
            "bitwiseAnd:with:(name, 1) == 1", "{1, 2} == 1", "age == {1, 2}", "name == staff",
            "ANY staff > 1",
            "boss CONTAINS 'x'", "staff CONTAINS 5", "staff CONTAINS 'x'", "key > 5",
            "isTall < 'x'",
        ])
    func misfits(_ format: String) throws {
        let node = try PredicateNode(format: format)
        #expect(ask(node, try store()) == nil, "\(format)")
    }

    // MARK: Requests

    @Test(
        "An order that there is not is refused",
        arguments: [
            SortKey("nothing"), SortKey(""), SortKey("."), SortKey("name."), SortKey(".name"),
            SortKey("boss..name"), SortKey("staff"), SortKey("staff.name"),
            SortKey("boss.staff.name"),
            SortKey("boss.nothing"), SortKey("place"), SortKey("place.nothing"),
            SortKey("mood"), SortKey("boss.mood"), SortKey("staff.@count"), SortKey("SELF.nothing"),
            SortKey("age", comparison: .localized), SortKey("boss", comparison: .caseInsensitive),
            SortKey("boss.age", comparison: .localizedStandard), SortKey("\u{0}"),
            SortKey(String(repeating: "x", count: 1_000_000)),
            SortKey(String(repeating: ".", count: 100_000)),
            SortKey(String(repeating: "boss.", count: 10_000) + "nothing"),
        ])
    func orders(_ key: SortKey) throws {
        #expect(ask(nil, try store(), sort: [SortKey("name"), key]) == nil)
    }

    @Test(
        "Limits and offsets of any size have an answer",
        arguments: [Int.min, -1, 0, 1, 2, 5, .max - 1, .max])
    func limits(_ number: Int) throws {
        let store = try store()
        let snapshot = try store.snapshot()
        for other in [Int.min, -1, 0, 1, 2, .max] {
            for sort in [[], [SortKey("age"), SortKey("name")], [SortKey("name")]] {
                var fetch = StoreFetch(entity: 0, predicate: .compare("age", .equal, .integer(7)))
                (fetch.limit, fetch.offset, fetch.sort) = (number, other, sort)
                let left = max(0, 3 - min(3, max(0, other)))
                let expected = min(left, max(0, min(3, number)))
                #expect(try snapshot.fetch(fetch).ids.count == expected)
                #expect(try snapshot.count(fetch) == expected)
                let table = StoreTableFetch(
                    fetch, TableTerms(columns: [.init("name", .keyPath("name"))]))
                if sort.count < 2 { #expect(try snapshot.table(table).rows.count == expected) }
                // For a context nothing from 0 down is a limit.
                let context = ManagedObjectContext(store: store)
                var request = FetchRequest(entityName: "Person", predicate: fetch.predicate)
                (request.fetchLimit, request.fetchOffset) = (number, other)
                request.sortDescriptors = sort
                request.fetchBatchSize = number
                let all = number > 0 ? expected : left
                #expect(try context.fetch(request).count == all)
                #expect(try context.count(for: request) == all)
                #expect(try context.fetchLazily(request).count == all)
                context.make("Person", ["name": "new", "age": 8])
                #expect(try context.fetch(request).count == all)
            }
        }
    }

    @Test(
        "An entity that a schema does not have is refused", arguments: [-1, 1, 99, Int.min, .max])
    func entities(_ entity: Int) throws {
        let snapshot = try store().snapshot()
        let fetch = StoreFetch(entity: entity, predicate: .compare("name", .equal, .string("x")))
        let table = StoreTableFetch(fetch, TableTerms(columns: [.init("name", .keyPath("name"))]))
        for ask in [
            { _ = try snapshot.fetch(fetch) }, { _ = try snapshot.count(fetch) },
            { _ = try snapshot.explain(fetch) }, { _ = try snapshot.table(table) },
            { _ = try snapshot.fetch(StoreFetch(entity: entity)) },
            { _ = try snapshot.count(StoreFetch(entity: entity)) },
        ] as [() throws -> Void] {
            #expect(storeError(ask)?.code == .invalidRequest)
        }
    }

    @Test("A table that makes no sense is refused by a context and by a snapshot")
    func tables() throws {
        let store = try store()
        func column(_ name: String, _ format: String) throws -> TableTerms.Column {
            .init(name, try ExpressionNode(format: format))
        }
        var wrong: [(String, TableTerms)] = []
        for format in [
            "nothing", "staff", "staff.name", "boss.staff", "boss.nothing", "mood", "place",
            "name + 1", "$free",
            "SUBQUERY(staff, $s, TRUEPREDICATE)", "{1, 2}", "sum:(name)", "sum:(boss)",
            "average:(born)",
            "max:(boss)", "count:(nothing)", "FUNCTION(age, 'x:')", "ANYKEY", "staff UNION staff",
            "sum:(nothing)", "sum:(boss.nothing)", "max:(payload)", "age.@max.x",
            "count:(SELF) + nothing",
        ] {
            wrong.append((format, TableTerms(columns: [try column("x", format)])))
            var grouped = TableTerms(columns: [try column("x", format)])
            grouped.groupBy = [.keyPath("height")]
            wrong.append(("\(format) in groups", grouped))
        }
        for format in [
            "staff", "staff.name", "nothing", "boss.nothing", "mood", "place", "{1, 2}", "$free",
            "staff.@max",
        ] {
            var grouped = TableTerms(columns: [try column("n", "count:(SELF)")])
            grouped.groupBy = [try ExpressionNode(format: format)]
            wrong.append(("by \(format)", grouped))
        }
        for format in [
            "age > 1", "nothing > 1", "$free > 1", "sum:(name) > 1", "n > 'x'",
            "ANY staff.age > 1", "name MATCHES '('",
        ] {
            var grouped = TableTerms(columns: [try column("n", "count:(SELF)")])
            grouped.groupBy = [.keyPath("name")]
            grouped.having = try PredicateNode(format: format)
            wrong.append(("having \(format)", grouped))
        }
        var alone = TableTerms(columns: [.init("name", .keyPath("name"))])
        alone.having = .constant(true)
        wrong.append(("having without groups", alone))
        wrong.append(("no columns", TableTerms(columns: [])))
        wrong.append(
            (
                "a name twice",
                TableTerms(columns: [try column("x", "age"), try column("x", "name")])
            ))
        for (name, terms) in wrong {
            let error = storeError {
                let table = try store.snapshot().table(
                    StoreTableFetch(StoreFetch(entity: 0), terms))
                Issue.record("\(name): \(table.rows)")
            }
            #expect(error?.code == .invalidRequest, "\(name)")
            if terms.columns.isEmpty { continue }
            var request = FetchRequest<DictionaryResult>(entityName: "Person")
            request.propertiesToFetch = terms.columns.map {
                .expression(.init($0.name, expression: $0.expression))
            }
            request.propertiesToGroupBy = terms.groupBy.map {
                .expression(.init("group", expression: $0))
            }
            request.havingPredicate = terms.having
            let asked = storeError { _ = try ManagedObjectContext(store: store).fetch(request) }
            #expect(asked?.code == .invalidRequest, "\(name)")
        }
    }

    @Test("Columns that are made of columns over and over are refused before they fill the memory")
    func doublingColumns() throws {
        var terms = TableTerms(columns: [.init("c0", .function(.count, [.evaluatedObject]))])
        for index in 1...60 {
            let last = ExpressionNode.keyPath("c\(index - 1)")
            terms.columns.append(.init("c\(index)", .function(.add, [last, last])))
        }
        let snapshot = try store().snapshot()
        let error = storeError {
            _ = try snapshot.table(StoreTableFetch(StoreFetch(entity: 0), terms))
        }
        #expect(error?.code == .invalidRequest)
        terms.columns.removeSubrange(6...)
        let table = try snapshot.table(StoreTableFetch(StoreFetch(entity: 0), terms))
        let last = table.rows.map { $0.last }
        #expect(last == [Value.integer(96)])
    }

    // MARK: Size

    @Test(
        "A format that is nested ten thousand deep is refused",
        arguments: [
            ("(", "age == 1", ")"), ("NOT ", "age == 1", ""), ("!", "age == 1", ""),
            ("(age == 1 AND ", "age == 1", ")"), ("-", "age == 1", ""),
            ("abs:(", "age", ") == 1"), ("{", "1", "}"), ("1 + (", "1", ")"),
            ("TERNARY(age == 1, 1, ", "1", ")"),
            ("SUBQUERY(staff, $s, ", "TRUEPREDICATE", ").@count > 0"),
            ("CAST(", "age", ", 'NSNumber')"),
            ("staff[", "0", "]"), ("age ** ", "1", ""), ("$x := (", "1", ")"),
        ])
    func deepFormats(_ open: String, _ middle: String, _ close: String) {
        let format =
            String(repeating: open, count: 10_000) + middle
            + String(repeating: close, count: 10_000)
        let error = #expect(throws: PredicateFormatError.self) {
            _ = try PredicateNode(format: format)
        }
        #expect(error?.offset != nil)
    }

    @Test(
        "A tree that is ten thousand deep is refused unless it is one join, and one of some hundreds is answered"
    )
    func deepTrees() throws {
        let store = try store()
        let age = ExpressionNode.keyPath("age")
        let isSeven = PredicateNode.compare("age", .equal, .integer(7))
        let builders: [(String, (Int) -> PredicateNode)] = [
            ("not", { (0..<$0).reduce(isSeven) { node, _ in .not(node) } }),
            ("and", { (0..<$0).reduce(isSeven) { node, _ in .and([node]) } }),
            ("or", { (0..<$0).reduce(isSeven) { node, _ in .or([.constant(false), node]) } }),
            (
                "function",
                {
                    .compare(
                        (0..<$0).reduce(age) { node, _ in .function(.absolute, [node]) }, .equal,
                        age)
                }
            ),
            (
                "add",
                {
                    .compare(
                        (0..<$0).reduce(age) { node, _ in .function(.add, [node, age]) }, .greater,
                        age)
                }
            ),
            (
                "ternary",
                {
                    .compare(
                        (0..<$0).reduce(age) { node, _ in .conditional(isSeven, node, age) },
                        .equal, age)
                }
            ),
            (
                "subquery",
                {
                    (0..<$0).reduce(isSeven) { node, _ in
                        .compare(
                            .collection(
                                .count, of: .subquery(.keyPath("staff"), variable: "s", node),
                                path: nil),
                            .greaterOrEqual, .constant(.integer(0)))
                    }
                }
            ),
            (
                "path",
                { .compare(String(repeating: "boss.", count: $0) + "age", .equal, .integer(7)) }
            ),
            (
                "any",
                {
                    .compare(
                        .keyPath("staff." + String(repeating: "boss.", count: $0) + "age"), .equal,
                        .constant(.integer(7)), modifier: .any)
                }
            ),
            (
                "cast",
                {
                    .compare(
                        (0..<$0).reduce(age) { node, _ in .cast(node, to: .number) }, .equal, age)
                }
            ),
            (
                "path of path",
                {
                    .compare(
                        (0..<$0).reduce(ExpressionNode.keyPath("boss")) { node, _ in
                            .path(of: node, "boss")
                        }, .equal, .constant(.null))
                }
            ),
        ]
        for (name, build) in builders {
            // AND in AND is one AND, however often.
            let isJoin = name == "and" || name == "or"
            let deep = build(10_000)
            #expect((ask(deep, store) != nil) == isJoin, "\(name)")
            // A subquery in another asks as often as the product of their members says.
            #expect(ask(build(name == "subquery" ? 5 : 150), store) != nil, "\(name)")
            let terms = TableTerms(columns: [
                .init("x", .conditional(deep, .constant(.null), .constant(.null)))
            ])
            let error = storeError {
                _ = try store.snapshot().table(StoreTableFetch(StoreFetch(entity: 0), terms))
            }
            #expect(error?.code == .invalidRequest, "\(name)")
            let substituted = try? deep.substituting(variables: ["x": .constant(.null)])
            #expect((substituted != nil) == isJoin, "\(name)")
        }
        #expect(ask(builders[0].1(500), store) == 3)
        // Joins that take turns are as deep as they look.
        let turns = (0..<10_000).reduce(isSeven) { node, place in
            place % 2 == 0 ? .and([isSeven, node]) : .or([isSeven, node])
        }
        #expect(ask(turns, store) == nil)
        // Built as a loop builds it, from the left.
        let ages = (0..<2_000).reduce(PredicateNode.constant(false)) { node, age in
            .or([node, .compare("age", .equal, .integer(Int64(age)))])
        }
        #expect(ask(ages, store) == 3)
        #expect(ask(.not(ages), store) == 0)
        #expect(ask(builders[7].1(500), store) == 0)
    }

    @Test("A tree that is too deep is refused as well while somebody watches")
    func deepTreesWatched() throws {
        let stack = try Stack(Models.shop, .log)
        let recorder = EventRecorder()
        var deep = PredicateNode.compare("price", .equal, .double(7))
        for _ in 0..<10_000 { deep = .not(deep) }
        let context = ManagedObjectContext(store: stack.store, instruments: [recorder])
        #expect(
            storeError {
                _ = try context.fetch(FetchRequest(entityName: "Product", predicate: deep))
            }?.code == .invalidRequest)
        #expect(recorder.fetches.map { $0.request.text(showsValues: true) } == ["Product"])
    }

    @Test("Long keys, texts and lists have an answer")
    func longLists() throws {
        let store = try store()
        let long = String(repeating: "x", count: 1_000_000)
        #expect(ask(.compare(long, .equal, .null), store) == nil)
        #expect(ask(.compare(long + ".name", .equal, .null), store) == nil)
        #expect(ask(.compare("name", .equal, .string(long)), store) == 0)
        let pattern = Value.string(String(repeating: "x", count: 10_000))
        #expect(ask(.compare(.keyPath("name"), .matches, .constant(pattern)), store) == 0)
        #expect(ask(.compare(.keyPath("name"), .like, .constant(pattern)), store) == 0)
        let numbers = (0..<10_000).map { Value.integer(Int64($0)) }
        #expect(ask(.compare(.keyPath("age"), .in, .list(numbers)), store) == 3)
        let names = (0..<5_000).map { Value.string("name \($0)") } + [.string("Bob")]
        #expect(ask(.compare(.keyPath("name"), .in, .list(names)), store) == 1)
        #expect(ask(.compare(.keyPath("boss.name"), .in, .list(names)), store) == 0)
        let many = (0..<1_500).map { PredicateNode.compare("age", .equal, .integer(Int64($0))) }
        #expect(ask(.or(many), store) == 3)
        #expect(ask(.and(many), store) == 0)
        let format = "age IN {\((0..<5_000).map { "\($0)" }.joined(separator: ", "))}"
        #expect(ask(try PredicateNode(format: format), store) == 3)
        let sort = (0..<1000).map { SortKey($0 % 2 == 0 ? "age" : "name") }
        #expect(ask(nil, store, sort: sort) == 3)
    }

    @Test(
        "A path that comes by the same objects again and again is answered", .timeLimit(.minutes(1))
    )
    func repeatedObjects() throws {
        let store = try store()
        // By two ways each time: 2^40 of them.
        let path = String(repeating: "staff.boss.", count: 40) + "staff.name"
        func ask(_ format: String) throws -> Int? {
            self.ask(try PredicateNode(format: format), store)
        }
        #expect(try ask("ANY \(path) == 'Bob'") == 1)
        #expect(try ask("ANY \(path) == 'Anna'") == 0)
        // Also of those who have none.
        #expect(try ask("ALL \(path) != 'Anna'") == 3)
        #expect(try ask("ALL \(path) == 'Bob'") == 2)
        #expect(try ask("\(path) CONTAINS 'Cleo'") == 1)
        #expect(try ask("'Cleo' IN \(path)") == 1)
    }

    @Test("Prefetching and properties to fetch that lead nowhere are refused")
    func paths() throws {
        let context = ManagedObjectContext(store: try store())
        for path in [
            "nothing", "name", "boss.name", "staff.nothing", "", ".", "boss.",
            String(repeating: "boss.", count: 10_000) + "nothing",
        ] {
            var request = FetchRequest(entityName: "Person")
            request.relationshipKeyPathsForPrefetching = [path]
            #expect(
                storeError { _ = try context.fetch(request) }?.code == .invalidRequest,
                "\(path.prefix(20))")
            guard path != "name", path != "boss.name" else { continue }
            var rows = FetchRequest<DictionaryResult>(entityName: "Person")
            rows.propertiesToFetch = [.property(path)]
            #expect(
                storeError { _ = try context.fetch(rows) }?.code == .invalidRequest,
                "\(path.prefix(20))")
        }
    }
}
