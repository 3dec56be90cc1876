// Ordered lists: of members that lead to their owner, and of pairs.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Ordered lists")
struct OrderTests {
    /// A route with the stops a, b, c and the sights x, y, z.
    private func insertRoute(_ subject: Subject) throws -> ObjectID {
        var draft = try subject.draft()
        let route = try draft.insert("Route", ["name": "r"])
        for name in ["a", "b", "c"] { try draft.insert("Stop", ["name": name, "route": route]) }
        for name in ["x", "y", "z"] {
            try draft.insert("Sight", ["name": name, "routes": [route]])
        }
        return try #require(try subject.save(draft).permanentIDs[route])
    }

    private func ids(_ subject: Subject, _ entity: String, _ names: String) throws -> [ObjectID] {
        try names.map { try subject.id(entity, "\($0)") }
    }

    private static let lists = [("stops", "Stop", "abc"), ("sights", "Sight", "xyz")]

    @Test(
        "Members come in the order of their creation, until another one is said",
        arguments: Backend.everyStore)
    func order(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let route = try insertRoute(subject)
            for (key, entity, names) in Self.lists {
                func members() throws -> String {
                    try subject.members("Route", "r", key).filter { $0 != " " }
                }
                #expect(try members() == names)
                let reversed = String(names.reversed())
                try subject.save {
                    try $0.order(route, key, ids(subject, entity, reversed))
                }
                #expect(try members() == reversed)
                // Who comes, comes at the end.
                if key == "stops" {
                    try subject.insert("Stop", ["name": "d", "route": route])
                } else {
                    try subject.insert("Sight", ["name": "d", "routes": [route]])
                }
                #expect(try members() == reversed + "d")
                try subject.delete(entity, String(names.dropFirst().first ?? "?"))
                let rest = reversed.filter { $0 != names.dropFirst().first } + "d"
                #expect(try members() == rest)
                let snapshot = try subject.store.snapshot()
                let route = try subject.entity("Route")
                var read = ""
                let related = try StoreRelated(route, key, in: subject.schema)
                try snapshot.read(related, of: [subject.id("Route", "r")]) { row in
                    read += try subject.names(of: [row.objectID])
                }
                #expect(read.sorted() == rest.sorted())
            }
        }
    }

    @Test(
        "A new order may come with new members, and names of strangers count for nothing",
        arguments: Backend.everyStore)
    func newMembers(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let route = try insertRoute(subject)
            let other = try subject.insert("Route", ["name": "other"])
            let stranger = try subject.insert("Stop", ["name": "s", "route": other])
            let old = try ids(subject, "Stop", "abc")
            try subject.save { draft in
                let new = try draft.insert("Stop", ["name": "d", "route": route])
                try draft.order(route, "stops", [old[2], new, stranger, old[0], old[1]])
            }
            #expect(try subject.members("Route", "r", "stops") == "c d a b")
            #expect(try subject.members("Route", "other", "stops") == "s")
            // Without a base only who is put at the end is said.
            try subject.save { draft in
                try draft.order(route, "stops", [old[2], old[0]])
                draft.request.orderChanges[0].base = nil
            }
            #expect(try subject.members("Route", "r", "stops") == "d b c a")
        }
    }

    @Test(
        "Of two new orders the policy chooses; members of both are there",
        arguments: [
            (MergePolicyKind.mergeByPropertyObjectTrump, "c b a d", "x z y d"),
            (.mergeByPropertyStoreTrump, "b a c d", "z y x d"),
        ], Backend.everyStore)
    func bothOrders(
        _ expected: (policy: MergePolicyKind, stops: String, sights: String), _ backend: Backend
    ) throws {
        try backend.withSubject { subject in
            let route = try insertRoute(subject)
            var draft = try subject.draft()
            try draft.order(route, "stops", ids(subject, "Stop", "cba"))
            try draft.order(route, "sights", ids(subject, "Sight", "xzy"))
            try subject.save { draft in
                try draft.insert("Stop", ["name": "d", "route": route])
                try draft.insert("Sight", ["name": "d", "routes": [route]])
                try draft.order(route, "stops", ids(subject, "Stop", "bac"))
                try draft.order(route, "sights", ids(subject, "Sight", "zyx"))
            }
            let result = try subject.save(draft, expected.policy)
            #expect(try subject.members("Route", "r", "stops") == expected.stops)
            #expect(try subject.members("Route", "r", "sights") == expected.sights)
            #expect(result.reordered.allSatisfy { $0.owner == route })
            #expect(result.reordered.count == 2)
        }
    }
}
