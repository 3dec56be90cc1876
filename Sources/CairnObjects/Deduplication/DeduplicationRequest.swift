// Makes one object of several that have the same key.

public import CairnModel
public import CairnStore

/// A request that finds objects with the same key, keeps one of each group, and deletes the others.
///
/// ```swift
/// let request = DeduplicationRequest(Person.self, by: [\.email], keeping: .smallest(by: "uuid"))
/// let result = try context.execute(request)
/// print(result.deletedCount, "of", result.groups.count, "people were here twice")
/// ```
///
/// It works on stored objects: unsaved changes of the context are ignored, as with other requests that do not use
/// objects. It is a single save, with the model's delete rules and validation; class hooks are not called. Whatever a
/// winner cannot take over, such as the target of a to-one relationship where it already has one, is subject to the
/// loser's delete rules; if those would delete the winner of another group, another object of that group survives.
/// References to a loser are removed if they cannot refer to the winner's entity.
///
/// From then on, the id of a loser is permanently redirected to the winner, and to the winner's winner if that is merged,
/// too: in ``ManagedObjectContext/existingObject(with:)`` and ``ManagedObjectContext/object(with:)``, in fetch conditions,
/// and when a relationship to it is saved. After the first request that deletes a loser, versions of this library
/// without this feature can read the store but not write to it.
///
/// Objects whose key is partly nil are not duplicates of one another, unless ``includesNil`` is set, and neither are
/// objects of different stores. With several stores, there is one save per store, as with
/// ``ManagedObjectContext/save()``.
public struct DeduplicationRequest: Sendable {
    /// The entity's name.
    public var entityName: String
    /// The names of the attributes and to-one relationships that make the key.
    public var keys: [String]
    /// Which object survives, and what becomes of the others.
    public var rule: DeduplicationRule
    /// Which objects are considered; nil means all.
    public var predicate: PredicateNode?
    /// The null semantics of ``predicate``.
    public var nullSemantics = NullSemantics.twoValued
    /// Whether objects of the entity's descendants are considered.
    public var includesSubentities = true
    /// Whether nil is a key value like any other: then all objects without a value are duplicates of one another. A rule
    /// that sets keys to nil cannot resolve these, and is rejected.
    public var includesNil = false
    /// If set, only groups with one of these objects are considered, such as objects that an import or a sync has
    /// added. Ids of objects that do not exist are ignored.
    public var incoming: [ObjectID]?
    /// Whether the request only reports what it would do: everything is done in a private context, including delete
    /// rules, but nothing is saved. Errors that only a save detects, such as a delete rule that denies a deletion, are
    /// not reported.
    public var isDryRun = false
    /// Whether the groups are all that is asked for, and not what would become of them.
    package var onlyLists = false
    /// The author; nil means the context's.
    public var author: String?
    /// The context name; nil means the context's own.
    public var contextName: String?

    /// Asks about the objects of an entity.
    public init(entityName: String, by keys: [String], keeping rule: DeduplicationRule) {
        self.entityName = entityName
        self.keys = keys
        self.rule = rule
    }

    /// Asks about the objects of a class.
    public init<T: PersistentEntity>(
        _ type: T.Type, by keys: [PartialKeyPath<T>], keeping rule: DeduplicationRule
    ) {
        let names = keys.map { path -> String in
            guard let name = T._key(for: path) else {
                preconditionFailure("\(path.words) is not a property of \(T.entityName)")
            }
            return name
        }
        self.init(entityName: T.entityName, by: names, keeping: rule)
    }
}

/// The result of a request, or of a dry run.
public struct DeduplicationResult: Sendable, Hashable {
    /// The objects with one key.
    public struct Group: Sendable, Hashable {
        /// The values of the key, in the order of the request's.
        public let key: [Value]
        /// The one that stays, or that keeps the key.
        public let winner: ObjectID
        /// The others, in the order in which they would have stayed.
        public let losers: [ObjectID]
    }
    /// The groups of two and more, by ascending key.
    public internal(set) var groups: [Group] = []
    /// The groups that were left as they are, since the delete rules of others would delete whichever of their objects stays.
    public internal(set) var entangledGroups: [Group] = []
    /// How many objects were deleted in favour of another one.
    public internal(set) var deletedCount = 0
    /// How many more their delete rules deleted.
    public internal(set) var cascadedCount = 0
    /// How many other objects were changed: winners, and objects that refer to them.
    public internal(set) var updatedCount = 0

    /// Maps the id of each merged object to the id of the surviving one.
    public var survivors: [ObjectID: ObjectID] {
        var survivors: [ObjectID: ObjectID] = [:]
        for group in groups { for loser in group.losers { survivors[loser] = group.winner } }
        return survivors
    }
}

extension ManagedObjectContext {
    /// Finds objects with the same key, keeps one of each group, and deletes the others.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the request refers to something that the model does not have;
    ///   `.constraintConflict` with all groups in its details if the rule is ``DeduplicationRule/fail``, or if an
    ///   object would be merged into one of another entity that cannot hold all its values; and errors of a save.
    ///   In that case nothing is changed.
    /// - Complexity: that of a group-by over the key, which can use an index, of a fetch per 20,000 keys with several
    ///   objects, and of saving their objects, which are in memory during the request.
    @discardableResult
    public func execute(_ request: DeduplicationRequest) throws(StoreError) -> DeduplicationResult {
        var request = request
        request.author = request.author ?? transactionAuthor
        request.contextName = request.contextName ?? name
        let result = try Deduplicator.execute(request, on: store)
        if !request.isDryRun, result.deletedCount + result.updatedCount > 0 {
            knownRows.noteBatch()
        }
        return result
    }
}
