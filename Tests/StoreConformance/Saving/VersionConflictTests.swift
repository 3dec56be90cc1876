// Objects that somebody else has changed or deleted since they were read.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Objects that others have changed")
struct VersionConflictTests {
    /// What is left of an object that two have changed.
    struct Merge: Sendable, CustomTestStringConvertible {
        let policy: MergePolicyKind
        /// Note, which both have changed; amount, which only we have; price, which only the others have.
        let expected: String

        var testDescription: String { "\(policy)" }
    }

    private static let merges = [
        Merge(policy: .mergeByPropertyStoreTrump, expected: "theirs 5 9.0"),
        Merge(policy: .mergeByPropertyObjectTrump, expected: "ours 5 9.0"),
        Merge(policy: .overwrite, expected: "ours 5 1.5"),
        Merge(policy: .rollback, expected: "theirs 1 9.0"),
        Merge(policy: .declared, expected: "theirs 5 9.0"),
    ]

    /// An item, a change of ours that is not saved yet, and one of others that is.
    private func conflict(
        _ subject: Subject, ours: [String: Any?], theirs: [String: Any?]
    ) throws -> (id: ObjectID, draft: Draft) {
        let id = try subject.insert(
            "Item", ["code": "a", "note": "base", "amount": 1, "price": 1.5])
        var draft = try subject.draft()
        try draft.update(id, ours)
        try subject.update("Item", "a", theirs)
        return (id, draft)
    }

    @Test(
        "Each policy has its own way with what one side has changed, and with what both have",
        arguments: merges, Backend.everyStore)
    func merging(_ merge: Merge, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let (id, draft) = try conflict(
                subject, ours: ["note": "ours", "amount": 5],
                theirs: ["note": "theirs", "price": 9.0])
            let result = try subject.save(draft, merge.policy)
            #expect(try subject.text("Item", "a", "note", "amount", "price") == merge.expected)
            #expect((result.reverted == [id]) == (merge.policy == .rollback))
            let row = try subject.row("Item", "a")
            #expect(row.version == (merge.policy == .rollback ? 2 : 3))
            #expect(result.rows[id]?.version == row.version)
            #expect(result.rows[id]?.cells == row.cells)
        }
    }

    @Test("Rules of the model put two numbers together", arguments: Backend.everyStore)
    func declared(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let (_, draft) = try conflict(
                subject, ours: ["amount": 5, "price": 2.5, "note": nil],
                theirs: ["amount": 3, "price": 9.5, "note": nil])
            try subject.save(draft, .declared)
            // Both have added to one: four and two.
            #expect(try subject.text("Item", "a", "note", "amount", "price") == "nil 7 9.5")
        }
    }

    @Test(
        "Under the error policy any change is a conflict, which says what was read and what is stored",
        arguments: Backend.everyStore)
    func error(_ backend: Backend) throws {
        try backend.withSubject { subject in
            var (id, draft) = try conflict(subject, ours: ["amount": 5], theirs: ["price": 9.0])
            try draft.insert("Item", ["code": "x"])
            let content = try subject.content()
            let error = storeError { try subject.save(draft) }
            #expect(error?.code == .mergeConflict)
            draft.request.resolution = .report
            let reported = storeError { try subject.save(draft) }
            #expect(reported?.code == .saveConflicts)
            for conflicts in [error?.conflicts ?? [], reported?.conflicts ?? []] {
                guard case .version(let conflict)? = conflicts.first, conflicts.count == 1 else {
                    Issue.record("no conflict of versions: \(conflicts)")
                    return
                }
                #expect(conflict.id == id && conflict.entityName == "Item" && !conflict.isDeletion)
                #expect(conflict.base?.version == 1 && conflict.stored?.version == 2)
            }
            #expect(try subject.content() == content)
        }
    }

    @Test("References are merged as values are", arguments: Backend.everyStore)
    func references(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let (bob, cyd) = (try subject.id("Person", "Bob"), try subject.id("Person", "Cyd"))
            for (policy, expected) in [
                (MergePolicyKind.mergeByPropertyStoreTrump, "Bob"),
                (.mergeByPropertyObjectTrump, "Cyd"), (.overwrite, "Cyd"), (.rollback, "Bob"),
            ] {
                try subject.update("Item", "a", ["owner": nil])
                var draft = try subject.draft()
                try draft.update(subject.id("Item", "a"), ["owner": cyd])
                try subject.update("Item", "a", ["owner": bob])
                try subject.save(draft, policy)
                #expect(try subject.text("Item", "a", "owner") == expected)
                #expect(try subject.members("Person", expected, "items").contains("a"))
            }
        }
    }

    @Test("Members that both sides add or remove come together", arguments: Backend.everyStore)
    func members(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let g = try subject.id("Item", "g")
            let (red, blue) = (try subject.id("Tag", "red"), try subject.id("Tag", "blue"))
            let new = try subject.insert("Tag", ["label": "new"])
            var draft = try subject.draft()
            try draft.pair(g, "tags", red, isAddition: false)
            try draft.pair(g, "tags", new)
            try subject.save { try $0.pair(g, "tags", blue, isAddition: false) }
            // Nobody's attributes are in conflict because of that.
            try subject.save(draft)
            #expect(try subject.members("Item", "g", "tags") == "new old")
        }
    }

    @Test("What is computed is nobody's change", arguments: Backend.everyStore)
    func derived(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let ada = try subject.id("Person", "Ada")
            var draft = try subject.draft()
            try draft.update(ada, ["age": 41])
            try subject.insert("Item", ["code": "x", "owner": ada, "amount": 5])
            try subject.save(draft)
            #expect(try subject.text("Person", "Ada", "age", "itemCount", "total") == "41 3 15")
        }
    }

    // MARK: Objects that must be as they were

    @Test(
        "An object that must be unchanged is looked at, though nothing of it is written",
        arguments: Backend.everyStore)
    func locked(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let a = try subject.insert("Item", ["code": "a"])
            func lockAndInsert(_ code: String) throws -> Draft {
                var draft = try subject.draft()
                try draft.lock(a)
                try draft.insert("Item", ["code": code])
                return draft
            }
            try subject.save(lockAndInsert("b"))
            #expect(try subject.row("Item", "a").version == 1)
            var draft = try lockAndInsert("c")
            try subject.update("Item", "a", ["note": "theirs"])
            #expect(storeError { try subject.save(draft) }?.code == .mergeConflict)
            draft.request.resolution = .report
            #expect(storeError { try subject.save(draft) }?.code == .saveConflicts)
            #expect(try subject.names("Item") == "a b")
            // The others have nothing to decide about an object without changes.
            draft.request.resolution = .policy(.mergeByPropertyStoreTrump)
            try subject.save(draft)
            draft = try lockAndInsert("d")
            try subject.delete("Item", "a")
            #expect(storeError { try subject.save(draft) }?.code == .mergeConflict)
            #expect(try subject.names("Item") == "b c")
        }
    }
}
