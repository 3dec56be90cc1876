// One object of several that have the same key.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Synchronization
import Testing

@Suite("Deduplication")
struct DeduplicationTests {
    private func stack(_ backend: Backend) throws -> Stack {
        try Stack(DuplicatePeople.model, backend)
    }

    private func request(_ rule: DeduplicationRule) -> DeduplicationRequest {
        DeduplicationRequest(entityName: "Person", by: ["email"], keeping: rule)
    }

    private func names(_ stack: Stack) throws -> [String?] {
        try stack.context().all("Person", sortedBy: "name").map { $0.string("name") }
    }

    @Test(
        "Each rule has its winner",
        arguments: Backend.allCases,
        [
            (.first, "b"), (.last, "c"), (.newest(by: "modified"), "a"),
            (.smallest(by: "mark"), "c"), (.mostComplete, "b"),
            (.merge([:], into: .smallest(by: "mark")), "c"),
        ] as [(DeduplicationRule, String)])
    func winners(_ backend: Backend, _ test: (rule: DeduplicationRule, winner: String)) throws {
        let stack = try stack(backend)
        let ids = try stack.store { context in
            [
                context.make(
                    "Person",
                    ["name": "b", "email": "x", "modified": 2, "mark": "2", "phone": "1"]),
                context.make("Person", ["name": "a", "email": "x", "modified": 3, "mark": "3"]),
                context.make("Person", ["name": "d", "email": "x"]),
                context.make("Person", ["name": "c", "email": "x", "modified": 1, "mark": "1"]),
                context.make("Person", ["name": "e", "email": "y"]),
                context.make("Person", ["name": "f", "email": nil]),
                context.make("Person", ["name": "g", "email": nil]),
            ]
        }
        let context = stack.context()
        var request = request(test.rule)
        request.isDryRun = true
        let planned = try context.execute(request)
        #expect(try names(stack) == ["a", "b", "c", "d", "e", "f", "g"])
        #expect(planned.groups.map(\.key) == [[.string("x")]])
        request.isDryRun = false
        let result = try context.execute(request)
        #expect(result.groups == planned.groups && result.deletedCount == 3)
        #expect(Set(result.survivors.keys).count == 3)
        #expect(result.groups[0].losers.allSatisfy(ids.contains))
        #expect(try names(stack) == [test.winner, "e", "f", "g"])
        #expect(try context.execute(request).groups.isEmpty)
    }

    @Test("Relationships go over to the winner, whatever leads where", arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let stack = try stack(backend)
        let ids = try stack.store { context in
            let winner = context.make("Person", ["name": "winner", "email": "x"])
            let loser = context.make("Person", ["name": "loser", "email": "x"])
            let friend = context.make("Person", ["name": "friend"])
            let tags = ["a", "b", "c"].map { context.make("Tag", ["label": $0]) }
            winner["tags"] = Set(tags[0...1])
            loser["tags"] = Set(tags[1...2])
            loser["friends"] = Set([winner, friend])
            loser["mentor"] = friend
            loser["heroes"] = Set([friend, winner])
            friend["mentor"] = loser
            friend["heroes"] = Set([loser])
            winner["mentor"] = loser
            loser["employer"] = context.make("Company", ["name": "first"])
            for person in [winner, loser] {
                context.make("Address", ["city": person.string("name"), "person": person])
                person["passport"] = context.make("Passport", ["number": person.string("name")])
            }
            return [winner, loser, friend]
        }
        let result = try stack.context().execute(request(.first))
        #expect(result.survivors == [ids[1]: ids[0]])
        // The passport that the winner had no room for.
        #expect(result.deletedCount == 1 && result.cascadedCount == 1)
        let context = stack.context()
        let (winner, friend) = (context.object(with: ids[0]), context.object(with: ids[2]))
        #expect(Set(winner.members("tags").map { $0.string("label") }) == ["a", "b", "c"])
        #expect(winner.members("friends") == [friend] && friend.members("friends") == [winner])
        #expect(winner.members("heroes") == [friend] && friend.members("heroes") == [winner])
        #expect(friend.object("mentor") === winner && winner.object("mentor") === friend)
        #expect(winner.object("employer")?.string("name") == "first")
        #expect(Set(winner.members("addresses").map { $0.string("city") }) == ["winner", "loser"])
        #expect(winner.object("passport")?.string("number") == "winner")
        #expect(try context.count("Person") == 2 && context.count("Passport") == 1)
        #expect(try context.count("Address") == 2)
    }

    @Test("Attributes are folded as it is declared for each", arguments: Backend.allCases)
    func folding(_ backend: Backend) throws {
        let stack = try stack(backend)
        try stack.store { context in
            [
                context.make(
                    "Person",
                    ["email": "x", "name": "old", "visits": 1, "modified": 1, "mark": "m"]
                ),
                context.make(
                    "Person",
                    ["email": "x", "name": "new", "phone": "1", "visits": 2, "modified": 3]),
                context.make(
                    "Person", ["email": "x", "phone": "2", "modified": 2, "mark": "a"]),
            ]
        }
        let rule = DeduplicationRule.merge(
            [
                "visits": .sum, "modified": .maximum, "name": .newest(by: "modified"),
                "mark": .minimum, "tags": .keep,
            ], into: .first)
        let result = try stack.context().execute(request(rule))
        #expect(result.deletedCount == 2 && result.updatedCount == 1)
        let person = try #require(try stack.context().all("Person").first)
        #expect(person.int("visits") == 3 && person.int("modified") == 3)
        #expect(person.string("name") == "new" && person.string("mark") == "a")
        #expect(person.string("phone") == "1")
    }

    @Test("A sum that does not fit its type is refused, and nothing is changed")
    func overflow() throws {
        let stack = try stack(.log)
        try stack.store { context in
            (0..<2).map { _ in context.make("Person", ["email": "x", "visits": 30_000]) }
        }
        let error = storeError {
            try stack.context().execute(request(.merge(["visits": .sum], into: .first)))
        }
        #expect(error?.context.key == "visits" && error?.code == .invalidRequest)
        #expect(try stack.context().count("Person") == 2)
    }

    @Test("Only groups of objects that came in are looked at", arguments: Backend.allCases)
    func incoming(_ backend: Backend) throws {
        let stack = try stack(backend)
        let ids = try stack.store { context in
            ["x", "x", "y", "y", "z"].map { context.make("Person", ["name": $0, "email": $0]) }
        }
        var request = request(.first)
        request.incoming = [ids[3], ids[4]]
        let result = try stack.context().execute(request)
        #expect(result.survivors == [ids[3]: ids[2]])
        #expect(try names(stack) == ["x", "x", "y", "z"])
    }

    @Test(
        "A condition, and whether descendants count, say who is looked at",
        arguments: Backend.allCases)
    func scope(_ backend: Backend) throws {
        let stack = try stack(backend)
        try stack.store { context in
            [
                context.make("Worker", ["name": "a", "email": "x", "visits": 1, "badge": "7"]),
                context.make("Person", ["name": "b", "email": "x", "visits": 1]),
                context.make("Person", ["name": "c", "email": "x", "visits": 2]),
            ]
        }
        var request = request(.last)
        request.includesSubentities = false
        request.predicate = .compare("visits", .equal, .integer(1))
        #expect(try stack.context().execute(request).groups.isEmpty)
        request.includesSubentities = true
        // A person has no badge to keep.
        let refused = storeError { _ = try stack.context().execute(request) }
        #expect(refused?.code == .constraintConflict && refused?.context.key == "badge")
        #expect(try names(stack) == ["a", "b", "c"])
        let context = stack.context()
        try context.all("Worker").forEach { $0["badge"] = nil }
        try context.save()
        #expect(try stack.context().execute(request).deletedCount == 1)
        #expect(try names(stack) == ["b", "c"])
    }

    @Test("Keys of several parts, and of references", arguments: Backend.allCases)
    func compound(_ backend: Backend) throws {
        let stack = try stack(backend)
        try stack.store { context in
            let companies = ["p", "q"].map { context.make("Company", ["name": $0]) }
            return [("x", 0), ("x", 1), ("x", 0), ("y", 0)].enumerated().map { index, key in
                context.make(
                    "Person",
                    ["name": "\(index)", "email": key.0, "employer": companies[key.1]])
            }
        }
        let result = try stack.context().execute(
            DeduplicationRequest(entityName: "Person", by: ["email", "employer"], keeping: .first))
        #expect(result.groups.count == 1 && result.deletedCount == 1)
        #expect(try names(stack) == ["0", "1", "3"])
    }

    @Test("No objects are made of what has the parts of several keys in other combinations")
    func combinations() throws {
        let stack = try stack(.log)
        try stack.store { context in
            // 400 combinations, of which 20 are there twice.
            (0..<420).map { number in
                let pair = number < 400 ? (number / 20, number % 20) : (number - 400, number - 400)
                return context.make(
                    "Person", ["name": "n\(pair.0)", "email": "e\(pair.1)", "visits": number])
            }
        }
        let store = CountingStore(stack.store)
        let result = try ManagedObjectContext(store: store).execute(
            DeduplicationRequest(entityName: "Person", by: ["name", "email"], keeping: .first))
        #expect(result.groups.count == 20 && result.deletedCount == 20)
        #expect(store.rows == 40)
        #expect(try stack.context().all("Person").count == 400)
    }

    @Test("Keys can be taken away instead of objects", arguments: Backend.allCases)
    func nullKey(_ backend: Backend) throws {
        let stack = try stack(backend)
        try stack.store { context in
            (0..<3).map { context.make("Person", ["name": "\($0)", "email": "x"]) }
        }
        let result = try stack.context().execute(request(.nullKey))
        #expect(result.deletedCount == 0 && result.updatedCount == 2)
        let people = try stack.context().all("Person", sortedBy: "name")
        #expect(people.map { $0.string("email") } == ["x", nil, nil])
    }

    @Test("That there are duplicates can be an error, which names them on request")
    func fail() throws {
        let stack = try stack(.log)
        try stack.store { context in
            ["x", "x", "y", "y", "y"].map { context.make("Person", ["email": $0]) }
        }
        let error = try #require(storeError { try stack.context().execute(request(.fail)) })
        #expect(error.code == .constraintConflict && error.details.count == 2)
        #expect(!error.description.contains("'x'") && error.fullDescription.contains("'x'"))
        #expect(error.description.contains("5 objects share 2 keys"))
    }

    @Test(
        "A request that the model does not fit names what is wrong",
        arguments: [
            (["mail"], .first, "mail"), (["email", "email"], .first, "email"),
            (["addresses"], .first, "addresses"), ([], .first, nil),
            (["email"], .newest(by: "date"), "date"),
            (["email"], .merge(["name": .sum]), "name"),
            (["email"], .merge(["email": .keep]), "email"),
            (["email"], .merge(["employer": .union]), "employer"),
            (["email"], .merge(["tags": .maximum]), "tags"),
            (["email"], .merge(["nothing": .keep]), "nothing"),
            (["email"], .merge([:], into: .nullKey), nil),
        ] as [([String], DeduplicationRule, String?)])
    func wrong(_ keys: [String], _ rule: DeduplicationRule, _ key: String?) throws {
        let stack = try stack(.dictionary)
        let error = try #require(
            storeError {
                try stack.context().execute(
                    DeduplicationRequest(entityName: "Person", by: keys, keeping: rule))
            })
        #expect(error.code == .invalidRequest && error.context.key == key)
    }

    @Test(
        "Two stores that were filled in another order keep the same winners",
        arguments: Backend.allCases,
        [.newest(by: "modified"), .smallest(by: "mark"), .mostComplete] as [DeduplicationRule])
    func devices(_ backend: Backend, _ winner: DeduplicationRule) throws {
        func fill(_ stack: Stack, _ order: [Int]) throws {
            try stack.store { context in
                order.map { number in
                    context.make(
                        "Person",
                        [
                            "email": "p\(number % 40)", "name": "n\(number % 7)",
                            "modified": number % 3 == 0 ? nil : number % 5,
                            "mark": number % 4 == 0 ? nil : "\(number % 6)",
                            "phone": number % 5 == 0 ? "\(number)" : nil, "visits": number % 9,
                        ])
                }
            }
        }
        let rule = DeduplicationRule.merge(["visits": .sum], into: winner)
        let found = try [Array(0..<200), (0..<200).map { $0 * 77 % 200 }].map { order in
            let stack = try stack(backend)
            try fill(stack, order)
            #expect(try stack.context().execute(request(rule)).groups.count == 40)
            return try stack.context().all("Person", sortedBy: "email").map { person in
                ["email", "name", "modified", "mark", "phone", "visits"].map {
                    "\(person[$0] ?? "-")"
                }
            }
        }
        #expect(found[0].count == 40 && found[0] == found[1])
    }

    @Test("What others write meanwhile is found again", arguments: Backend.allCases)
    func meanwhile(_ backend: Backend) throws {
        let stack = try stack(backend)
        let ids = try stack.store { context in
            (0..<3).map { context.make("Person", ["name": "\($0)", "email": "x", "visits": 1]) }
        }
        let questions = Atomic(0)
        // The second one reads the objects; the state that it is answered from is taken by then.
        let store = CountingStore(
            stack.store,
            onQuestion: { _ in
                guard questions.add(1, ordering: .relaxed).newValue == 2 else { return }
                let context = stack.context()
                context.object(with: ids[2])["visits"] = 5
                #expect(throws: Never.self) { try context.save() }
            })
        let context = ManagedObjectContext(store: store)
        let result = try context.execute(request(.merge(["visits": .sum], into: .first)))
        #expect(result.deletedCount == 2 && store.saves == 2)
        #expect(try stack.context().all("Person").map { $0.int("visits") } == [7])
    }

    @Test("Contexts that follow are told, as of other requests", arguments: Backend.allCases)
    func followed(_ backend: Backend) throws {
        let stack = try stack(backend)
        let ids = try stack.store { context in
            (0..<2).map { context.make("Person", ["name": "\($0)", "email": "x"]) }
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let loser = context.object(with: ids[1])
        #expect(loser.string("name") == "1")
        try context.execute(request(.first))
        _ = try context.all("Person")
        #expect(loser.isDeleted)
    }
}
