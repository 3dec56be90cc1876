// Tables of values about what is found.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@Suite("Tables")
struct TableTests {
    @Test(
        "A table says of objects, or of groups of them, what its columns say",
        arguments: TableCase.all, Backend.everyStore)
    func tables(_ table: TableCase, _ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let request = try table.request(subject)
            let answer = try subject.store.snapshot().table(request)
            let rows = answer.rows.map { $0.map(\.plainText).joined(separator: " ") }
            #expect(rows == table.expected)
            #expect(answer.columns == request.terms.columns.map(\.name))
        }
    }

    @Test("Objects in a table are their ids", arguments: Backend.everyStore)
    func objects(_ backend: Backend) throws {
        try backend.withSubject(sample: true) { subject in
            let table = TableCase(
                title: "", format: "code == 'a'", columns: ["SELF as item", "owner", "whole"],
                expected: [])
            let rows = try subject.store.snapshot().table(table.request(subject)).rows
            let expected: [Value] = [
                .objectID(try subject.id("Item", "a")), .objectID(try subject.id("Person", "Ada")),
                .null,
            ]
            #expect(rows == [expected])
        }
    }

    private static let refused = [
        TableCase(title: "No columns", columns: [], expected: []),
        TableCase(title: "Two of one name", columns: ["code", "note as code"], expected: []),
        TableCase(title: "An unknown property", columns: ["colour"], expected: []),
        TableCase(title: "Many objects", columns: ["tags.label"], expected: []),
        TableCase(
            title: "A property that groups do not have", columns: ["code"], groupBy: ["amount"],
            expected: []),
        TableCase(
            title: "Groups by members", columns: ["count:(SELF) as count"],
            groupBy: ["tags.label"], expected: []),
        TableCase(
            title: "An average of averages", entity: "Person",
            columns: ["items.@avg.amount as middle"], groupBy: ["city"], expected: []),
        TableCase(
            title: "Members that the objects of a group have in common",
            columns: ["owner.items.@count as count"], groupBy: ["owner.name"], expected: []),
        TableCase(
            title: "Different values of the members of each object", entity: "Person",
            columns: ["items.@distinctUnionOfObjects.state.@count as count"], groupBy: ["city"],
            expected: []),
        TableCase(
            title: "A condition on groups without any", columns: ["code"], having: "code == 'a'",
            expected: []),
        TableCase(
            title: "An order by what is not there", columns: ["code"], sort: [SortKey("colour")],
            expected: []),
    ]

    @Test("What makes no table is refused", arguments: refused, Backend.everyStore)
    func refusals(_ table: TableCase, _ backend: Backend) throws {
        try backend.withSubject { subject in
            let request = try table.request(subject)
            let error = storeError { _ = try subject.store.snapshot().table(request) }
            #expect(error?.code == .invalidRequest)
        }
    }
}
