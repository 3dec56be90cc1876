// The changes that a page requests, parsed from its JSON.
//
// Threads: values.

import CairnInspection
import FoundationEssentials

/// One change of an object.
struct StudioEdit {
    enum Kind: String {
        case insert, update, delete
    }

    let kind: Kind
    let entity: String
    /// The object's id; nil for a new one.
    let id: String?
    /// The version that the page has seen.
    let version: UInt32
    /// The name of a new object in other changes.
    let name: String?
    let values: [String: StudioJSON]
    /// The old values that the page has shown.
    let was: [String: StudioJSON]

    static let most = 10_000

    /// Reads the changes of a request.
    ///
    /// - Throws: `Failure` that names the change.
    static func read(_ data: Data) throws -> [StudioEdit] {
        guard case .object(let members) = try StudioJSON(data), members.count == 1,
            case .array(let changes)? = members["changes"]
        else { throw Failure("the body is not {\"changes\":[…]}", code: .usage) }
        guard !changes.isEmpty, changes.count <= most else {
            throw Failure("a save has 1 to \(PlainText.number(most)) changes", code: .usage)
        }
        return try changes.enumerated().map { number, change in
            do {
                return try StudioEdit(change)
            } catch let failure as Failure {
                throw failure.changing { "change \(number + 1): \($0)" }
            }
        }
    }

    private init(_ json: StudioJSON) throws {
        guard case .object(let members) = json else {
            throw Failure("it is not an object", code: .usage)
        }
        let known = ["change", "entity", "id", "version", "name", "values", "was"]
        if let other = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw Failure("there is no member \(PlainText.visible(other))", code: .usage)
        }
        func text(_ key: String) throws -> String? {
            switch members[key] {
            case nil, .null?: return nil
            case .string(let text)?: return text
            default: throw Failure("\(key) is not a text", code: .usage)
            }
        }
        func values(_ key: String) throws -> [String: StudioJSON] {
            switch members[key] {
            case nil, .null?: return [:]
            case .object(let values)?: return values
            default: throw Failure("\(key) is not an object", code: .usage)
            }
        }
        guard let kind = try text("change").flatMap(Kind.init) else {
            throw Failure("change is not insert, update or delete", code: .usage)
        }
        guard let entity = try text("entity") else {
            throw Failure("entity is missing", code: .usage)
        }
        self.kind = kind
        self.entity = entity
        id = try text("id")
        name = try text("name")
        self.values = try values("values")
        was = try values("was")
        guard (id == nil) == (kind == .insert) else {
            throw Failure("a new object has no id, others have one", code: .usage)
        }
        if kind == .insert {
            version = 0
        } else {
            guard case .number(let text)? = members["version"], let number = UInt32(text) else {
                throw Failure("version is missing, or no version", code: .usage)
            }
            version = number
        }
    }
}
