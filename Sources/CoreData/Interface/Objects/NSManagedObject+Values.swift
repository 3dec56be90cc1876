// Values between Cairn's objects and Core Data's users: what Core Data gives as objects of Foundation.
//
// Numbers and truth values become `NSNumber`, which on Linux, too, is cast to every type of number that can hold the value:
// `value(forKey: "stars") as? Int16` and `as? Int` both work. Texts, dates and bytes stay as Swift has them; casts to the
// classes of Foundation work on those.

import CairnModel
import CairnObjects
import CairnStore
import Foundation

extension NSManagedObject {
    /// What Cairn calls the entity.
    final var schemaEntity: SchemaEntity { (self as ManagedObject).entity }

    // MARK: Reading

    /// The value of a property, as Core Data has it.
    final func boxedValue(forKey key: String) -> Any? {
        if notes(key) { return nil }
        if let value = (self as ManagedObject).value(forKey: key) {
            return boxed(value, forKey: key)
        }
        // Outside a context there are no members.
        switch isToMany(key) {
        case .some(true): return isOrdered(key) ? NSOrderedSet() : NSSet()
        default: return nil
        }
    }

    /// A property's value as Core Data has it.
    final func boxed(_ value: Any, forKey key: String) -> Any {
        switch isToMany(key) {
        case .some(true):
            if let members = value as? Set<ManagedObject> { return NSSet(array: Array(members)) }
            return (value as? [ManagedObject]).map(NSOrderedSet.init(array:)) ?? value
        case .some(false): return value
        case nil:
            guard schemaEntity.compositeColumns(key) != nil, let leaves = value as? [String: Any]
            else { return Self.boxed(value) }
            return nested(leaves, key)
        }
    }

    /// A single value as Core Data has it.
    static func boxed(_ value: Any) -> Any {
        let type = type(of: value)
        if type == Int.self, let value = value as? Int { return NSNumber(value: value) }
        if type == Bool.self, let value = value as? Bool { return NSNumber(value: value) }
        if type == Double.self, let value = value as? Double { return NSNumber(value: value) }
        if type == Float.self, let value = value as? Float { return NSNumber(value: value) }
        if type == Decimal.self, let value = value as? Decimal {
            return NSDecimalNumber(decimal: value)
        }
        return value
    }

    /// The leaves of a composite value by the names of its elements.
    private func nested(_ leaves: [String: Any], _ name: String) -> [String: Any] {
        var values: [String: Any] = [:]
        for column in schemaEntity.compositeColumns(name) ?? 0..<0 {
            let whole = schemaEntity.columns[column].name
            let rest = whole.dropFirst(name.count + 1)
            let element = String(rest.prefix { $0 != "." })
            if element.count == rest.count {
                values[element] = leaves[whole].map(Self.boxed)
            } else if values[element] == nil {
                values[element] = nested(leaves, "\(name).\(element)")
            }
        }
        return values
    }

    /// What a path leads to, as Core Data has it: what several objects have is a set, but for what an operator makes of it.
    final func boxed(_ value: Any?, forKeyPath path: String) -> Any? {
        guard let value else { return nil }
        guard let values = value as? [Any] else {
            if let members = value as? Set<ManagedObject> { return NSSet(array: Array(members)) }
            return Self.boxed(value)
        }
        let boxed = values.map(Self.boxed)
        if path.contains("@") { return boxed }
        var entity = schemaEntity
        for key in path.split(separator: ".").map(String.init) {
            guard let index = entity.relationshipIndex(named: key) else { break }
            let relationship = entity.relationships[index]
            if relationship.description.isToMany {
                return relationship.description.isOrdered
                    ? NSOrderedSet(array: boxed) : NSSet(array: boxed)
            }
            guard let schema = managedObjectContext?.persistentStoreCoordinator?.resolution.schema
            else { break }
            entity = schema.entities[relationship.destination]
        }
        return boxed
    }

    /// What an object has by keys that are no properties.
    final func ownValue(_ key: String) -> Any? {
        switch key {
        case "objectID": objectID
        case "self": self
        case "entity": entity
        case "managedObjectContext": managedObjectContext
        case "isFault": NSNumber(value: isFault)
        case "isInserted": NSNumber(value: isInserted)
        case "isUpdated": NSNumber(value: isUpdated)
        case "isDeleted": NSNumber(value: isDeleted)
        case "hasChanges": NSNumber(value: hasChanges)
        default: nil
        }
    }

    final func undefined(_ key: String) -> Never {
        preconditionFailure(
            "the entity \(schemaEntity.name) is not key value coding-compliant for the key \(key): it has no such property"
        )
    }

    /// Reads the values of a fault.
    final func readValues() {
        guard let column = schemaEntity.columns.first else { return }
        _ = (self as ManagedObject).value(forKey: column.name)
    }

    /// The values that are there, for people.
    final var valuesDescription: String {
        let object = self as ManagedObject
        let attributes = schemaEntity.attributes.map(\.description).map { attribute in
            "\(attribute.name) = \(object.value(forKey: attribute.name).map { "\($0)" } ?? "nil")"
        }
        let relationships = schemaEntity.relationships.map(\.description).map { relationship in
            let ids =
                object.hasFault(forRelationshipNamed: relationship.name)
                ? "<fault>" : "\(object.objectIDs(forRelationshipNamed: relationship.name))"
            return "\(relationship.name) = \(ids)"
        }
        return "{\((attributes + relationships).joined(separator: "; "))}"
    }

    // MARK: Setting

    /// Sets a property to a value as Core Data has it.
    final func setPlainValue(_ value: Any?, forKey key: String) {
        if isNoting { return }
        (self as ManagedObject)[key] = plain(value, forKey: key)
    }

    /// A value as Cairn has it: members without the class of Foundation around them.
    final func plain(_ value: Any?, forKey key: String) -> Any? {
        guard let isToMany = isToMany(key) else { return value }
        switch value {
        case let id as NSManagedObjectID: return id.core
        case let members as NSOrderedSet: return members.array
        case let members as NSSet: return isToMany ? Set(Self.objects(members)) : value
        case let members as NSArray: return members.map { $0 }
        default: return value
        }
    }

    /// The objects of a set, which has nothing else.
    static func objects(_ members: NSSet) -> [ManagedObject] {
        members.allObjects.map(ManagedMemberSet.member)
    }

    /// Has the context know that a property has changed, though it is what it was.
    final func touch(_ key: String) {
        guard hasProperty(key), isToMany(key) != true else { return }
        let object = self as ManagedObject
        object[key] = object.value(forKey: key)
    }

    // MARK: Properties

    /// Whether a relationship leads to several objects; nil if the key is none of a relationship.
    final func isToMany(_ key: String) -> Bool? {
        schemaEntity.relationshipIndex(named: key).map {
            schemaEntity.relationships[$0].description.isToMany
        }
    }

    final func isOrdered(_ key: String) -> Bool {
        schemaEntity.relationshipIndex(named: key).map {
            schemaEntity.relationships[$0].description.isOrdered
        } ?? false
    }
}

extension ObjectIdentifier {
    /// The address, for people.
    var hexadecimal: String { "0x" + String(UInt(bitPattern: self), radix: 16) }
}
