// Objects that come to have the key of others, under each policy.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Objects with one key")
struct KeyConflictTests {
    /// What becomes of a new object whose key a stored one has.
    struct Meeting: Sendable, CustomTestStringConvertible {
        let policy: MergePolicyKind
        var assignedOnly = false
        /// Note, amount, price and open of the only object that is left.
        let expected: String
        var isDisplaced = false

        var testDescription: String { "\(policy)\(assignedOnly ? ", set only" : "")" }
    }

    private static let meetings = [
        Meeting(policy: .mergeByPropertyStoreTrump, expected: "old 1 2.0 YES"),
        Meeting(policy: .rollback, expected: "old 1 2.0 YES"),
        Meeting(policy: .mergeByPropertyObjectTrump, expected: "nil 5 1.0 nil"),
        Meeting(policy: .mergeByPropertyObjectTrump, assignedOnly: true, expected: "old 5 1.0 nil"),
        Meeting(policy: .overwrite, expected: "nil 5 1.0 nil", isDisplaced: true),
        // The sum of both, the greater price; what was set to nil has no rule of its own.
        Meeting(policy: .declared, expected: "old 6 2.0 nil"),
    ]

    @Test(
        "A new object with the key of a stored one is merged, dropped, or takes its place",
        arguments: meetings, Backend.everyStore)
    func newObject(_ meeting: Meeting, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let stored = try subject.insert(
                "Item", ["code": "a", "note": "old", "amount": 1, "price": 2.0, "open": true])
            var draft = try subject.draft()
            let new = try draft.insert(
                "Item", ["code": "a", "amount": 5, "price": 1.0, "open": nil])
            draft.request.mergesAssignedOnly = meeting.assignedOnly
            let result = try subject.save(draft, meeting.policy)
            #expect(try subject.names("Item") == "a")
            #expect(
                try subject.text("Item", "a", "note", "amount", "price", "open")
                    == meeting.expected)
            let left = try subject.id("Item", "a")
            if meeting.isDisplaced {
                #expect(left != stored && result.permanentIDs[new] == left)
                #expect(result.displaced == [stored] && result.successors[stored] == left)
                #expect(try subject.store.redirectedObjectID(for: stored) == left)
            } else {
                #expect(left == stored && result.absorbed[new] == stored)
                #expect(result.displaced.isEmpty)
            }
        }
    }

    @Test(
        "Under the error policy nothing is written, and the conflict says all of it",
        arguments: Backend.everyStore)
    func error(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let content = try subject.content()
            var draft = try subject.draft()
            let new = try draft.insert("Tool", ["code": "a"])
            try draft.insert("Item", ["code": "x"])
            let error = storeError { try subject.save(draft) }
            #expect(error?.code == .constraintConflict)
            try check(error?.conflicts ?? [], subject, new)
            draft.request.resolution = .report
            let reported = storeError { try subject.save(draft) }
            #expect(reported?.code == .saveConflicts)
            try check(reported?.conflicts ?? [], subject, new)
            #expect(try subject.content() == content)
        }
    }

    private func check(_ conflicts: [SaveConflict], _ subject: Subject, _ new: ObjectID) throws {
        #expect(conflicts.count == 1)
        guard case .constraint(let conflict)? = conflicts.first else {
            Issue.record("no conflict of keys: \(conflicts)")
            return
        }
        #expect(conflict.entityName == "Item" && conflict.constraint == ["code"])
        #expect(conflict.values == [.string("a")] && conflict.objects == [new])
        #expect(try conflict.stored?.id == subject.id("Item", "a"))
    }

    @Test(
        "Several new objects with one key are a conflict among themselves",
        arguments: Backend.everyStore)
    func newObjects(_ backend: Backend) throws {
        try backend.withSubject { subject in
            var draft = try subject.draft()
            let first = try draft.insert("Item", ["code": "a", "note": "first"])
            let second = try draft.insert("Item", ["code": "a", "amount": 7])
            let error = storeError { try subject.save(draft) }
            guard case .constraint(let conflict)? = error?.conflicts.first else {
                Issue.record("no conflict of keys")
                return
            }
            #expect(conflict.stored == nil && conflict.objects == [first, second])
            draft.request.mergesAssignedOnly = true
            let result = try subject.save(draft, .mergeByPropertyObjectTrump)
            let left = try subject.id("Item", "a")
            #expect(result.permanentIDs[first] == left && result.absorbed[second] == left)
            #expect(try subject.text("Item", "a", "note", "amount") == "first 7")
        }
    }

    // MARK: Changed objects

    @Test(
        "A changed object with the key of another is merged into it, goes back, or takes its place",
        arguments: MergePolicyKind.allCases, Backend.everyStore)
    func changedObject(_ policy: MergePolicyKind, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let a = try subject.insert("Item", ["code": "a", "note": "a", "amount": 1])
            let b = try subject.insert("Item", ["code": "b", "note": "b", "amount": 2])
            let content = try subject.content()
            var draft = try subject.draft()
            try draft.update(b, ["code": "a", "open": true])
            switch policy {
            case .error:
                #expect(storeError { try subject.save(draft) }?.code == .constraintConflict)
                #expect(try subject.content() == content)
            case .mergeByPropertyStoreTrump, .rollback:
                let result = try subject.save(draft, policy)
                #expect(result.reverted == [b])
                #expect(try subject.content() == content)
            case .mergeByPropertyObjectTrump, .declared:
                let result = try subject.save(draft, policy)
                #expect(result.absorbed[b] == a)
                #expect(try subject.names("Item") == "a")
                #expect(try subject.id("Item", "a") == a)
                #expect(try subject.text("Item", "a", "note", "open") == "a YES")
                #expect(try subject.store.redirectedObjectID(for: b) == a)
            case .overwrite:
                let result = try subject.save(draft, policy)
                #expect(result.displaced == [a])
                #expect(try subject.id("Item", "a") == b)
                #expect(try subject.text("Item", "a", "note", "open") == "b YES")
            }
        }
    }

    @Test(
        "Keys may be exchanged, moved along and given anew within one save",
        arguments: Backend.everyStore)
    func exchange(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let ids = try ["a", "b", "c"].map {
                try subject.insert("Item", ["code": $0, "note": $0])
            }
            func notes() throws -> String {
                try ["a", "b", "c"].map { try subject.text("Item", $0, "note") }.joined()
            }
            try subject.save { draft in
                try draft.update(ids[0], ["code": "b"])
                try draft.update(ids[1], ["code": "a"])
            }
            #expect(try notes() == "bac")
            try subject.save { draft in
                for (id, code) in zip(ids, ["c", "b", "a"]) { try draft.update(id, ["code": code]) }
            }
            #expect(try notes() == "cba")
            try subject.save { draft in
                try draft.delete(ids[0])
                try draft.update(ids[1], ["code": "c"])
                try draft.insert("Tool", ["code": "b", "note": "new"])
            }
            #expect(try subject.content().count == 3)
            #expect(try notes() == "cnewb")
        }
    }

    @Test(
        "An object with the keys of two others can become neither; overwriting takes both places",
        arguments: Backend.everyStore)
    func twoKeys(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.insert("Item", ["code": "a"])
            try subject.insert("Item", ["code": "b", "series": "s", "number": 1])
            let content = try subject.content()
            var draft = try subject.draft()
            try draft.insert("Item", ["code": "a", "series": "s", "number": 1, "note": "both"])
            for policy in [MergePolicyKind.error, .mergeByPropertyObjectTrump] {
                #expect(storeError { try subject.save(draft, policy) }?.code == .constraintConflict)
                #expect(try subject.content() == content)
            }
            try subject.save(draft, .mergeByPropertyStoreTrump)
            #expect(try subject.content() == content)
            let result = try subject.save(draft, .overwrite)
            #expect(result.displaced.count == 2)
            #expect(try subject.names("Item") == "a")
            #expect(try subject.text("Item", "a", "note") == "both")
        }
    }

    @Test("A chain of keys that move along is resolved to its end", arguments: Backend.everyStore)
    func chain(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let ids = try ["a", "b", "c"].map {
                try subject.insert("Item", ["code": $0, "note": $0])
            }
            // Only the last of them meets somebody; when it goes back, the one before it does, and so on.
            try subject.insert("Item", ["code": "d", "note": "d"])
            let content = try subject.content()
            var draft = try subject.draft()
            for (id, code) in zip(ids, ["b", "c", "d"]) { try draft.update(id, ["code": code]) }
            let result = try subject.save(draft, .mergeByPropertyStoreTrump)
            #expect(Set(result.reverted) == Set(ids))
            #expect(try subject.content() == content)
        }
    }

    // MARK: What follows

    @Test(
        "What leads to a dropped object leads to the one that stays", arguments: Backend.everyStore)
    func references(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let old = try subject.id("Tag", "old")
            let policies: [MergePolicyKind] = [
                .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump,
            ]
            for (code, policy) in zip(["x", "y"], policies) {
                try subject.save(policy) { draft in
                    let ada = try draft.insert("Person", ["name": "Ada"])
                    try draft.insert("Item", ["code": code, "owner": ada, "tags": [old]])
                }
            }
            #expect(try subject.names("Person") == "Ada Bob Cyd Dot")
            #expect(try subject.members("Person", "Ada", "items") == "a e x y")
            #expect(try subject.members("Tag", "old", "items") == "g h x y")
        }
    }

    @Test(
        "Members of both come together, and mandatory references forbid displacing",
        arguments: Backend.everyStore)
    func members(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let old = try subject.id("Tag", "old")
            try subject.save(.mergeByPropertyObjectTrump) { draft in
                try draft.insert("Item", ["code": "b", "tags": [old]])
            }
            #expect(try subject.members("Item", "b", "tags") == "old red")
            let route = try subject.insert("Route", ["name": "r"])
            try subject.insert("Stop", ["name": "s", "route": route])
            let content = try subject.content()
            let error = storeError {
                try subject.save(.overwrite) { try $0.insert("Route", ["name": "r"]) }
            }
            #expect(error?.code == .constraintConflict)
            #expect(try subject.content() == content)
        }
    }
}
