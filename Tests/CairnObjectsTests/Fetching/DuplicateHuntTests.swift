// The same people arrive from three devices: finding who is there more than once, and keeping one of each. To be read as an
// example of what fetch requests for values are good for.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("The duplicate hunt")
struct DuplicateHuntTests {
    /// People with the address by which they are known, and what each device knows of them.
    private static let model: ManagedObjectModel = {
        let person = EntityDescription(
            "Person",
            attributes: [
                AttributeDescription("email", .string), AttributeDescription("name", .string),
                AttributeDescription("phone", .string), AttributeDescription("device", .integer16),
                // Made by the device that made the person: the same on all devices.
                AttributeDescription("mark", .uuid),
            ],
            relationships: [
                RelationshipDescription(
                    "addresses", to: "Address", toMany: true, inverse: "person",
                    deleteRule: .cascade)
            ])
        let address = EntityDescription(
            "Address", attributes: [AttributeDescription("city", .string)],
            relationships: [RelationshipDescription("person", to: "Person", inverse: "addresses")])
        return ManagedObjectModel(entities: [person, address])
    }()

    /// 100 people who arrive three times, and 20 whom only one device knows.
    private func prepare(_ backend: Backend) throws -> Stack {
        let stack = try Stack(Self.model, backend)
        for device in 1...3 {
            try stack.store { context in
                (0..<100).map { number in
                    let person = context.make(
                        "Person",
                        [
                            "email": "person\(number)@example.org", "name": "Person \(number)",
                            "device": device, "mark": UUID(),
                            // Each device knows the telephone numbers of some.
                            "phone": number % 3 == device - 1 ? "+49 \(number)" : nil,
                        ])
                    context.make("Address", ["city": "city \(device)", "person": person])
                    return person
                }
            }
        }
        try stack.store { context in
            (0..<20).map { context.make("Person", ["email": "single\($0)", "mark": UUID()]) }
        }
        return stack
    }

    /// The addresses that occur more than once, and how often: GROUP BY email HAVING count > 1.
    private func duplicates() throws -> FetchRequest<DictionaryResult> {
        var request = FetchRequest<DictionaryResult>(entityName: "Person")
        let count = try ExpressionDescription("count", "count:(email)", resultType: .integer64)
        request.propertiesToFetch = ["email", .expression(count)]
        request.propertiesToGroupBy = ["email"]
        request.havingPredicate = try PredicateNode(format: "$count > 1")
        return request
    }

    /// Keeps of each address the person with the least mark, whom every device would keep; it learns what the others know.
    private func unite(_ emails: [String], _ context: ManagedObjectContext) throws {
        var request = FetchRequest(
            entityName: "Person",
            predicate: try PredicateNode(
                format: "email IN %@", arguments: [.list(emails.map(Value.string))]))
        request.sortDescriptors = [SortKey("email"), SortKey("mark")]
        request.relationshipKeyPathsForPrefetching = ["addresses"]
        var winner: ManagedObject?
        for person in try context.fetch(request) {
            guard let kept = winner, kept.string("email") == person.string("email") else {
                winner = person
                continue
            }
            if kept["phone"] == nil { kept["phone"] = person["phone"] }
            // Addresses of who is deleted go with them.
            context.delete(person)
        }
    }

    @Test(
        "S2: GROUP BY … HAVING finds who is there more than once, and an IN fetch brings them to unite them",
        arguments: Backend.allCases)
    func hunt(_ backend: Backend) throws {
        let stack = try prepare(backend)
        let context = stack.context()
        let found = try context.fetch(duplicates())
        #expect(found.count == 100)
        #expect(found.allSatisfy { $0["count"] as? Int == 3 })

        try unite(found.compactMap { $0["email"] as? String }, context)
        try context.save()

        #expect(try context.fetch(duplicates()).isEmpty)
        let other = stack.context()
        #expect(try other.count("Person") == 120 && other.count("Address") == 100)
        let marks = try other.fetch(
            FetchRequest(
                entityName: "Person",
                predicate: try PredicateNode(format: "email BEGINSWITH 'person' AND phone != nil")))
        #expect(marks.count == 100, "what the losers knew is kept")
        #expect(marks.allSatisfy { $0.members("addresses").count == 1 })
    }

    @Test("Who is there twice under a constraint its index knows: no block is read")
    func constrained() throws {
        let directory = try TemporaryDirectory()
        let person = EntityDescription(
            "Person", attributes: [AttributeDescription("email", .string)],
            uniquenessConstraints: [["email"]])
        let schema = try Schema(ManagedObjectModel(entities: [person]))
        let store = try LogStore.open(at: directory.path("people"), schema: schema)
        let stack = Stack(store: store)
        try stack.store { context in
            (0..<500).map { context.make("Person", ["email": "person\($0)@example.org"]) }
        }
        let count = ExpressionNode.function(.count, [.evaluatedObject])
        var terms = TableTerms(columns: [.init("email"), .init("count", count)])
        terms.groupBy = [.keyPath("email")]
        terms.having = .compare(count, .greater, .constant(.integer(1)))
        let request = StoreTableFetch(StoreFetch(entity: 0), terms)
        let plan = try store.snapshot().explain(request)
        #expect(plan.access == "unique index (email): no key of two objects")
        #expect(plan.blocksRead == 0 && plan.results == 0)
        // Nil never collides: those without an address are looked for, and are a group.
        try stack.store { [$0.make("Person"), $0.make("Person")] }
        let table = try store.snapshot().table(request)
        #expect(table.rows == [[.null, .integer(2)]])
        try store.close()
    }

    @Test("Every device keeps the same person", arguments: Backend.allCases)
    func sameWinner(_ backend: Backend) throws {
        let stack = try prepare(backend)
        var least: [String: UUID] = [:]
        for person in try stack.context().all("Person") {
            guard let email = person.string("email"), let mark = person["mark"] as? UUID else {
                continue
            }
            least[email] = least[email].map { min($0, mark) } ?? mark
        }
        let context = stack.context()
        let emails = try context.fetch(duplicates()).compactMap { $0["email"] as? String }
        try unite(emails, context)
        try context.save()
        for person in try stack.context().all("Person") {
            #expect(person["mark"] as? UUID == least[person.string("email") ?? ""])
        }
    }

    @Test("S2: only those who have just arrived are looked at", arguments: Backend.allCases)
    func arrivals(_ backend: Backend) throws {
        let stack = try prepare(backend)
        let arrived = try stack.store { context in
            [
                context.make("Person", ["email": "single3", "mark": UUID()]),
                context.make("Person", ["email": "nobody else", "mark": UUID()]),
            ]
        }
        let context = stack.context()
        var theirs = FetchRequest<DictionaryResult>(entityName: "Person")
        theirs.predicate = .comparison(
            .init(.objectID, .in, arrived.map(Value.objectID)))
        theirs.propertiesToFetch = ["email"]
        let emails = try context.fetch(theirs).map { $0.value("email") }
        var request = try duplicates()
        request.predicate = .comparison(.init(.key("email"), .in, emails))
        #expect(try context.fetch(request).map { $0["email"] as? String } == ["single3"])
    }
}
