// A store that is closed and opened again has the same content.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Opening a store again")
struct ReopeningTests {
    static let model: ManagedObjectModel = {
        var person = EntityDescription(
            "Person",
            attributes: [
                .init("email", .string, optional: false), .init("age", .integer16),
                .init("balance", .decimal), .init("born", .date), .init("key", .uuid),
                .init("photo", .binary), .init("home", .uri), .init("weight", .float),
                .init("active", .boolean, default: .boolean(true)),
            ], uniquenessConstraints: [["email"]])
        person.relationships = [
            RelationshipDescription("team", to: "Team", inverse: "members"),
            RelationshipDescription("friends", to: "Person", toMany: true),
        ]
        var team = EntityDescription("Team", attributes: [.init("name", .string)])
        team.relationships = [
            RelationshipDescription("members", to: "Person", toMany: true, inverse: "team")
        ]
        return ManagedObjectModel(entities: [person, team])
    }()

    static func text(_ store: LogStore) throws -> String {
        var bytes: [UInt8] = []
        try store.export { bytes.append(contentsOf: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Twenty people in two teams, friends in a ring, some changed and some deleted.
    static func fill(_ store: LogStore) throws {
        let schema = store.schema
        let person = try #require(schema.entity(named: "Person"))
        let team = try #require(schema.entity(named: "Team"))
        func temporary(_ number: Int, _ entity: SchemaEntity) -> ObjectID {
            ObjectID(
                temporary: UInt64(number),
                hierarchy: store.identity.hierarchies[entity.index],
                context: store.identity.identifier)
        }
        var request = SaveRequest()
        for index in 0..<2 {
            request.inserted.append(
                .init(
                    id: temporary(100 + index, team), entity: team.index,
                    values: [.string("team \(index)")], assigned: [0]))
        }
        for index in 0..<20 {
            request.inserted.append(
                .init(
                    id: temporary(index, person), entity: person.index,
                    values: [
                        .string("p\(index)@example.com"), .integer(Int64(index)),
                        .decimal(Decimal(index) / 3),
                        .date(Date(timeIntervalSinceReferenceDate: Double(index))),
                        .uuid(
                            UUID(uuid: (UInt8(index), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))),
                        .binary(Data(repeating: UInt8(index), count: index * 700)),
                        index % 3 == 0 ? .null : .uri(URL(string: "https://example.com/\(index)")!),
                        .float(Float(index) / 7), .boolean(index % 2 == 0),
                        .objectID(temporary(100 + index % 2, team)),
                    ], assigned: []))
            request.pairChanges.append(
                .init(
                    pairs: 0, source: temporary(index, person),
                    destination: temporary((index + 1) % 20, person), isAddition: true))
        }
        guard case .saved(let saved) = try store.save(request) else {
            Issue.record("the first save meets no conflict")
            return
        }
        var second = SaveRequest()
        for index in 0..<5 {
            let id = try #require(saved.permanentIDs[temporary(index, person)])
            let row = try #require(saved.rows[id])
            second.updated.append(
                .init(
                    id: id, entity: person.index, base: row,
                    changes: [(column: 1, value: .integer(100 + Int64(index)))]))
        }
        for index in 15..<18 {
            let id = try #require(saved.permanentIDs[temporary(index, person)])
            second.deleted.append(.init(id: id, entity: person.index, version: 1))
        }
        _ = try store.save(second)
    }

    @Test(
        "Everything is there, and a check finds nothing wrong",
        arguments: [1 << 30, 6000] as [UInt64])
    func reopen(segmentBytes: UInt64) throws {
        try withTemporaryDirectory { directory in
            var options = LogStoreOptions()
            options.sizes.segmentBytes = segmentBytes
            let path = directory.path("test.cairn")
            let schema = try Schema(Self.model)
            let store = try LogStore.open(at: path, schema: schema, options: options)
            try Self.fill(store)
            let before = try Self.text(store)
            #expect(before.split(separator: "\n").count == 1 + 17 + 2 + 16)
            #expect(try store.check().findings.isEmpty)
            try store.close()
            for _ in 0..<2 {
                let again = try LogStore.open(at: path, options: options)
                #expect(again.recovery.wasClosed)
                #expect(again.recovery.bytesLeftBehind == 0)
                #expect(try Self.text(again) == before)
                let report = try again.check()
                #expect(report.findings.isEmpty, "\(report.findings)")
                #expect(report.rows == 35)
                try again.close()
            }
        }
    }

    @Test("A model that differs is refused, the stored one rules")
    func otherModel() throws {
        try withTemporaryDirectory { directory in
            let path = directory.path("test.cairn")
            try LogStore.open(at: path, schema: try Schema(Self.model)).close()
            var other = Self.model
            other.entities[1].attributes.append(.init("city", .string))
            let error = #expect(throws: StoreError.self) {
                try LogStore.open(at: path, schema: try Schema(other))
            }
            #expect(error?.code == .incompatibleModel)
            let store = try LogStore.open(at: path)
            #expect(store.schema.entity(named: "Team") != nil)
            try store.close()
        }
    }

    @Test("A model may name an inverse on either side or on both, but not another one, or none")
    func otherSide() throws {
        try withTemporaryDirectory { directory in
            let path = directory.path("test.cairn")
            try LogStore.open(at: path, schema: try Schema(Self.model)).close()
            let sides: [(String?, String?)] = [("members", nil), (nil, "team"), (nil, nil)]
            for (person, team) in sides {
                var other = Self.model
                other.entities[0].relationships[0].inverseName = person
                other.entities[1].relationships[0].inverseName = team
                let schema = try Schema(other)
                if person == nil, team == nil {
                    let error = #expect(throws: StoreError.self) {
                        try LogStore.open(at: path, schema: schema)
                    }
                    #expect(error?.code == .incompatibleModel)
                    continue
                }
                let store = try LogStore.open(at: path, schema: schema)
                // So it is beside one that is open already.
                try LogStore.open(at: path, schema: schema).close()
                try store.close()
            }
        }
    }
}
