// Objects specified by the user, by number or URI.

import CairnInspection
import CairnModel
import CairnStore
import FoundationEssentials

extension StoreSession {
    /// Parses the id of an object: p17, p17@h2 as in errors, or a URI; returns nil for any other text.
    ///
    /// - Parameter entity: the object's entity; nil: any, and a number alone is not an id.
    /// - Throws: `Failure` if it is a URI of something else.
    func objectID(_ text: String, of entity: SchemaEntity?) throws -> ObjectID? {
        if text.hasPrefix("p"), let number = UInt64(text.dropFirst()) {
            return entity.map { store.identity.id(number, entity: $0.index) }
        }
        if let id = toldID(text) { return try checked(id, text, entity) }
        guard text.hasPrefix("x-cairn://") || text.hasPrefix("x-coredata://") else { return nil }
        guard let uri = URL(string: text),
            let id = try ObjectID(uriRepresentation: uri) ?? store.objectID(forCoreDataURI: uri),
            !id.isTemporary, id.store == store.identity.identifier
        else { throw Failure("\(PlainText.visible(text)) \(try complaint(of: text))") }
        return try checked(id, text, entity)
    }

    /// Parses an id of this store in the form of error messages.
    private func toldID(_ text: String) -> ObjectID? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("p"), parts[1].hasPrefix("h"),
            let number = UInt32(parts[0].dropFirst()),
            let hierarchy = UInt32(parts[1].dropFirst())
        else { return nil }
        return ObjectID(
            store: store.identity.identifier, hierarchy: hierarchy, reference: UInt64(number))
    }

    /// Returns an id after checking that it belongs to the entity.
    private func checked(_ id: ObjectID, _ text: String, _ entity: SchemaEntity?) throws -> ObjectID
    {
        guard let entity, !store.identity.owns(id, entity: entity.index) else { return id }
        let other = store.identity.entity(of: id).map { schema.entities[$0].name }
        throw Failure("\(text) is an object of \(other ?? "another entity"), not of \(entity.name)")
    }

    /// Parses several ids.
    func objectIDs(_ texts: [String], of entity: SchemaEntity?, option: String) throws -> [ObjectID]
    {
        try texts.map { text in
            if let id = try objectID(text, of: entity) { return id }
            let words = entity == nil ? "a URI, or p17 with --entity" : "p17 or a URI"
            throw Failure(
                "\(option) takes an id, \(words), not \(PlainText.visible(text))", code: .usage)
        }
    }

    /// Returns the reason why the target of a URI does not exist here.
    private func complaint(of text: String) throws -> String {
        // Scheme, empty, store, entity or hierarchy, number.
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, let identifier = UUID(uuidString: String(parts[2])) else {
            return "is not the URI of an object"
        }
        let isCoreData = parts[0] == "x-coredata:"
        var isOurs = identifier == store.identity.identifier
        if isCoreData, case .string(let known)? = try store.metadata()["NSStoreUUID"] {
            isOurs = isOurs || identifier == UUID(uuidString: known)
        }
        if !isOurs { return "is an object of another store" }
        if isCoreData, schema.entity(named: String(parts[3])) == nil {
            return "belongs to the entity \(parts[3]), which the store does not have"
        }
        return "is not the URI of a stored object"
    }
}
