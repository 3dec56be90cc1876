// What happens to objects: they are read one by one, saved, refreshed.

public import CairnModel

/// A fault was touched: an object whose values, or a to-many relationship whose members, had not been looked at.
public struct FaultEvent: Sendable {
    /// The object's entity; of an object that the store does not have, the one it was taken for.
    public let entity: String
    /// The relationship whose members were wanted; nil if the object's values were.
    public let relationship: String?
    /// The object.
    public let objectID: ObjectID
    /// Whether the store had to be asked; else a fetch or a prefetch had brought what was wanted.
    public let isMiss: Bool
    /// How many rows or members were found.
    public let count: Int
    /// How long the store took; zero if it was not asked.
    public let duration: Duration
    /// The name of the context.
    public let contextName: String?
    /// What went wrong, if anything did.
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

/// A context saved its changes, or could not. There is none for a save that has nothing to write.
public struct SaveEvent: Sendable {
    /// How many new objects were to be written.
    public package(set) var inserted = 0
    /// How many changed ones.
    public package(set) var updated = 0
    /// How many were to be deleted.
    public package(set) var deleted = 0
    /// How many members were added to, or removed from, many-to-many relationships.
    public package(set) var memberChanges = 0
    /// How many new objects became one with a stored one that has the same key.
    public package(set) var absorbed = 0
    /// How many conflicts were reported: to a merge policy of one's own, or as the error.
    public package(set) var conflicts = 0
    /// How long it took, hooks, validation and merge policies included.
    public package(set) var duration = Duration.zero
    /// The name of the context.
    public package(set) var contextName: String?
    /// What went wrong, if anything did: nothing is written then.
    public package(set) var error: (any Error)?

    package init() {}
}

/// A context carried out a batch request, or could not.
public struct BatchEvent: Sendable {
    /// What the request is for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Inserting and updating rows.
        case insert
        /// Giving objects new values.
        case update
        /// Deleting objects.
        case delete
    }

    /// What the request is for.
    public let kind: Kind
    /// The entity's name.
    public let entity: String
    /// How many rows were inserted.
    public package(set) var inserted = 0
    /// How many were updated.
    public package(set) var updated = 0
    /// How many were deleted, those included that a cascade reached.
    public package(set) var deleted = 0
    /// How long it took.
    public package(set) var duration = Duration.zero
    /// The name of the context.
    public package(set) var contextName: String?
    /// What went wrong, if anything did: nothing is written then.
    public package(set) var error: StoreError?

    package init(_ kind: Kind, entity: String) {
        self.kind = kind
        self.entity = entity
    }
}

/// Objects of a context were refreshed: they became faults again, or were reread. There is none for `rollback()` and
/// `reset()`.
public struct RefreshEvent: Sendable {
    /// How many objects.
    public let count: Int
    /// How long it took.
    public let duration: Duration
    /// The name of the context.
    public let contextName: String?

    package init(count: Int, duration: Duration, contextName: String?) {
        self.count = count
        self.duration = duration
        self.contextName = contextName
    }
}
