// One object: its values, and the destinations of its relationships.
//
// Threads: values.

import CairnInspection
import CairnModel
import CairnStore
import CairnStudio
import FoundationEssentials

/// Responds to `/api/object` and `/api/value`.
struct StudioObject {
    let session: StoreSession
    let snapshot: any StoreSnapshot
    let row: Row

    /// The maximum number of members listed for a relationship; the total is included.
    static let mostMembers = 20

    /// Finds the object of a request.
    ///
    /// - Throws: `Failure` if it does not exist.
    init(_ parameters: StudioParameters, _ session: StoreSession) throws {
        self.session = session
        let entity = try session.entity(try parameters.need("entity"))
        let text = try parameters.need("id")
        let moment = try MomentOptions(at: try parameters.text("at"))
        snapshot = try session.snapshot(moment)
        guard let id = try session.objectID(text, of: entity) else {
            throw Failure(
                "the parameter id is p17 or a URI, not \(PlainText.visible(text))", code: .usage)
        }
        guard let row = try snapshot.rows([id])[0],
            session.schema.entities[row.entity].isKind(of: entity)
        else {
            throw Failure.absent("\(session.path) has no \(entity.name) \(PlainText.visible(text))")
        }
        self.row = row
    }

    private var entity: SchemaEntity { session.schema.entities[row.entity] }

    // MARK: All of it

    func answer() throws -> StudioAnswer {
        let columns = try RowColumns([], entity, session)
        return StudioAnswer(
            .object([
                "commit": .count(snapshot.commit), "entity": .string(entity.name),
                "id": .string("p\(row.id.reference)"), "version": .count(row.version),
                "values": columns.shortJSON(row),
                "relationships": .array(
                    try entity.relationships.indices.compactMap { try relationship($0) }),
                "attributes": .array(
                    entity.columns.compactMap { column in
                        guard case .attribute(let type) = column.kind else { return nil }
                        return .object([
                            "name": .string(column.name), "type": .string(type.rawValue),
                            "isOptional": .boolean(column.isOptional),
                        ])
                    }),
            ]))
    }

    private func relationship(_ index: Int) throws -> JSONValue? {
        let relationship = entity.relationships[index]
        var isToMany = true
        let members: [ObjectID]
        switch relationship.storage {
        case .transient: return nil
        case .column(let column):
            isToMany = false
            if case .objectID(let id) = session.value(column, row) {
                members = [id]
            } else {
                members = []
            }
        case .inverseColumn, .pairs:
            members = try snapshot.members(
                ofRelationship: index, entity: entity.index, owners: [row.id])[0]
        }
        let first = Array(members.prefix(Self.mostMembers))
        let rows = try snapshot.rows(first)
        return .object([
            "name": .string(relationship.description.name),
            "destination": .string(session.schema.entities[relationship.destination].name),
            "isToMany": .boolean(isToMany), "count": .count(members.count),
            "members": .array(
                zip(first, rows).map { id, row in
                    .object([
                        "id": .string("p\(id.reference)"),
                        "entity": .text(row.map { session.schema.entities[$0.entity].name }),
                        "label": .text(row.flatMap(label)),
                    ])
                }),
        ])
    }

    /// Returns a label for people: its first key, or its first string.
    private func label(_ row: Row) -> String? {
        let entity = session.schema.entities[row.entity]
        let text = entity.columns.firstIndex { $0.kind == .attribute(.string) }
        let columns = entity.plainConstraints.first?.columns ?? text.map { [$0] } ?? []
        let words = columns.compactMap { column -> String? in
            let value = session.value(column, row)
            return value.isNull ? nil : PlainText.value(value)
        }
        return words.isEmpty
            ? nil : String(words.joined(separator: " ").prefix(JSONValue.mostCharacters))
    }

    // MARK: One value

    /// Returns the bytes of a value. Content that a browser would run never gets its real type.
    func value(of property: String) throws -> StudioAnswer {
        switch session.value(try session.column(property, of: entity), row) {
        case .null:
            throw Failure.absent("\(entity.name).\(property) of p\(row.id.reference) is nil")
        case .binary(let data):
            if let type = Self.imageType(data) { return StudioAnswer(type: type, body: data) }
            return StudioAnswer(
                type: "application/octet-stream", body: data,
                fileName: "\(entity.name)-p\(row.id.reference)-\(property)")
        case .string(let text):
            return StudioAnswer(type: "text/plain; charset=utf-8", body: Data(text.utf8))
        case let value:
            return StudioAnswer(
                type: "text/plain; charset=utf-8", body: Data(PlainText.value(value).utf8))
        }
    }

    /// Returns the type of a picture that browsers show without running anything in it, by its first bytes.
    private static func imageType(_ data: Data) -> String? {
        let start = Array(data.prefix(12))
        func begins(_ bytes: [UInt8], at place: Int = 0) -> Bool {
            start.count >= place + bytes.count
                && Array(start[place..<(place + bytes.count)]) == bytes
        }
        if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if begins([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) { return "image/gif" }
        if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) { return "image/webp" }
        return nil
    }
}
