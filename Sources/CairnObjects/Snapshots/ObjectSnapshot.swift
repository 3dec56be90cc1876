// The values of an object at one moment, which can go anywhere.
//
//   1. Attributes, and the ids that to-one relationships lead to, are taken as they are stored; members of a to-many only if
//      they are asked for, since that may ask the store.
//   2. A value becomes one of its Swift type when it is read.
//
// Threads: a value, so any.

public import CairnModel
import CairnStore

/// The values of an object at one moment: a value that can be passed to any task, compared, encoded and stored.
///
/// ```swift
/// let products = try await door.perform { context in
///     try context.fetch(FetchRequest<Product>()).snapshots(including: \.tags)
/// }
/// for product in products {
///     print(product.name, product.price)      // with the types of the class: String, Double
///     print(product.maker, product.tags)      // ids: ObjectID?, [ObjectID]
///     print(product["name"])                  // by key, as for objects without a class of their own
/// }
/// ```
///
/// It contains the attributes of the object, including unsaved changes and transient ones, the ids of its to-one
/// relationships' targets, and the ids of the members of those to-many relationships that were requested. It contains
/// neither computed properties of the class nor properties marked `@Transient`: accessing one of these is a programming
/// error.
///
/// If a property of the entity has the same name as one of the snapshot's own, use ``subscript(_:)-(String)``.
@dynamicMemberLookup
public struct ObjectSnapshot<Entity: ManagedObject>: Sendable {
    /// The object's id.
    public let objectID: ObjectID
    /// The version of what was stored of it; 0 if nothing was.
    public let objectVersion: Int
    let keys: SnapshotKeys
    let values: [Value]
    /// The ids of the members of to-many relationships, by name.
    let members: [String: [ObjectID]]

    /// The name of the object's entity.
    public var entityName: String { keys.entityName }

    /// A value by key: an attribute as in `value(forKey:)` of the object, the id of a to-one relationship's target, or the
    /// ids of a to-many relationship's members in order.
    public subscript(_ key: String) -> Any? {
        if let place = keys.place(key) { return any(place) }
        if let ids = members[key] { return ids }
        let leaves = keys.leaves(of: key)
        if leaves.isEmpty, !keys.isOfModel { return nil }
        precondition(
            !leaves.isEmpty,
            "the snapshot of \(entityName) has nothing named \(key); it only contains to-many relationships passed to snapshot(including:)"
        )
        var dictionary: [String: Any] = [:]
        for place in leaves { dictionary[keys.names[place]] = any(place) }
        return dictionary
    }

    private func any(_ place: Int) -> Any? {
        guard case .binary(let data) = values[place],
            let name = keys.transformers[keys.names[place]], name != JSONValue.transformerName,
            let transformer = AttributeTransformers.transformer(named: name)
        else { return values[place].any }
        return try? transformer.value(data)
    }

    /// A stored value; nil if there is none of this name.
    func value(named name: String) -> Value? { keys.place(name).map { values[$0] } }
}

extension ObjectSnapshot: Hashable {
    /// Whether two snapshots are of one object and have the same values.
    public static func == (left: ObjectSnapshot, right: ObjectSnapshot) -> Bool {
        guard left.objectID == right.objectID, left.objectVersion == right.objectVersion,
            left.members == right.members
        else { return false }
        if left.keys === right.keys { return left.values == right.values }
        return left.entityName == right.entityName && left.values.count == right.values.count
            && zip(left.keys.names, left.values).allSatisfy { right.value(named: $0) == $1 }
    }

    /// Hashes the id and the version, which distinguish most snapshots.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(objectID)
        hasher.combine(objectVersion)
    }
}

extension ObjectSnapshot: CustomStringConvertible {
    /// Entity, id and version; no values.
    public var description: String { "\(entityName) \(objectID), version \(objectVersion)" }
}

extension ObjectSnapshot: Codable {
    private enum Key: String, CodingKey {
        case entity, id, version, values, members, transformers
    }

    /// Reads a snapshot. It is not compared with any model: a value that the class does not have as such reads as if it were
    /// missing, and so do values and members that were not written.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        objectID = try container.decode(ObjectID.self, forKey: .id)
        objectVersion = try container.decode(Int.self, forKey: .version)
        let named = try container.decode([String: Value].self, forKey: .values)
        let sorted = named.inKeyOrder()
        keys = SnapshotKeys(
            entityName: try container.decode(String.self, forKey: .entity),
            names: sorted.map(\.key),
            transformers: try container.decodeIfPresent(
                [String: String].self, forKey: .transformers) ?? [:],
            isOfModel: false)
        values = sorted.map(\.value)
        members =
            try container.decodeIfPresent([String: [ObjectID]].self, forKey: .members) ?? [:]
    }

    /// Writes the snapshot, values by name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(entityName, forKey: .entity)
        try container.encode(objectID, forKey: .id)
        try container.encode(objectVersion, forKey: .version)
        try container.encode(
            Dictionary(zip(keys.names, values)) { first, _ in first }, forKey: .values)
        if !members.isEmpty { try container.encode(members, forKey: .members) }
        if !keys.transformers.isEmpty {
            try container.encode(keys.transformers, forKey: .transformers)
        }
    }
}
