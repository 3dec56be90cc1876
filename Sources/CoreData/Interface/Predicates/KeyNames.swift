// The names of key paths.
//
// Nothing in a key path of Swift says its name on Linux. But the accessors of properties say it to the object that is asked: so
// one is asked that notes what it is asked for.
//
// Threads: any.

import CairnModel
import CairnObjects
import Foundation

/// The names of key paths.
enum KeyNames {
    private static let known = KnownPaths<String?>()

    /// The keys that a key path reads, with points between them. A path that is none of a model's properties ends the program with
    /// a sentence.
    static func name(of path: AnyKeyPath) -> String {
        guard let name = knownName(of: path) else {
            fatalError(
                "\(path) of \(type(of: path).rootType) is not a property that is read with @NSManaged: write its name as text"
            )
        }
        return name
    }

    /// The same; nil for a path that is none of a model's properties.
    static func knownName(of path: AnyKeyPath) -> String? {
        known.answer(for: path) { find(path) }
    }

    private static func find(_ path: AnyKeyPath) -> String? {
        // `\Type.self`
        if type(of: path).rootType == type(of: path).valueType { return "self" }
        guard let type = type(of: path).rootType as? NSManagedObject.Type else { return nil }
        guard let keys = KeyRecorder.keys(of: path, from: type), mayLead(keys, path, type) else {
            return nil
        }
        return keys.joined(separator: ".")
    }

    /// Whether what the last key leads to can be what the path leads to, in models in use. An accessor that a program has written
    /// itself gives no object that could be asked on: its path ends too early.
    private static func mayLead(
        _ keys: [String], _ path: AnyKeyPath, _ type: NSManagedObject.Type
    ) -> Bool {
        let entities = ModelsInUse.models.flatMap { $0.entities(of: type) }
        guard var entity = entities.first else { return true }
        for key in keys.dropLast() {
            guard let next = entity.relationshipsByName[key]?.destinationEntity else { return true }
            entity = next
        }
        guard let relationship = keys.last.flatMap({ entity.relationshipsByName[$0] }),
            !relationship.isToMany
        else { return true }
        var value: Any.Type = Swift.type(of: path).valueType
        while let optional = value as? any OptionalValue.Type { value = optional.wrappedType }
        return value is NSManagedObject.Type
    }
}
