// To-many relationships, and those whose other side has to follow, in batch inserts.

import Cairn
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

/// Counts how often somebody was called.
private final class Calls: Sendable {
    private let count = Atomic<Int>(0)
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

@Suite("To-many relationships of the rows of a batch")
struct BatchListTests {
    /// Relationships of every kind: by name, entity, whether to many, inverse, whether ordered.
    private static let model: ManagedObjectModel = {
        func made(
            _ name: String, _ entity: String, _ many: Bool, _ inverse: String?,
            ordered: Bool = false
        ) -> RelationshipDescription {
            var relationship = RelationshipDescription(
                name, to: entity, toMany: many, inverse: inverse)
            relationship.isOrdered = ordered
            return relationship
        }
        let names: [AttributeDescription] = [.init("name", .string), .init("value", .integer64)]
        let node = EntityDescription(
            "Node", attributes: names,
            relationships: [
                made("partner", "Node", false, "partner"),
                made("boss", "Node", false, "clerk"), made("clerk", "Node", false, "boss"),
                made("badge", "Thing", false, "node"),
                made("chief", "Node", false, "staff"),
                made("staff", "Node", true, "chief", ordered: true),
                made("items", "Thing", true, "owner", ordered: true),
                made("crates", "Thing", true, "holder"),
                made("friends", "Node", true, "friends"),
                made("likes", "Node", true, "likedBy"), made("likedBy", "Node", true, "likes"),
                made("heroes", "Node", true, nil),
                made("tags", "Thing", true, "tagged"),
                made("steps", "Thing", true, "stepOf", ordered: true),
            ], uniquenessConstraints: [["name"]])
        let thing = EntityDescription(
            "Thing", attributes: names,
            relationships: [
                made("node", "Node", false, "badge"), made("owner", "Node", false, "items"),
                made("holder", "Node", false, "crates"), made("tagged", "Node", true, "tags"),
                made("stepOf", "Node", true, "steps"),
            ], uniquenessConstraints: [["name"]])
        return ManagedObjectModel(entities: [node, thing])
    }()

    private static let one = ["partner", "boss", "clerk", "badge", "chief"]
    private static let many = [
        "staff", "items", "crates", "friends", "likes", "likedBy", "heroes", "tags", "steps",
    ]
    private static let ordered: Set = ["staff", "items", "steps"]
    private static let things: Set = ["badge", "items", "crates", "tags", "steps"]

    /// What a row says of a relationship.
    private enum Said {
        case one(String?)
        case all([String])
        case more([String])
    }

    private static func row(_ random: inout RandomSource) -> [String: Said] {
        var row: [String: Said] = [:]
        for name in one where random.chance(25) {
            let target = "\(things.contains(name) ? "t" : "n")\(random.below(6))"
            row[name] = .one(random.chance(20) ? nil : target)
        }
        for name in many where random.chance(25) {
            let letter = things.contains(name) ? "t" : "n"
            let targets = Array(
                (0..<6).map { "\(letter)\($0)" }.shuffled(using: &random)
                    .prefix(random.below(5)))
            row[name] = random.chance(60) ? .all(targets) : .more(targets)
        }
        return row
    }

    private static func values(_ name: String, _ row: [String: Said]) -> [String: Any] {
        var values: [String: Any] = ["name": name]
        for (key, said) in row {
            values[key] =
                switch said {
                case .one(let target): target.map { $0 as Any } ?? NSNull()
                case .all(let targets): targets
                case .more(let targets): RowTargets.adding(targets.map { .key($0) })
                }
        }
        return values
    }

    /// Saves a row as somebody who has found its object, or makes it.
    private static func save(_ name: String, _ row: [String: Said], in stack: Stack) throws {
        let context = stack.context()
        let object =
            try context.find("Node", "name", .string(name)).first
            ?? context.make("Node", ["name": name])
        func target(_ name: String) throws -> ManagedObject {
            let entity = name.hasPrefix("t") ? "Thing" : "Node"
            return try #require(try context.find(entity, "name", .string(name)).first)
        }
        // To-one relationships first, each in the order of their columns, as in a row.
        let columns = stack.store.schema.entity(named: "Node")?.relationships ?? []
        for key in columns.map(\.description.name) {
            guard case .one(let name)? = row[key] else { continue }
            let value = try name.map(target)
            if object.object(key) !== value { object[key] = value }
        }
        for key in columns.map(\.description.name) {
            switch row[key] {
            case .all(let names):
                let members = try names.map(target)
                if ordered.contains(key) {
                    object[key] = members
                } else {
                    object[key] = Set(members)
                }
            case .more(let names):
                let members = try names.map(target)
                if ordered.contains(key) {
                    let list = object.list(key)
                    object[key] = list + members.filter { !list.contains($0) }
                } else {
                    object[key] = object.members(key).union(members)
                }
            case .one, nil: break
            }
        }
        try context.save()
    }

    /// Who leads to whom.
    private static func content(_ stack: Stack) throws -> String {
        let context = stack.context()
        return try (context.all("Node", sortedBy: "name") + context.all("Thing", sortedBy: "name"))
            .map { object in
                let parts = object.entity.relationships.map { relationship -> String in
                    let name = relationship.description.name
                    let members: [String] =
                        if !relationship.description.isToMany {
                            [object.object(name)?.string("name") ?? "-"]
                        } else if relationship.description.isOrdered {
                            object.list(name).map { $0.string("name") ?? "?" }
                        } else {
                            object.members(name).map { $0.string("name") ?? "?" }.sorted()
                        }
                    return "\(name): \(members.joined(separator: " "))"
                }
                return "\(object.string("name") ?? "?") " + parts.joined(separator: ", ")
            }.joined(separator: "\n")
    }

    /// A store with nodes n0 to n5 and things t0 to t5.
    private static func stack() throws -> Stack {
        let stack = try Stack(model, .log)
        try stack.store { context in
            for number in 0..<6 {
                context.make("Node", ["name": "n\(number)"])
                context.make("Thing", ["name": "t\(number)"])
            }
            return []
        }
        return stack
    }

    private static func put(
        _ rows: [[String: Any]], _ entity: String = "Node", in stack: Stack,
        _ change: (inout BatchInsertRequest) -> Void = { _ in }
    ) throws -> BatchInsertResult {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        change(&request)
        return try stack.store.execute(request)
    }

    private static func check(_ stack: Stack) throws {
        let store = try #require(stack.store as? LogStore)
        #expect(try store.check().findings.isEmpty)
    }

    @Test(
        "Rows leave what as many saves in their order leave",
        arguments: RandomSource.seeds(8, whole: 500))
    func likeSaves(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = RandomSource(seed: seed)
        let (batched, saved) = (try Self.stack(), try Self.stack())
        for _ in 0..<5 {
            let rows = (0..<[1, 2, 5, 20][random.below(4)]).map { _ in
                // Some are about new objects.
                (
                    random.chance(80) ? "n\(random.below(6))" : "x\(random.below(9))",
                    Self.row(&random)
                )
            }
            _ = try Self.put(rows.map { Self.values($0.0, $0.1) }, in: batched)
            for (name, row) in rows { try Self.save(name, row, in: saved) }
            let (one, other) = (try Self.content(batched), try Self.content(saved))
            // Line by line, as each is an object.
            for (line, meant) in zip(one.split(separator: "\n"), other.split(separator: "\n"))
            where line != meant { Issue.record("\(line) is to be \(meant)") }
            if one != other { return }
        }
        try Self.check(batched)
    }

    @Test("A list that says what is stored writes nothing, and what it changes is an update")
    func unchanged() throws {
        let stack = try Self.stack()
        let rows: [[String: Any]] = [
            ["name": "n0", "tags": ["t0", "t1"], "items": ["t3", "t2"], "badge": "t5"],
            ["name": "n1", "crates": ["t1", "t2"], "friends": ["n0", "n2"], "chief": "n0"],
        ]
        let first = try Self.put(rows, in: stack) { $0.reportsOutcomes = true }
        #expect(first.updatedCount == 2 && first.unchangedCount == 0)
        #expect(first.outcomes == [.updated, .updated] && first.commit != nil)
        let again = try Self.put(rows, in: stack) { $0.reportsOutcomes = true }
        #expect(again.updatedCount == 0 && again.unchangedCount == 2 && again.commit == nil)
        #expect(again.outcomes == [.unchanged, .unchanged])
        var other = rows
        other[0]["items"] = ["t2", "t3"]
        let order = try Self.put(other, in: stack) {
            $0.reportsOutcomes = true
            $0.resultType = .objectIDs
        }
        #expect(order.outcomes == [.updated, .unchanged] && order.objectIDs.count == 1)
        other[1]["friends"] = RowTargets.adding([.key("n0")])
        #expect(try Self.put(other, in: stack).commit == nil)
        other[1]["friends"] = NSNull()
        #expect(try Self.put(other, in: stack).updatedCount == 1)
        let node = try #require(try stack.context().find("Node", "name", .string("n1")).first)
        #expect(node.members("friends").isEmpty && node.members("crates").count == 2)
        try Self.check(stack)
    }

    @Test("Members may come later in the batch; who is not there is told by row and key")
    func missing() throws {
        let stack = try Self.stack()
        _ = try Self.put(
            [
                ["name": "a", "friends": ["b", "c"], "boss": "c"], ["name": "b"],
                ["name": "c", "staff": [["name": "b"], ["name": "a"]]],
            ], in: stack)
        let node = try #require(try stack.context().find("Node", "name", .string("a")).first)
        #expect(node.members("friends").count == 2 && node.object("boss")?.string("name") == "c")
        #expect(node.object("chief")?.list("staff").map { $0.string("name") } == ["b", "a"])
        let rows: [[String: Any]] = [
            ["name": "new"], ["name": "b", "tags": ["t0", "nobody"], "clerk": "nobody"],
        ]
        let error = storeError { _ = try Self.put(rows, in: stack) }
        #expect(error?.code == .multiple && error?.details.count == 2)
        #expect(error?.details.allSatisfy { $0.code == .objectNotFound } == true)
        #expect(error?.details.map(\.context.row) == [1, 1])
        #expect(Set(error?.details.compactMap(\.context.key) ?? []) == ["tags", "clerk"])
        #expect(try stack.context().find("Node", "name", .string("new")).isEmpty)
        _ = try Self.put(rows, in: stack) { $0.ignoresMissingTargets = true }
        let other = try #require(try stack.context().find("Node", "name", .string("b")).first)
        #expect(other.members("tags").count == 1 && other.object("clerk") == nil)
        func code(_ row: [String: Any]) -> StoreError? {
            storeError {
                _ = try Self.put([row.merging(["name": "n0"]) { one, _ in one }], in: stack)
            }
        }
        #expect(code(["tags": "t0"])?.context.key == "tags")
        #expect(code(["tags": [NSNull()]])?.code == .invalidRequest)
        #expect(code(["tags": [["label": "x"]]])?.code == .invalidRequest)
        #expect(code(["tags": [Date()]])?.context.row == 0)
        #expect(code(["partner": ["n1"]])?.code == .invalidRequest)
        #expect(code(["value": ["n1"]])?.code == .invalidRequest)
        #expect(code(["tags": [other.objectID]])?.code == .foreignObject)
        try Self.check(stack)
    }

    @Test("Rows that are left out give their objects no members")
    func leftOut() throws {
        let stack = try Self.stack()
        let result = try Self.put(
            [["name": "n0", "tags": ["t0"]], ["name": "new", "tags": ["t1"], "partner": "n1"]],
            in: stack
        ) { $0.mergePolicy = .mergeByPropertyStoreTrump }
        #expect(result.skippedCount == 1 && result.insertedCount == 1)
        let nodes = try stack.context().all("Node", sortedBy: "name")
        #expect(nodes.map { $0.members("tags").count } == [0, 0, 0, 0, 0, 0, 1])
        #expect(nodes[6].object("partner") === nodes[1])
        // Under the declared policy all members stay.
        let declared = try Self.put([["name": "new", "tags": ["t2"]]], in: stack) {
            $0.mergePolicy = .declared
        }
        #expect(declared.updatedCount == 1)
        #expect(try stack.context().all("Node", sortedBy: "name")[6].members("tags").count == 2)
    }

    @Test("Mandatory relationships and counts of members hold for what the rows leave")
    func rules() throws {
        var parts = RelationshipDescription("parts", to: "Part", toMany: true, inverse: "whole")
        parts.minimumCount = 1
        parts.maximumCount = 2
        var whole = RelationshipDescription("whole", to: "Whole", inverse: "parts")
        whole.isOptional = false
        let name = [AttributeDescription("name", .string)]
        let stack = try Stack(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Whole", attributes: name, relationships: [parts],
                    uniquenessConstraints: [["name"]]),
                EntityDescription(
                    "Part", attributes: name, relationships: [whole],
                    uniquenessConstraints: [["name"]]),
            ]), .log)
        try stack.store { context in
            for number in 0..<3 {
                let whole = context.make("Whole", ["name": "w\(number)"])
                context.make("Part", ["name": "p\(number)", "whole": whole])
            }
            return []
        }
        func error(_ rows: [[String: Any]], validates: Bool = true) -> StoreError? {
            storeError {
                _ = try Self.put(rows, "Whole", in: stack) { $0.validatesValues = validates }
            }
        }
        let many = error([["name": "w0"], ["name": "w1", "parts": ["p0", "p1", "p2"]]])
        #expect(many?.code == .tooManyMembers && many?.context.row == 1)
        #expect(many?.context.key == "parts")
        let lost = error([["name": "w1", "parts": ["p0"]]])
        #expect(lost?.code == .missingMandatory && lost?.context.key == "whole")
        #expect(lost?.context.row == 0 && lost?.context.entity == "Part")
        // Two that exchange theirs leave nobody without one.
        #expect(error([["name": "w0", "parts": ["p1"]], ["name": "w1", "parts": ["p0"]]]) == nil)
        #expect(
            error([["name": "w0", "parts": ["p0", "p1", "p2"]]], validates: false) == nil)
        #expect(
            try stack.context().find("Whole", "name", .string("w0"))[0].members("parts").count == 3)
        try Self.check(stack)
    }

    @Test("More than fits into memory at once comes to the same")
    func large() throws {
        let stack = try Self.stack()
        let count = 9_000
        _ = try Self.put((0..<count).map { ["name": "t\($0)"] }, "Thing", in: stack)
        let rows: [[String: Any]] = (0..<count).map {
            ["name": "m\($0)", "tags": ["t\($0)", "t\((count - 1) - $0)"], "items": ["t\($0)"]]
        }
        _ = try Self.put(rows, in: stack)
        #expect(try Self.put(rows, in: stack).commit == nil)
        let context = stack.context()
        for number in [0, 17, 4_500, 8_999] {
            let node = try #require(
                try context.find("Node", "name", .string("m\(number)")).first)
            #expect(node.list("items").map { $0.string("name") } == ["t\(number)"])
            #expect(
                Set(node.members("tags").compactMap { $0.string("name") })
                    == ["t\(number)", "t\(8_999 - number)"])
        }
        try Self.check(stack)
    }

    @Test("Encodable rows give lists of values, of ids and of objects with keys")
    func encodable() throws {
        struct Key: Encodable { var name: String }
        struct Row: Encodable {
            var name: String
            var tags: [String]?
            var items: [Key]?
            var friends: Set<ObjectID>?
            var steps: [[String: String]]?
        }
        let stack = try Self.stack()
        let id = try #require(
            try stack.context().find("Node", "name", .string("n3")).first?.objectID)
        func put(_ row: Row) throws {
            var request = BatchInsertRequest(entityName: "Node", encodable: [row])
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try stack.store.execute(request)
        }
        try put(
            Row(
                name: "n0", tags: ["t1", "t2"], items: [Key(name: "t4"), Key(name: "t0")],
                friends: [id], steps: [["name": "t5"]]))
        let node = try #require(try stack.context().find("Node", "name", .string("n0")).first)
        #expect(node.members("tags").count == 2 && node.object("partner") == nil)
        #expect(node.list("items").map { $0.string("name") } == ["t4", "t0"])
        #expect(node.members("friends").map(\.objectID) == [id])
        #expect(node.list("steps").map { $0.string("name") } == ["t5"])
        // An empty list is none; what is not encoded stays.
        try put(Row(name: "n0", tags: []))
        let after = try #require(try stack.context().find("Node", "name", .string("n0")).first)
        #expect(after.members("tags").isEmpty && after.list("items").count == 2)
        struct Wrong: Encodable {
            var name = "n0"
            var tags = [["t1"]]
        }
        let error = storeError {
            _ = try stack.store.execute(
                BatchInsertRequest(entityName: "Node", encodable: [Wrong()]))
        }
        #expect(error?.code == .invalidRequest && error?.context.key == "tags")
    }

    @Test("Rows of a closure give lists by the names of a class's properties")
    func typed() throws {
        let types: [any PersistentEntity.Type] = [ListedBook.self, ListedAuthor.self]
        let stack = try Stack(
            ManagedObjectModel(for: types), .log, classes: ObjectClasses(for: types))
        try stack.context().execute(
            BatchInsertRequest(ListedAuthor.self, from: ["Anna", "Ben", "Cleo"]) { row, name in
                row.name = name
            })
        func put(_ title: String, _ authors: RowTargets, _ chapters: RowTargets = []) throws {
            var request = BatchInsertRequest(ListedBook.self, from: [title]) { row, title in
                row.title = title
                row.authors = authors
                row.readers = chapters
            }
            request.mergePolicy = .mergeByPropertyObjectTrump
            try stack.context().execute(request)
        }
        try put("one", .keys(["Anna", "Ben"]), .keys(["Cleo", "Anna"]))
        try put("one", .adding([.key("Cleo")]), .adding([.key("Ben")]))
        let context = stack.context()
        let book = try #require(try context.fetch(FetchRequest<ListedBook>()).first)
        #expect(Set(book.authors.map(\.name)) == ["Anna", "Ben", "Cleo"])
        #expect(book.readers.map(\.name) == ["Cleo", "Anna", "Ben"])
        // By the columns of the store's entity.
        let entity = try #require(stack.store.schema.entity(named: "ListedBook"))
        let (title, authors) = (
            try entity.column("title", as: String.self), try entity.membersColumn("authors")
        )
        let id = try #require(book.authors.first { $0.name == "Ben" }?.objectID)
        let calls = Calls()
        var request = BatchInsertRequest(entity: entity) { row in
            row[title] = "one"
            row.set(authors, .ids([id]))
            return calls.next() > 0
        }
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try stack.store.execute(request)
        let again = try #require(try stack.context().fetch(FetchRequest<ListedBook>()).first)
        #expect(again.authors.map(\.name) == ["Ben"])
        let none = storeError { _ = try entity.membersColumn("title") }
        #expect(none?.context.key == "title")
    }
}

@Entity
final class ListedBook: ManagedObject {
    #Unique<ListedBook>([\.title])
    var title: String = ""
    @Relationship(inverse: \ListedAuthor.books) var authors: Set<ListedAuthor>
    @Relationship(inverse: \ListedAuthor.readBooks) var readers: [ListedAuthor]
}

@Entity
final class ListedAuthor: ManagedObject {
    #Unique<ListedAuthor>([\.name])
    var name: String = ""
    var books: Set<ListedBook>
    var readBooks: Set<ListedBook>
}
