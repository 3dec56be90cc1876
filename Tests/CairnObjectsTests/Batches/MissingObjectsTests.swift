// What a batch insert does about stored objects that its rows do not name.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Objects that a list no longer has")
struct MissingObjectsTests {
    private static let marks: [String: Value] = ["isFavorite": .boolean(true), "stock": .null]

    private static func list(
        _ codes: some Sequence<String>, _ change: (inout BatchInsertRequest) throws -> Void
    ) rethrows -> BatchInsertRequest {
        var request = BatchInsertRequest(
            entityName: "Product", objects: codes.map { ["serialCode": $0, "name": "new \($0)"] })
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        try change(&request)
        return request
    }

    /// Products a to f: a, b, c of the shop Corner, d, e of the shop Harbour, f of none.
    private static func filled(_ backend: Backend) throws -> Stack {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            let shops = ["Corner", "Harbour"].map { context.make("Shop", ["name": $0]) }
            for (index, code) in ["a", "b", "c", "d", "e", "f"].enumerated() {
                context.make(
                    "Product",
                    [
                        "serialCode": code, "name": code, "stock": index,
                        "shop": index < 3 ? shops[0] : index < 5 ? shops[1] : nil,
                    ])
            }
            return shops
        }
        return stack
    }

    private static func codes(_ stack: Stack, _ format: String = "TRUEPREDICATE") throws -> String {
        var request = FetchRequest(
            entityName: "Product", predicate: try PredicateNode(format: format))
        request.sortDescriptors = [SortKey("serialCode")]
        return try stack.context().fetch(request).map { $0.string("serialCode") ?? "" }.joined()
    }

    @Test(
        "Only what the scope finds as it is stored is deleted; rows may name objects beyond it",
        arguments: Backend.allCases)
    func scope(_ backend: Backend) throws {
        let stack = try Self.filled(backend)
        let result = try stack.store.execute(
            Self.list(["a", "d", "x"]) {
                $0.prunesMissing = true
                $0.scope = try PredicateNode(format: "shop.name == 'Corner'")
                $0.resultType = .objectIDs
            })
        #expect(result.deletedCount == 2 && result.insertedCount == 1 && result.updatedCount == 2)
        #expect(result.missingIDs.count == 2 && result.objectIDs.count == 3)
        #expect(Set(result.missingIDs).isDisjoint(with: result.objectIDs))
        #expect(try Self.codes(stack) == "adefx")
    }

    @Test(
        "What the batch itself changes does not say who is in the scope",
        arguments: Backend.allCases)
    func scopeBefore(_ backend: Backend) throws {
        let stack = try Self.filled(backend)
        var request = BatchInsertRequest(
            entityName: "Product",
            objects: [
                // Leaves the scope, and is named; comes into the scope, and is new.
                ["serialCode": "a", "stock": 100], ["serialCode": "y", "stock": 1],
            ])
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        request.missing = .delete
        request.scope = try PredicateNode(format: "stock < 2")
        #expect(try stack.store.execute(request).deletedCount == 1)
        #expect(try Self.codes(stack) == "acdefy")
    }

    @Test(
        "Missing objects are marked once, and what has the mark is not written again",
        arguments: Backend.allCases)
    func marks(_ backend: Backend) throws {
        let stack = try Self.filled(backend)
        let marking = Self.list(["a", "b", "c", "d"]) {
            $0.missing = .mark(Self.marks)
            $0.resultType = .objectIDs
        }
        let first = try stack.store.execute(marking)
        #expect(first.markedCount == 2 && first.deletedCount == 0 && first.updatedCount == 4)
        #expect(first.missingIDs.count == 2)
        #expect(try Self.codes(stack, "isFavorite == YES AND stock == nil") == "ef")
        #expect(try Self.codes(stack) == "abcdef")
        let second = try stack.store.execute(marking)
        #expect(second.markedCount == 0 && second.missingIDs.isEmpty && second.commit == nil)
        // A row that comes back sets what it names.
        let third = try stack.store.execute(
            Self.list(["e"]) {
                $0.missing = .mark(Self.marks)
                $0.scope = try PredicateNode(format: "shop.name == 'Harbour'")
            })
        #expect(third.markedCount == 1)
        #expect(try Self.codes(stack, "isFavorite == YES") == "def")
        #expect(try Self.codes(stack, "isFavorite == YES AND name == 'new e'") == "e")
    }

    @Test(
        "Marked objects are updates of the change set and of the history",
        arguments: Backend.allCases)
    func changes(_ backend: Backend) throws {
        let store = try backend.makeStoreWithHistory(Schema(Models.shop))
        let stack = Stack(store: store)
        _ = try store.execute(Self.list(["a", "b", "c"]) { _ in })
        let seen = Seen()
        let observation = store.observeChanges { seen.note($0) }
        let result = try store.execute(
            Self.list(["a"]) {
                $0.missing = .mark(["stock": .integer(7)])
                $0.resultType = .objectIDs
            })
        observation.cancel()
        #expect(result.markedCount == 2)
        #expect(seen.updated == Set(result.missingIDs))
        let request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
        let transaction = try #require(
            try stack.container.execute(request).transactions.last)
        let changes = Array(transaction.changes ?? [])
        #expect(Set(changes.map(\.changedObjectID)) == Set(result.missingIDs))
        #expect(changes.allSatisfy { $0.changeType == .update })
        #expect(changes.allSatisfy { $0.updatedProperties == ["stock"] })
    }

    private final class Seen: @unchecked Sendable {
        // The store tells of a commit before the request that made it returns.
        private(set) var updated: Set<ObjectID> = []
        func note(_ change: ChangeSet) {
            updated.formUnion((try? change.updatedObjectIDs()) ?? [])
        }
    }

    @Test("A list that names nothing is an error for marks too", arguments: Backend.allCases)
    func empty(_ backend: Backend) throws {
        let stack = try Self.filled(backend)
        func message(
            _ codes: [String], _ missing: MissingObjects, scope: PredicateNode? = nil
        ) -> String? {
            storeError {
                _ = try stack.store.execute(
                    Self.list(codes) {
                        $0.missing = missing
                        $0.scope = scope
                    })
            }?.message
        }
        #expect(
            message([], .delete)
                == "the list is empty, and pruning would delete every object; allow an empty list if that is intended"
        )
        let scope = PredicateNode.compare("stock", .less, .integer(3))
        #expect(
            message([], .mark(Self.marks), scope: scope)
                == "the list is empty, and every object of the scope would be marked as missing; allow an empty list if that is intended"
        )
        let result = try stack.store.execute(
            Self.list([]) {
                $0.missing = .mark(Self.marks)
                $0.scope = scope
                $0.allowsEmpty = true
            })
        #expect(result.markedCount == 3)
    }

    @Test(
        "Rows that are all left out for objects of other entities name nothing",
        arguments: Backend.allCases)
    func namesNothing(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        try stack.store { context in
            [
                context.make("Car", ["numberPlate": "A"]),
                context.make("SportCar", ["numberPlate": "B"]),
            ]
        }
        func list(_ plate: String) -> BatchInsertRequest {
            var request = BatchInsertRequest(
                entityName: "SportCar", objects: [["numberPlate": plate]])
            request.mergePolicy = .mergeByPropertyStoreTrump
            request.missing = .delete
            return request
        }
        let error = storeError { _ = try stack.store.execute(list("A")) }
        #expect(
            error?.message
                == "no row of the list identifies an object of the entity, and pruning would delete every object; allow an empty list if that is intended"
        )
        #expect(try stack.context().count("Car") == 2)
        // Left out, but one of them: it stays.
        #expect(try stack.store.execute(list("B")).skippedCount == 1)
        #expect(try stack.context().count("Car") == 2)
    }

    @Test("What cannot be done is refused, naming the key", arguments: Backend.allCases)
    func refused(_ backend: Backend) throws {
        let stack = try Self.filled(backend)
        func error(_ missing: MissingObjects, _ scope: String? = nil) -> StoreError? {
            storeError {
                _ = try stack.store.execute(
                    Self.list(["a"]) {
                        $0.missing = missing
                        $0.scope = try scope.map { try PredicateNode(format: $0) }
                    })
            }
        }
        #expect(error(.mark([:]))?.message.contains("no property is named") == true)
        #expect(error(.stay, "stock < 2")?.message.contains("does not say what to do") == true)
        let unknown = error(.mark(["nothing": .null]))
        #expect(unknown?.code == .invalidRequest && unknown?.context.key == "nothing")
        let mandatory = error(.mark(["name": .null]))
        #expect(mandatory?.code == .missingMandatory && mandatory?.context.key == "name")
        let many = error(.mark(["tags": .null]))
        #expect(many?.code == .invalidRequest && many?.context.key == "tags")
        let type = error(.mark(["stock": .string("x")]))
        #expect(type?.code == .invalidRequest && type?.context.key == "stock")
        let scope = error(.delete, "shop.colour == 'red'")
        #expect(scope?.code == .invalidRequest && scope?.context.entity != nil)
        #expect(try Self.codes(stack) == "abcdef")
    }

    @Test(
        "Marks that would give two objects one key refuse the batch, and those that free one do not",
        arguments: Backend.allCases)
    func keys(_ backend: Backend) throws {
        let entity = EntityDescription(
            "Thing",
            attributes: [
                .init("code", .string), .init("rank", .integer64), .init("old", .boolean),
            ],
            uniquenessConstraints: [["code"], ["rank"]])
        let stack = try Stack(ManagedObjectModel(entities: [entity]), backend)
        func list(_ rows: [[String: Any]], _ missing: MissingObjects) -> BatchInsertRequest {
            var request = BatchInsertRequest(entityName: "Thing", objects: rows)
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.missing = missing
            return request
        }
        _ = try stack.store.execute(
            list([["code": "a", "rank": 1], ["code": "b", "rank": 2]], .stay))
        let error = storeError {
            _ = try stack.store.execute(
                list([["code": "c", "rank": 3]], .mark(["rank": .integer(9)])))
        }
        #expect(error?.code == .constraintConflict)
        #expect(try stack.context().count("Thing") == 2)
        // The new first takes the place of one that is marked.
        let result = try stack.store.execute(
            list([["code": "c", "rank": 1]], .mark(["rank": .null, "old": .boolean(true)])))
        #expect(result.markedCount == 2 && result.insertedCount == 1)
        let ranks = try stack.context().all("Thing", sortedBy: "code").map { $0.int("rank") }
        #expect(ranks == [nil, nil, 1])
    }

    @Test(
        "A list that names what would go with something that it does not name is refused",
        arguments: Backend.allCases)
    func contradictions(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let parent = context.make("Person", ["name": "parent"])
            return [parent]
                + ["a", "b", "c"].map { context.make("Person", ["name": $0, "parent": parent]) }
        }
        func sync(_ rows: [[String: Any]], _ missing: MissingObjects = .delete) throws
            -> BatchInsertResult
        {
            var request = BatchInsertRequest(entityName: "Person", objects: rows)
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.missing = missing
            return try stack.store.execute(request)
        }
        let error = storeError { _ = try sync([["name": "a"], ["name": "b"]]) }
        #expect(error?.code == .deleteDenied)
        if backend != .dictionary {
            #expect(error?.details.compactMap(\.context.objectID) == [ids[1], ids[2]])
            let one = storeError { _ = try sync([["name": "c"]]) }
            #expect(one?.code == .deleteDenied && one?.context.objectID == ids[3])
        }
        #expect(try stack.context().count("Person") == 4)
        // Who has another owner, or none, by the same list stays; the rest goes as the rule says.
        let result = try sync([["name": "a", "parent": NSNull()]])
        #expect(result.deletedCount == 3)
        #expect(try stack.context().all("Person").map { $0.string("name") } == ["a"])
    }

    @Test("By key paths: scope, mark and deletion")
    func typed() throws {
        let store = try Backend.log.makeStore(Schema(ManagedObjectModel(for: [TypedProduct.self])))
        let context = ManagedObjectContext(
            store: store, classes: ObjectClasses(for: [TypedProduct.self]))
        context.mergePolicy = .mergeByPropertyObjectTrump
        func list(_ numbers: Range<Int>) -> BatchInsertRequest {
            BatchInsertRequest(TypedProduct.self, from: numbers) { row, number in
                row.serialCode = "\(number)"
                row.price = Double(number)
                row.stock = 1
            }
        }
        try context.execute(list(0..<10))
        let limit = 8.0
        let marked = try context.execute(
            list(0..<5).markingMissing(\TypedProduct.stock, as: 0)
                .withMissing(in: #Predicate<TypedProduct> { $0.price < limit }))
        #expect(marked.markedCount == 3 && marked.unchangedCount == 5)
        let deleted = try context.execute(list(0..<9).deletingMissing())
        #expect(deleted.deletedCount == 1 && deleted.updatedCount == 3)
    }
}
