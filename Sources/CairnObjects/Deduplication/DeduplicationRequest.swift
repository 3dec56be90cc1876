// Makes one object of several that have the same key.

public import CairnModel
public import CairnStore

/// A request that finds objects with the same key, lets one of each group stay, and deletes the others.
///
/// ```swift
/// let request = DeduplicationRequest(Person.self, by: [\.email], keeping: .smallest(by: "uuid"))
/// let result = try context.execute(request)
/// print(result.deletedCount, "of", result.groups.count, "people were here twice")
/// ```
///
/// It is about what is stored: unsaved changes of the context are left out of account, as with other requests without
/// objects. All of it is one save, with the delete rules and the validation that the model declares; hooks of classes are
/// not called. What a winner cannot take over, such as the target of a to-one relationship where it has another one, is left
/// to the delete rules of the loser; if those would delete the winner of another group, another one of that group stays. What
/// led to a loser leads nowhere if the winner is of an entity that it cannot lead to.
///
/// The id of a loser leads to the winner from then on, for good, and to the winner's winner if that is folded too: in
/// ``ManagedObjectContext/existingObject(with:)`` and ``ManagedObjectContext/object(with:)``, in the conditions of fetches, and
/// where a relationship to it is saved. From the first request on that deletes a loser, versions of this
/// library that know nothing of this can read the store and cannot write to it.
///
/// Objects whose key has a part that is nil
/// are no duplicates of one another, unless ``includesNil`` says so, and neither are objects of different stores. With several
/// stores there is a save for each, as with ``ManagedObjectContext/save()``.
public struct DeduplicationRequest: Sendable {
    /// The entity's name.
    public var entityName: String
    /// The names of the attributes and to-one relationships that make the key.
    public var keys: [String]
    /// Which object stays, and what becomes of the others.
    public var rule: DeduplicationRule
    /// Which objects are looked at; nil = all.
    public var predicate: PredicateNode?
    /// What ``predicate`` says of nil.
    public var nullSemantics = NullSemantics.twoValued
    /// Whether objects of the entity's descendants are looked at.
    public var includesSubentities = true
    /// Whether nil is a value of a key like others: then objects that all have none are duplicates of one another. A rule that
    /// takes keys away cannot tell them apart, and is refused.
    public var includesNil = false
    /// If there are any: only those groups are looked at that one of these objects belongs to, such as those that an import
    /// or a sync has brought. Ids of objects that are not there are passed over.
    public var incoming: [ObjectID]?
    /// Whether it only says what it would do: all of it is done in a context that nobody sees, delete rules included, and nothing
    /// is saved. What a save would refuse, such as an object that a delete rule denies to delete, it does not say.
    public var isDryRun = false
    /// Whether the groups are all that is asked for, and not what would become of them.
    package var onlyLists = false
    /// Who writes; nil = as the context says.
    public var author: String?
    /// The name of the context that asks; nil = as it says itself.
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

/// What a request did about duplicates, or, if it is a dry run, what it would do.
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
    /// How many other objects were changed: winners, and what leads to them.
    public internal(set) var updatedCount = 0

    /// By the id of each object that was deleted in favour of another one, the id of that one.
    public var survivors: [ObjectID: ObjectID] {
        var survivors: [ObjectID: ObjectID] = [:]
        for group in groups { for loser in group.losers { survivors[loser] = group.winner } }
        return survivors
    }
}

extension ManagedObjectContext {
    /// Finds objects with the same key, lets one of each group stay, and deletes the others.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the request names what the model does not have, `.constraintConflict`
    ///   with all groups in its details if the rule is ``DeduplicationRule/fail``, or if an object would be deleted in favour of one of
    ///   another entity that cannot keep all of it, and what a save throws. Nothing is changed then.
    /// - Complexity: that of a group-by over the key, which an index answers, of a fetch for each 20,000 keys that several objects
    ///   have, and of a save of their objects, which are in memory meanwhile.
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
