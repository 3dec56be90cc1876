// Rows that no store takes: the batch fails as a whole, and says which row and which key it was.

import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Rows that are refused")
struct RefusedRowTests {
    struct Refused: Sendable, CustomTestStringConvertible {
        let title: String
        var entity = "Item"
        let row: [String: any Sendable]
        let code: StoreError.Code
        let key: String?
        var isAboutMembers = false

        var testDescription: String { title }
    }

    private static let refused = [
        Refused(
            title: "A key that there is not", row: ["colour": "red"], code: .invalidRequest,
            key: "colour"),
        Refused(
            title: "A value of another type", row: ["amount": "MARK7261"], code: .invalidRequest,
            key: "amount"),
        Refused(
            title: "A number for a text", row: ["note": 7261], code: .invalidRequest, key: "note"),
        Refused(
            title: "A number that is too great", row: ["small": 72610], code: .invalidRequest,
            key: "small"),
        Refused(
            title: "A fraction for a whole number", row: ["amount": 7261.5], code: .invalidRequest,
            key: "amount"),
        Refused(
            title: "A value that is computed", row: ["folded": "MARK7261"], code: .invalidRequest,
            key: "folded"),
        Refused(
            title: "A mandatory value that is nil", row: ["state": NSNull()],
            code: .missingMandatory, key: "state"),
        Refused(
            title: "A mandatory target that is not named", entity: "Stop", row: ["name": "s"],
            code: .missingMandatory, key: "route", isAboutMembers: true),
        Refused(
            title: "A target that there is not", row: ["owner": "MARK7261"], code: .objectNotFound,
            key: "owner"),
        Refused(
            title: "A member that there is not", row: ["fans": ["MARK7261"]],
            code: .objectNotFound, key: "fans", isAboutMembers: true),
        Refused(
            title: "One object where many belong", row: ["tags": "red"], code: .invalidRequest,
            key: "tags"),
        Refused(
            title: "A value that the model limits", entity: "Person",
            row: ["name": "x", "age": 7261], code: .init(rawValue: 1610), key: "age"),
    ]

    @Test(
        "The error names row and key and not the value; nothing is stored", arguments: refused,
        Backend.everyStore)
    func refusal(_ refused: Refused, _ backend: Backend) throws {
        if refused.isAboutMembers, !Backend.membersOfRows.contains(backend) { return }
        try backend.withSubject(sample: true) { subject in
            let first: [String: Any] =
                refused.entity == "Stop"
                ? ["route": try subject.insert("Route", ["name": "r"])] : [:]
            let error = try subject.refusal {
                try subject.batch(refused.entity, [first, refused.row])
            }
            #expect(error?.code == refused.code)
            #expect(error?.context.entity == refused.entity && error?.context.row == 1)
            #expect(error?.context.key == refused.key)
            let text = error.map { "\($0)" } ?? ""
            #expect(!text.contains("7261"), "\(text)")
        }
    }

    @Test("Limits of the model may be left out of account", arguments: Backend.everyStore)
    func unlimited(_ backend: Backend) throws {
        try backend.withSubject { subject in
            try subject.batch("Person", [["name": "x", "age": 151]]) { $0.validatesValues = false }
            #expect(try subject.text("Person", "x", "age") == "151")
        }
    }

    @Test("An entity that there is not is refused", arguments: Backend.everyStore)
    func entity(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let errors = [
                storeError { try subject.batch("Thing", []) },
                storeError { try subject.batchUpdate("Thing", nil, ["code": "a"]) },
                storeError { try subject.batchDelete("Thing") },
            ]
            for error in errors {
                #expect(error?.code == .invalidRequest && error?.context.entity == "Thing")
            }
        }
    }

    @Test("What gives the rows may fail with an error of its own", arguments: Backend.everyStore)
    func throwing(_ backend: Backend) throws {
        struct Lost: Error {}
        try backend.withSubject(sample: true) { subject in
            let numbers = Numbers()
            let request = BatchInsertRequest(entityName: "Item") { row in
                row["code"] = "x\(numbers.next())"
                if numbers.last == 3 { throw Lost() }
                return false
            }
            let error = try subject.refusal { _ = try subject.store.execute(request) }
            #expect(error?.code == .rowsFailed && error?.cause is Lost)
            #expect(error?.context.row == 2)
        }
    }
}
