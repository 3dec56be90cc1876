// Fetched properties: stored requests that read like properties.
//
//   1. The predicate is made ready for the object: `$FETCH_SOURCE` is the object, `$FETCH_SOURCE.price` its price as it is
//      now; `$FETCHED_PROPERTY` is the property: its name, its entity's name, its user info.
//   2. The request is executed when the property is first asked for; the ids of what it found are kept until the object
//      becomes a fault or is refreshed. Asked for again, the objects of these ids come, whatever holds of them by now.
//   3. New objects among them get other ids by a save: then it is executed anew.
//
// What goes wrong is told of by the context's next fetch or save.
//
// Threads: the context's.

import CairnModel
import CairnStore

extension ManagedObject {
    /// The objects of a fetched property.
    final func fetchedObjects(_ property: FetchedPropertyDescription) -> [ManagedObject] {
        guard let context = managedObjectContext, !isGone else { return [] }
        access(.fetched(property.name))
        if let ids = rarer?.fetched[property.name], let known = context.fetched(ids, property) {
            return known
        }
        do {
            var request = FetchRequest(
                entityName: property.entityName, predicate: try predicate(of: property))
            request.sortDescriptors = property.sortDescriptors
            let objects = try context.fetch(request)
            noteMembers()
            extras.fetched[property.name] = objects.map(\.objectID)
            return objects
        } catch {
            context.readError = error
            return []
        }
    }

    private func predicate(of property: FetchedPropertyDescription) throws(StoreError)
        -> PredicateNode?
    {
        guard let format = property.predicateFormat else { return nil }
        do throws(PredicateFormatError) {
            let predicate = try PredicateNode(format: format)
            return try predicate.substituting(variables: [
                "FETCH_SOURCE": .constant(.objectID(objectID))
            ]) {
                name, path in
                switch name {
                case "FETCH_SOURCE": self.expression(at: path)
                case "FETCHED_PROPERTY": .constant(property.value(at: path))
                default: nil
                }
            }
        } catch {
            throw StoreError(
                error, entity: entity.name, about: "the fetched property \(property.name): ")
        }
    }

    /// What a path leads to, for a predicate.
    private func expression(at path: String) -> ExpressionNode? {
        guard isKeyPath(path) else { return nil }
        switch value(forKeyPath: path) {
        case nil: return .constant(.null)
        case let object as ManagedObject: return .constant(.objectID(object.objectID))
        case let members as Set<ManagedObject>:
            return .list(members.map { .objectID($0.objectID) })
        case let members as [Any]:
            return .list(
                members.compactMap { member in
                    (member as? ManagedObject).map { .objectID($0.objectID) } ?? Value(any: member)
                })
        case let value?: return Value(any: value).map { .constant($0) }
        }
    }
}

extension FetchedPropertyDescription {
    /// What a path of `$FETCHED_PROPERTY` leads to.
    fileprivate func value(at path: String) -> Value {
        if path == "name" { return .string(name) }
        let head = "userInfo."
        guard path.hasPrefix(head) else { return .null }
        return userInfo[String(path.dropFirst(head.count))].map { .string($0) } ?? .null
    }
}

extension ManagedObjectContext {
    /// The objects of ids that a fetched property has found; nil if some have other ids by now.
    fileprivate func fetched(_ ids: [ObjectID], _ property: FetchedPropertyDescription)
        -> [ManagedObject]?
    {
        if ids.contains(where: { $0.isTemporary && registry.object(for: $0) == nil }) { return nil }
        guard let entity = knownEntity(named: property.entityName) else { return nil }
        return objects(with: ids, under: entity)
    }
}
