// Rows that are inserted, or update what has their key.

import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Batch inserts")
struct BatchInsertTests {
    /// What becomes of a row whose key a stored object has.
    struct Meeting: Sendable, CustomTestStringConvertible {
        let policy: MergePolicyKind?
        var setOnly = false
        /// Note, amount and price of the object.
        let expected: String
        let outcome: BatchRowOutcome

        var testDescription: String {
            "\(policy.map { "\($0)" } ?? "none")\(setOnly ? ", set only" : "")"
        }
    }

    private static let meetings = [
        Meeting(policy: nil, expected: "old 1 2.0", outcome: .skipped),
        Meeting(policy: .error, expected: "old 1 2.0", outcome: .skipped),
        Meeting(policy: .mergeByPropertyStoreTrump, expected: "old 1 2.0", outcome: .skipped),
        Meeting(policy: .rollback, expected: "old 1 2.0", outcome: .skipped),
        // What the row does not name is nil, or the default.
        Meeting(policy: .mergeByPropertyObjectTrump, expected: "nil 5 nil", outcome: .updated),
        Meeting(
            policy: .mergeByPropertyObjectTrump, setOnly: true, expected: "old 5 2.0",
            outcome: .updated),
        Meeting(policy: .overwrite, expected: "nil 5 nil", outcome: .updated),
        Meeting(policy: .overwrite, setOnly: true, expected: "old 5 2.0", outcome: .updated),
        Meeting(policy: .declared, expected: "old 6 2.0", outcome: .updated),
    ]

    @Test(
        "A row with the key of a stored object is left out, or updates the object under its id",
        arguments: meetings, Backend.everyStore)
    func keyIsTaken(_ meeting: Meeting, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let id = try subject.insert(
                "Item", ["code": "a", "note": "old", "amount": 1, "price": 2.0])
            let rows: [[String: Any]] = [["code": "a", "amount": 5], ["code": "b"]]
            let result = try subject.batch("Item", rows, meeting.policy) {
                $0.setOnly = meeting.setOnly
                $0.reportsOutcomes = true
                $0.resultType = .objectIDs
            }
            #expect(result.outcomes == [meeting.outcome, .inserted])
            #expect(result.insertedCount == 1)
            #expect(result.updatedCount == (meeting.outcome == .updated ? 1 : 0))
            #expect(result.skippedCount == (meeting.outcome == .skipped ? 1 : 0))
            let b = try subject.id("Item", "b")
            #expect(result.objectIDs == (meeting.outcome == .updated ? [id, b] : [b]))
            #expect(try subject.id("Item", "a") == id)
            #expect(try subject.text("Item", "a", "note", "amount", "price") == meeting.expected)
            let version = try subject.row("Item", "a").version
            #expect(version == (meeting.outcome == .updated ? 2 : 1))
            #expect(try result.commit == subject.store.snapshot().commit)
        }
    }

    @Test(
        "Rows have the defaults of what they do not name, and versions and ids as new objects",
        arguments: Backend.everyStore)
    func newRows(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let result = try subject.batch(
                "Tool",
                [
                    ["code": "a", "power": 3, "size.width": 1.5], ["code": "b", "state": "used"],
                    ["code": "c", "size": ["height": 2.0] as [String: Any], "note": NSNull()],
                ]
            ) { $0.resultType = .objectIDs }
            #expect(
                try subject.content() == [
                    "Tool v1 code=a size.width=1.5 state=new power=3", "Tool v1 code=b state=used",
                    "Tool v1 code=c size.height=2.0 state=new",
                ])
            #expect(try subject.names(of: result.objectIDs) == "a b c")
            let none = try subject.batch("Tool", [])
            #expect(none.commit == nil && none.insertedCount == 0)
        }
    }

    @Test(
        "Of rows about one object each is carried out after the one before it",
        arguments: Backend.everyStore)
    func repeated(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let rows: [[String: Any]] = [
                ["code": "a", "note": "1"], ["code": "b"], ["code": "a", "note": "2"],
                ["code": "a", "amount": 3],
            ]
            let first = try subject.batch("Item", rows) { $0.reportsRepeats = true }
            #expect(first.insertedCount == 2 && first.skippedCount == 2)
            #expect(first.repeatedCount == 2 && first.repeatedRows == [2, 3])
            #expect(try subject.text("Item", "a", "note", "amount") == "1 nil")
            try subject.batch("Item", rows, .mergeByPropertyObjectTrump) { $0.setOnly = true }
            #expect(try subject.text("Item", "a", "note", "amount") == "2 3")
            try subject.batch("Item", rows, .mergeByPropertyObjectTrump)
            #expect(try subject.text("Item", "a", "note", "amount") == "nil 3")
        }
    }

    @Test("A row that says what is stored changes nothing", arguments: Backend.everyStore)
    func unchanged(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let rows: [[String: Any]] = [["code": "a", "note": "1"], ["code": "b", "amount": 2]]
            try subject.batch("Item", rows)
            let content = try subject.content()
            let same = try subject.batch("Item", rows, .mergeByPropertyObjectTrump) {
                $0.reportsOutcomes = true
            }
            #expect(same.unchangedCount == 2 && same.commit == nil)
            #expect(same.outcomes == [.unchanged, .unchanged])
            #expect(try subject.content() == content)
        }
    }

    @Test(
        "A batch that must not leave a row out fails as a whole, and names the row",
        arguments: Backend.everyStore)
    func failing(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let error = try subject.refusal {
                try subject.batch("Item", [["code": "x"], ["code": "a"]]) {
                    $0.failsOnConflict = true
                }
            }
            #expect(error?.code == .constraintConflict)
            #expect(error?.rows == [1])
        }
    }

    @Test(
        "Two objects may exchange what is unique; a row that is about two of them is refused",
        arguments: Backend.everyStore)
    func exchange(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            try subject.batch(
                "Item", [["code": "a", "number": 2], ["code": "b", "number": 1]],
                .mergeByPropertyObjectTrump
            ) { $0.setOnly = true }
            #expect(try subject.text("Item", "a", "number") == "2")
            #expect(try subject.text("Item", "b", "number") == "1")
            let error = try subject.refusal {
                try subject.batch(
                    "Item", [["code": "x"], ["code": "c", "series": "s", "number": 1]],
                    .mergeByPropertyObjectTrump)
            }
            #expect(error?.code == .constraintConflict)
        }
    }

    @Test("A rule of its own finds objects, too", arguments: Backend.everyStore)
    func rule(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let red = try subject.id("Tag", "red")
            let result = try subject.batch(
                "Tag", [["label": "RÉD", "hue": "crimson"], ["label": "new"]],
                .mergeByPropertyObjectTrump)
            #expect(result.updatedCount == 1 && result.insertedCount == 1)
            #expect(try subject.id("Tag", "RÉD") == red)
            #expect(try subject.text("Tag", "RÉD", "hue") == "crimson")
        }
    }

    @Test(
        "Objects of the whole family are found, and keep their entity",
        arguments: Backend.everyStore)
    func family(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            try subject.batch(
                "Item", [["code": "e", "note": "found"]], .mergeByPropertyObjectTrump
            ) { $0.setOnly = true }
            #expect(try subject.text("Tool", "e", "note", "power") == "found 7")
            let error = try subject.refusal {
                try subject.batch(
                    "Tool", [["code": "x"], ["code": "a", "power": 1]],
                    .mergeByPropertyObjectTrump)
            }
            #expect(error?.code == .constraintConflict)
            #expect(error?.rows == [1])
        }
    }

    @Test(
        "Rows without a key are new objects, left out, or a reason to fail",
        arguments: Backend.everyStore)
    func keyless(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let rows: [[String: Any]] = [["note": "1"], ["code": "a"], ["note": "2"]]
            let skipped = try subject.batch("Item", rows) { $0.missingKey = .skip }
            #expect(skipped.keylessCount == 2 && skipped.keylessRows == [0, 2])
            #expect(try subject.content().count == 1)
            let error = try subject.refusal {
                try subject.batch("Item", rows) { $0.missingKey = .fail }
            }
            #expect(error?.code == .missingMandatory)
            try subject.batch("Item", rows, .mergeByPropertyObjectTrump)
            #expect(try subject.content().count == 3)
        }
    }

    // MARK: Forms of rows

    private struct Row: Encodable {
        let code: String
        let amount: Int?
        let owner: String?
    }

    @Test(
        "Closures, dictionaries one by one and encodable values give the same rows",
        arguments: Backend.everyStore)
    func forms(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let tool = try subject.entity("Tool")
            let code = try tool.column("code", as: String?.self)
            let amount = try tool.column("amount", as: Int32?.self)
            let next = Numbers()
            let closure = BatchInsertRequest(entity: tool) { row in
                let number = next.next()
                row[code] = "closure\(number)"
                row[amount] = Int32(number)
                return number == 3
            }
            #expect(try subject.store.execute(closure).insertedCount == 2)
            #expect(try subject.text("Tool", "closure2", "amount", "state") == "2 new")
            let others = Numbers()
            let handler = BatchInsertRequest(entityName: "Tool") { row in
                row["code"] = "handler\(others.next())"
                return others.last == 3
            }
            #expect(try subject.store.execute(handler).insertedCount == 2)
            let encodable = BatchInsertRequest(
                entityName: "Tool",
                encodable: [
                    Row(code: "encoded1", amount: 1, owner: "Dot"),
                    Row(code: "encoded2", amount: nil, owner: nil),
                ])
            #expect(try subject.store.execute(encodable).insertedCount == 2)
            #expect(try subject.text("Tool", "encoded1", "amount", "owner") == "1 Dot")
            #expect(
                try subject.names("Tool")
                    == "closure1 closure2 e encoded1 encoded2 f handler1 handler2")
        }
    }
}
