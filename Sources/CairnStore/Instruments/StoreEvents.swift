// Events for objects: reading them one by one, saving and refreshing them.

public import CairnModel

/// A fault was fired: an object whose values, or a to-many relationship whose members, had not been accessed.
public struct FaultEvent: Sendable {
    /// The object's entity; for an object that the store does not have, its assumed entity.
    public let entity: String
    /// The relationship whose members were read; nil if the object's values were.
    public let relationship: String?
    /// The object.
    public let objectID: ObjectID
    /// Whether the store was queried; otherwise a fetch or a prefetch had read the values.
    public let isMiss: Bool
    /// The number of rows or members found.
    public let count: Int
    /// The duration of the query; zero if the store was not queried.
    public let duration: Duration
    /// The name of the context.
    public let contextName: String?
    /// The error, if any.
    public let error: StoreError?

    package init(
        entity: String, relationship: String? = nil, objectID: ObjectID, isMiss: Bool, count: Int,
        duration: Duration = .zero, contextName: String?, error: StoreError? = nil
    ) {
        self.entity = entity
        self.relationship = relationship
        self.objectID = objectID
        self.isMiss = isMiss
        self.count = count
        self.duration = duration
        self.contextName = contextName
        self.error = error
    }
}

/// A context saved its changes, or failed to. A save without changes creates no event.
public struct SaveEvent: Sendable {
    /// The number of new objects to write.
    public package(set) var inserted = 0
    /// The number of changed objects to write.
    public package(set) var updated = 0
    /// The number of objects to delete.
    public package(set) var deleted = 0
    /// The number of members added to, or removed from, many-to-many relationships.
    public package(set) var memberChanges = 0
    /// The number of new objects that were merged into stored ones with the same key.
    public package(set) var absorbed = 0
    /// The number of conflicts reported: to a custom merge policy, or as the error.
    public package(set) var conflicts = 0
    /// The duration, including hooks, validation and merge policies.
    public package(set) var duration = Duration.zero
    /// The name of the context.
    public package(set) var contextName: String?
    /// The error, if any. In that case nothing was written.
    public package(set) var error: (any Error)?

    package init() {}
}

/// A context executed a batch request, or failed to.
public struct BatchEvent: Sendable {
    /// The kind of request.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Inserting and updating rows.
        case insert
        /// Updating objects.
        case update
        /// Deleting objects.
        case delete
    }

    /// The kind of request.
    public let kind: Kind
    /// The entity's name.
    public let entity: String
    /// The number of inserted rows.
    public package(set) var inserted = 0
    /// The number of updated objects.
    public package(set) var updated = 0
    /// The number of deleted objects, including those that a cascade deleted.
    public package(set) var deleted = 0
    /// The duration.
    public package(set) var duration = Duration.zero
    /// The name of the context.
    public package(set) var contextName: String?
    /// The error, if any. In that case nothing was written.
    public package(set) var error: StoreError?

    package init(_ kind: Kind, entity: String) {
        self.kind = kind
        self.entity = entity
    }
}

/// Objects of a context were refreshed: they became faults again, or were reread. `rollback()` and `reset()` create no
/// event.
public struct RefreshEvent: Sendable {
    /// The number of objects.
    public let count: Int
    /// The duration.
    public let duration: Duration
    /// The name of the context.
    public let contextName: String?

    package init(count: Int, duration: Duration, contextName: String?) {
        self.count = count
        self.duration = duration
        self.contextName = contextName
    }
}
