// Inserts and updates many rows atomically, without objects.

public import CairnModel
public import FoundationEssentials

/// A batch insert: rows that are inserted, or that update the object which a uniqueness constraint identifies.
///
/// A row matches its stored object by the entity's first uniqueness constraint that has no nil part in the row. What
/// happens then depends on the policy: `mergeByPropertyObjectTrump` and `overwrite` update the object, which keeps its
/// identity, `declared` merges the row into it, and the others skip the row. A row that also matches a different object by
/// another constraint cannot be both: the updating policies reject the whole batch and list all such rows. Constraints are
/// checked on the state after the batch, so two objects can swap their values.
///
/// Several rows for one object are applied in order, each under the policy. If their combined result equals what is stored,
/// the object is not written. This requires rows that can be iterated again, like those of dictionaries and collections;
/// the closure that fills a row is then called twice for each of them. Rows of a closure that returns true at the end are
/// read only once: if two of them have different values for one object, the object is written even if the last one has the
/// stored values. An object is also written if one of its rows changes a key on the way, or if several rows replace its
/// to-many relationships.
///
/// Through an inherited constraint, the object can belong to another entity of the family. If its entity has all the
/// properties that the row names, they are updated; otherwise the row is rejected, and the batch fails.
///
/// If a list is complete, or complete for a part of the objects, ``missing`` specifies what happens to the rest:
///
/// ```swift
/// var request = BatchInsertRequest(entityName: "Product", objects: feed)
/// request.mergePolicy = .mergeByPropertyObjectTrump
/// request.missing = .mark(["isActive": .boolean(false)])
/// request.scope = try PredicateNode(format: "shop.name == 'Corner'")
/// ```
///
/// Rows can set the targets of to-one relationships: an object by its id, or by a unique key, whose object may come later
/// in the batch; see ``RowTarget``. Relationships that a row does not name do not change, and are nil in a new object. That
/// is an error if the relationship is required and no later row for the object sets it.
///
/// To-many relationships can be replaced, or get additional members; see ``RowTargets``. Like relationships whose inverse
/// is to-one or ordered, they are set after all rows, in the order of the rows: if two rows set both sides of such a
/// relationship, the last one wins. Rows that set a to-many relationship take precedence over rows that set its inverse, if
/// the inverse is to-one and the relationship is not ordered. Under the policy `declared` members are always added.
public struct BatchInsertRequest: Sendable {
    /// What the result should contain.
    public enum ResultType: Int, Sendable {
        /// Only success.
        case statusOnly = 0
        /// The ids of inserted and updated objects, and of missing ones that were deleted or marked.
        case objectIDs = 1
        /// How many objects were inserted or updated.
        case count = 2
    }

    /// Makes the closure that fills rows of an entity.
    package typealias RowMaker =
        @Sendable (SchemaEntity) throws(StoreError) ->
        @Sendable (borrowing RowWriter) throws -> Bool

    /// The same, for rows that are set on objects of a class; nil: the plain one.
    package typealias ObjectRowMaker =
        @Sendable (SchemaEntity, AnyClass?) throws(StoreError) ->
        @Sendable (borrowing RowWriter) throws -> Bool

    /// What a row says, given until there is none left.
    package enum Source: Sendable {
        /// A closure that fills a row and returns true if there was none left to fill, and the layout of the entity for
        /// which it was written.
        case writer(@Sendable (borrowing RowWriter) throws -> Bool, layout: UInt64)
        /// A closure that creates such a closure for the store's entity.
        case resolved(RowMaker, canRepeat: Bool)
        /// The same for rows that are filled through objects, whose class the executing layer may know.
        case objects(ObjectRowMaker)
        /// Dictionaries, one per row.
        case dictionaries(DictionaryRows)
        /// A closure that fills a dictionary and returns true if there was none left to fill.
        case dictionaryHandler(@Sendable (inout [String: Any]) throws -> Bool)
        /// Encodable values, one per row.
        case encodable(EncodableRows)
        /// Recorded rows.
        case recorded(RecordedRows)
    }

    /// The entity's name.
    public let entityName: String
    /// What happens to rows that match a stored object; nil = use the policy of the context that executes the request, or
    /// the error policy without a context. A custom policy of a context counts as the built-in policy on which it is based,
    /// with ``setOnly`` if that policy is so.
    ///
    /// With `.declared` the model's merge rules merge a row with the object that it matches, property by property, as if
    /// each row had been saved on its own, in order. As under the other policies, objects match by the first constraint
    /// under which a row has a key. A row, or a sum in a key, that matches another object by another constraint is
    /// rejected, where a save might merge the two. Of a row only the properties that it names count, even if they have
    /// default values, and of an object all properties: ``setOnly`` is implied. If a sum exceeds the range of its type, the
    /// request fails and names the row. If two targets have the same time, the one that comes later in the batch is the
    /// greater one.
    public var mergePolicy: MergePolicyKind?
    /// What the result should contain.
    public var resultType = ResultType.statusOnly
    /// Whether a row that updates an object changes only the columns that it names. This is always so under the policy
    /// `.declared`, and if ``mergePolicy`` is nil also if the context's policy is so.
    public var setOnly = false
    /// What happens, in the same commit, to stored objects of the entity or its descendants that no row identifies.
    /// Objects that no constraint can identify, because each of its constraints has a predicate, are not affected.
    public var missing = MissingObjects.stay
    /// Which objects can be missing: those that match the condition in their state before the batch; nil means all. It
    /// may cross relationships. Objects outside the scope are not affected, and rows may identify them.
    public var scope: PredicateNode?
    /// Whether objects that no row identifies are deleted: whether ``missing`` is `delete`.
    public var prunesMissing: Bool {
        get { missing == .delete }
        set {
            if newValue {
                missing = .delete
            } else if missing == .delete {
                missing = .stay
            }
        }
    }
    /// Whether all objects in ``scope`` can be missing, because there are no rows or none of them identifies an object of
    /// the entity. By default such a list is an error, since it usually means that it was not read.
    public var allowsEmpty = false
    /// Whether a row that would be skipped fails the batch instead.
    public var failsOnConflict = false
    /// Whether the result lists the outcome of each row.
    public var reportsOutcomes = false
    /// How to handle rows that have no key under any uniqueness constraint of the entity, though it has some. Nil is no
    /// key, so such a row matches no stored object.
    public var missingKey = MissingKeyRule.insert
    /// Whether the result counts rows for an object that an earlier row of the request has named.
    public var reportsRepeats = false
    /// Whether a relationship with a missing target is set to nil, instead of failing the batch.
    public var ignoresMissingTargets = false
    /// Whether to create a target that a row names by a key that does not exist after all rows. It gets the values of the
    /// key, the attributes' default values, and other values from the first row that names it: ``RowTarget/keys(_:)`` can
    /// contain more than a key then. Existing targets do not change.
    public var createsTargets = false
    /// Whether to validate the rows' values by the limits, lengths, patterns and validation predicates of the model.
    /// Required attributes and the ranges of integers are always validated.
    public var validatesValues = true
    /// The stores of a coordinator that can take the rows, by their identifiers. The rows go to the first of the
    /// coordinator's stores that is listed, is writable and contains the entity. Nil = any store. A store that is not
    /// listed rejects the request, and so does a coordinator that lacks one of the listed stores.
    public var affectedStores: [UUID]?
    /// Whether nothing is written: the store does all that the request asks for, and then throws `BatchTrial`, with what
    /// would have come of it, as the cause of an error.
    package var isTrial = false
    /// The author.
    public var author: String?
    /// The name of the context that executes the request.
    public var contextName: String?
    /// Why the request cannot be carried out, if that was known when it was made.
    package var refusal: StoreError?
    /// The class of the objects that rows are set on; nil = the plain one.
    package var objectClass: AnyClass?
    package internal(set) var source: Source

    /// Whether rows are set on objects.
    package var makesObjects: Bool { if case .objects = source { true } else { false } }

    /// Whether the rows can be given once more.
    package var canRepeat: Bool {
        switch source {
        case .dictionaries: true
        case .resolved(_, let canRepeat): canRepeat
        case .encodable(let rows): rows.canRepeat
        case .recorded(let rows): rows.canRepeat
        case .writer, .objects, .dictionaryHandler: false
        }
    }

    /// Inserts rows that a closure fills: the fast form.
    ///
    /// The closure is called until it returns true; the row of that last call is not inserted. It runs before the batch
    /// acquires the write lock, and must not use the store. If a batch is larger than 64 MiB, the rows after the first 64
    /// MiB are filled while the batch holds the write lock: all other writers wait for as long as the closure takes.
    public init(
        entity: SchemaEntity, rows: @escaping @Sendable (borrowing RowWriter) throws -> Bool
    ) {
        entityName = entity.name
        source = .writer(rows, layout: entity.layout)
    }

    /// Rows by a closure that is made when the store's entity is known.
    ///
    /// `canRepeat` says that it gives the same rows each time it is made.
    package init(entityName: String, canRepeat: Bool = false, rows: @escaping RowMaker) {
        self.entityName = entityName
        source = .resolved(rows, canRepeat: canRepeat)
    }

    /// Rows that a closure sets on objects, of the class that is known when the request is carried out.
    package init(entityName: String, objects: @escaping ObjectRowMaker) {
        self.entityName = entityName
        source = .objects(objects)
    }

    /// Inserts rows from dictionaries: convenient, and about thirty times slower than the closure.
    ///
    /// Keys are attribute names; the leaves of a composite attribute have dotted names, or are in a nested dictionary.
    /// Values have the attribute's type, or are numbers that can be converted exactly; nil is `NSNull` or an optional
    /// without value. You can pass what `JSONSerialization` returns.
    ///
    /// The value of a to-one relationship identifies its target: an `ObjectID`, the value of a key, or a dictionary with
    /// the values of a key; see ``RowTarget``. The value of a to-many relationship is a list of these, or ``RowTargets``.
    public init(entityName: String, objects: [[String: Any]]) {
        self.entityName = entityName
        source = .dictionaries(DictionaryRows(objects))
    }

    /// Inserts rows from dictionaries that a closure fills, so that not all of them are in memory at once. See
    /// ``init(entityName:objects:)`` for their contents.
    ///
    /// The closure receives an empty dictionary each time, and is called until it returns true; what it fills in that last
    /// call is not inserted. It runs some rows ahead, and must not use the store: it runs before the batch acquires the
    /// write lock, but holding it, while others wait, for rows after the first 64 MiB.
    ///
    /// ```swift
    /// BatchInsertRequest(entityName: "Product", dictionaryHandler: { row in
    ///     guard let line = lines.next() else { return true }
    ///     row["serialCode"] = line.code
    ///     row["price"] = line.price
    ///     return false
    /// })
    /// ```
    public init(
        entityName: String,
        dictionaryHandler handler: @escaping @Sendable (inout [String: Any]) throws -> Bool
    ) {
        self.entityName = entityName
        source = .dictionaryHandler(handler)
    }

    /// Inserts rows from encodable values: convenient, and about ten times slower than the closure.
    ///
    /// Each value encodes itself as an object whose keys are attribute names. A nested object contains the leaves of a
    /// composite attribute. Numbers are converted if that is exact. A row does not name keys that are not encoded; by
    /// default, optional properties that are nil are not. `encodeNil` sets nil. A to-one relationship is encoded as an
    /// `ObjectID`, as the value of its target's key, or as an object with the values of the key; a to-many relationship as
    /// a list of these.
    public init<Rows: Sequence & Sendable>(entityName: String, encodable rows: Rows)
    where Rows.Element: Encodable {
        self.entityName = entityName
        source = .encodable(EncodableRows(rows))
    }
}

/// How a batch insert handles a row without a key.
///
/// A row has no key if, in each uniqueness constraint of the entity, a part is nil or the predicate is false for the row.
/// Such a row matches no stored object, and inserting it again creates another object.
public enum MissingKeyRule: Sendable, Hashable {
    /// The row is inserted as a new object.
    case insert
    /// The row is skipped.
    case skip
    /// The request fails with `.missingMandatory`. The details list the first hundred such rows.
    case fail
}

/// The outcome of one row of a batch insert.
public enum BatchRowOutcome: UInt8, Sendable {
    /// The row was inserted as a new object.
    case inserted
    /// The row changed a stored object.
    case updated
    /// The row had the same values as the stored object.
    case unchanged
    /// The row was skipped in favor of the stored object.
    case skipped
}

/// The result of a batch insert.
public struct BatchInsertResult: Sendable {
    /// The number of new objects.
    public var insertedCount = 0
    /// The number of stored objects that changed.
    public var updatedCount = 0
    /// The number of rows with the same values as the stored object.
    public var unchangedCount = 0
    /// The number of rows that were skipped.
    public var skippedCount = 0
    /// The number of rows that have no key, if the entity has uniqueness constraints. ``BatchInsertRequest/missingKey``
    /// determines what happens to them.
    public var keylessCount = 0
    /// The first ten of them, by their indices in the request.
    public var keylessRows: [Int] = []
    /// The number of rows for an object that an earlier row of the request has named, if requested.
    public var repeatedCount = 0
    /// The first ten of them, by their indices in the request.
    public var repeatedRows: [Int] = []
    /// The number of relationship targets that were created.
    public var createdTargetCount = 0
    /// The number of missing objects that were deleted, without those that a cascade deleted.
    public var deletedCount = 0
    /// The number of missing objects that were marked. Objects that already had the mark do not count.
    public var markedCount = 0
    /// The ids of inserted and updated objects, in the order of the rows, if requested.
    public var objectIDs: [ObjectID] = []
    /// The ids of missing objects that were marked, or deleted including those that a cascade deleted, if ids were
    /// requested.
    public var missingIDs: [ObjectID] = []
    /// The outcome of each row, if requested.
    public var outcomes: [BatchRowOutcome] = []
    /// The number of the commit; nil if there was nothing to write.
    public var commit: UInt64?

    /// An empty result.
    public init() {}
}

extension BatchInsertRequest {
    /// The request as a store carries it out: under the declared policy a row changes what it names alone.
    package var carriedOut: BatchInsertRequest {
        var request = self
        if mergePolicy == .declared { request.setOnly = true }
        return request
    }
}
