// Saves the changes of a page atomically, through a context, so that delete rules, inverse relationships and
// validation are the same as in every program.
//
//   1. Reads the objects, then checks that they still have the versions that the page has read. Versions only
//      increase, so the context has not read newer ones.
//   2. Sets the values and saves the context, with the error policy: it detects commits between 1 and 2.
//
// Threads: one.

import CairnInspection
import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials

/// A save from the page.
final class StudioSave {
    private let session: StoreSession
    private let edits: [StudioEdit]
    private let context: ManagedObjectContext
    /// The objects, by the indexes of their changes.
    private var objects: [ManagedObject] = []
    private var named: [String: ManagedObject] = [:]

    init(_ edits: [StudioEdit], _ session: StoreSession) {
        self.edits = edits
        self.session = session
        context = ManagedObjectContext(store: session.store)
        context.transactionAuthor = StudioStore.author
    }

    /// Saves, and returns the ids of new objects by their names.
    func run() throws -> [(name: String, id: ObjectID)] {
        try findObjects()
        try checkVersions()
        for (edit, object) in zip(edits, objects) where edit.kind != .delete {
            try set(edit, object)
        }
        for (edit, object) in zip(edits, objects) where edit.kind == .delete {
            context.delete(object)
        }
        do {
            try context.save()
        } catch let error as StoreError {
            throw explained(error)
        }
        return named.sorted { $0.key < $1.key }.map { ($0.key, $0.value.objectID) }
    }

    private func inEdit<Result>(_ number: Int, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as Failure {
            throw failure.changing { "change \(number + 1): \($0)" }
        }
    }

    // MARK: Objects

    private func findObjects() throws {
        var gone: [StudioConflict.Entry] = []
        for (number, edit) in edits.enumerated() {
            if let object = try inEdit(number, { try object(of: edit) }) {
                objects.append(object)
            } else {
                gone += entries(edit, now: nil)
            }
        }
        if !gone.isEmpty { throw StudioConflict(message: Self.words, entries: gone) }
    }

    /// Returns the object of a change; nil if it no longer exists.
    private func object(of edit: StudioEdit) throws -> ManagedObject? {
        let entity = try session.entity(edit.entity)
        if let text = edit.id {
            return try stored(try session.objectIDs([text], of: entity, option: "id")[0])
        }
        if entity.isAbstract {
            throw Failure("\(entity.name) is abstract: it has no objects of its own")
        }
        let object = context.insert(entity.name)
        if let name = edit.name, named.updateValue(object, forKey: name) != nil {
            throw Failure("two new objects have the name \(PlainText.visible(name))", code: .usage)
        }
        return object
    }

    /// Returns the object with an id, and its values; nil if it does not exist.
    private func stored(_ id: ObjectID) throws -> ManagedObject? {
        do throws(StoreError) {
            let object = try context.existingObject(with: id)
            // An object that this one was merged into is a different object.
            return object.objectID == id ? object : nil
        } catch {
            if error.code == .objectNotFound { return nil }
            throw error
        }
    }

    private static let words = "somebody else has changed objects since the page has read them"

    private func checkVersions() throws {
        let stored = edits.indices.filter { edits[$0].kind != .insert }
        let state = try session.store.snapshot()
        let rows = try state.rows(stored.map { objects[$0].objectID })
        var entries: [StudioConflict.Entry] = []
        for (number, row) in zip(stored, rows) {
            if row?.version == edits[number].version {
                entries += try lists(of: edits[number], objects[number].objectID, state)
            } else {
                entries += self.entries(edits[number], now: row)
            }
        }
        if !entries.isEmpty { throw StudioConflict(message: Self.words, entries: entries) }
    }

    /// Returns conflicts in a change's lists: members have no version, so they are compared with those that
    /// the page has seen, if it sends them.
    private func lists(of edit: StudioEdit, _ id: ObjectID, _ state: any StoreSnapshot) throws
        -> [StudioConflict.Entry]
    {
        guard edit.kind == .update else { return [] }
        let entity = try session.entity(edit.entity)
        return try edit.values.keys.sorted().compactMap { name in
            guard let index = entity.relationshipIndex(named: name),
                entity.relationships[index].description.isToMany,
                case .array(let seen)? = edit.was[name]
            else { return nil }
            let members = try state.members(
                ofRelationship: index, entity: entity.index, owners: [id])[0]
            let now = members.map { "p\($0.reference)" }
            let before = seen.map { if case .string(let text) = $0 { text } else { "" } }
            if Set(now) == Set(before) { return nil }
            return .init(
                id: edit.id ?? "", entity: edit.entity, property: name,
                mine: edit.values[name]?.shown ?? .null, theirs: .array(now.map { .string($0) }),
                was: edit.was[name]?.shown ?? .null)
        }
    }

    /// Returns the conflicts of a change.
    private func entries(_ edit: StudioEdit, now row: Row?) -> [StudioConflict.Entry] {
        func entry(_ property: String?, _ mine: JSONValue, _ theirs: JSONValue, _ was: JSONValue)
            -> StudioConflict.Entry
        {
            .init(
                id: edit.id ?? "", entity: edit.entity, property: property, mine: mine,
                theirs: theirs, was: was, isDeleted: row == nil)
        }
        guard edit.kind == .update, !edit.values.isEmpty else {
            return [entry(nil, .null, .null, .null)]
        }
        return edit.values.sorted { $0.key < $1.key }.map { name, mine in
            let column = row.flatMap { session.schema.entities[$0.entity].columnIndex(named: name) }
            let theirs = row.flatMap { row in
                column.map { JSONValue(short: session.value($0, row)) }
            }
            return entry(name, mine.shown, theirs ?? .null, edit.was[name]?.shown ?? .null)
        }
    }

    // MARK: Values

    private func set(_ edit: StudioEdit, _ object: ManagedObject) throws {
        let entity = object.entity
        var values: [String: Any?] = [:]
        for (name, json) in edit.values {
            if let index = entity.relationshipIndex(named: name) {
                values[name] = try target(json, entity, entity.relationships[index])
            } else {
                let column = try session.column(name, of: entity)
                guard case .attribute(let type) = entity.columns[column].kind else { continue }
                values[name] = try value(json, as: type, of: "\(entity.name).\(name)").any
            }
        }
        do {
            try object.setValuesForKeys(values)
        } catch {
            throw explained(error)
        }
    }

    private func value(_ json: StudioJSON, as type: AttributeType, of place: String) throws -> Value
    {
        var conversion = CellConversion.failure("it is an object or an array")
        switch json {
        case .null: return .null
        case .boolean(let truth):
            conversion =
                type == .boolean ? .value(.boolean(truth)) : .failure("it is true or false")
        case .number(let text):
            conversion =
                type == .string
                ? .failure("it is a number, and the attribute holds texts")
                : CellConversion(text: text, as: type)
        case .string(let text): conversion = CellConversion(text: text, as: type)
        case .array, .object: break
        }
        switch conversion {
        case .value(let value): return value
        case .failure(let reason):
            var failure = Failure("\(place) of type \(type.rawValue): \(reason)", code: .usage)
            let parts = place.split(separator: ".", maxSplits: 1)
            failure.details = [
                .init(key: "entity", value: .string(String(parts[0]))),
                .init(key: "property", value: .string(String(parts[1]))),
            ]
            throw failure
        }
    }

    /// Converts JSON to an object, several objects, or nil.
    private func target(
        _ json: StudioJSON, _ entity: SchemaEntity, _ relationship: SchemaRelationship
    ) throws -> Any? {
        let place = "\(entity.name).\(relationship.description.name)"
        let destination = session.schema.entities[relationship.destination]
        switch json {
        case .null where !relationship.description.isToMany: return nil
        case .array(let elements) where relationship.description.isToMany:
            return try elements.map { try member($0, destination, of: place) }
        case .string where !relationship.description.isToMany:
            return try member(json, destination, of: place)
        default:
            throw Failure(
                relationship.description.isToMany
                    ? "\(place) leads to many: give a list, as in [\"p3\"]"
                    : "\(place) leads to one: give \"p3\" or null", code: .usage)
        }
    }

    private func member(_ json: StudioJSON, _ destination: SchemaEntity, of place: String) throws
        -> ManagedObject
    {
        guard case .string(let text) = json else {
            throw Failure("\(place) leads to objects, as in \"p3\"", code: .usage)
        }
        if let new = named[text] { return new }
        guard
            let object = try stored(
                try session.objectIDs([text], of: destination, option: place)[0])
        else { throw Failure.absent("\(place): there is no \(destination.name) \(text)") }
        return object
    }

    // MARK: Errors

    /// Returns the error with the affected properties.
    private func explained(_ error: StoreError) -> any Error {
        let versions = error.conflicts.compactMap { conflict -> StudioConflict.Entry? in
            guard case .version(let version) = conflict else { return nil }
            return .init(
                id: "p\(version.id.reference)", entity: version.entityName, property: nil,
                mine: .null, theirs: .null, was: .null, isDeleted: version.stored == nil)
        }
        if !versions.isEmpty { return StudioConflict(message: Self.words, entries: versions) }
        return StudioRefusal(error)
    }
}
