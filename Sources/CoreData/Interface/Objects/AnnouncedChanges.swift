// What accessors of one's own say before and after they set primitive values: in between these are changes like others.
//
// Few objects are between the two at a time, so the context knows them, and not each object.

import CairnObjects

/// The properties that are about to be changed.
struct AnnouncedChanges {
    private struct Property: Hashable {
        let object: ObjectIdentifier
        let key: String
    }

    /// Whether a property has been set since it was announced.
    private var properties: [Property: Bool] = [:]

    private static func property(_ key: String, _ object: NSManagedObject) -> Property {
        Property(object: ObjectIdentifier(object), key: key)
    }

    func contains(_ key: String, of object: NSManagedObject) -> Bool {
        !properties.isEmpty && properties[Self.property(key, object)] != nil
    }

    mutating func begin(_ key: String, of object: NSManagedObject) {
        properties[Self.property(key, object)] = false
    }

    mutating func noteDone(_ key: String, of object: NSManagedObject) {
        properties[Self.property(key, object)] = true
    }

    /// Whether the property was announced, and nobody has set it.
    mutating func end(_ key: String, of object: NSManagedObject) -> Bool {
        properties.removeValue(forKey: Self.property(key, object)) == false
    }
}
