// Inserts and updates many rows as one unit, without objects.

public import CairnModel
public import FoundationEssentials

/// A batch insert: rows that are inserted, or update what a uniqueness constraint says is the same.
///
/// A row finds its stored object by the entity's first uniqueness constraint that has no nil part in the
/// row. What happens then is the policy's business: `mergeByPropertyObjectTrump` and `overwrite` update
/// the object under its identity, `declared` merges the row into it, the others skip the row. A row that another constraint ties to a
/// different object cannot be both: under the updating policies the batch is refused whole, and names all
/// such rows. What counts is the state after the batch, so two objects may exchange their values.
///
/// Of several rows about one object each is carried out after the one before it, as the policy says. If they come to what is stored
/// already, they change nothing. That is so for rows that can be given again, as those of dictionaries and of collections can; the
/// closure that fills a row is called twice for each of them then. Rows of a closure that knows itself when it is at its end are
/// given once: if two of them say different things about one object, it is written each time, even if the last one says what is
/// stored. So is an object of which a row changes a key on the way, and one whose to-many relationships several rows replace.
///
/// By a constraint that entities inherit, the object may be one of another entity of the family. It is updated with what the row
/// names if its entity has all of these properties; else the row is refused, and the batch with it.
///
/// A list that is all there is, or all there is of something, says by ``missing`` what becomes of the rest:
///
/// ```swift
/// var request = BatchInsertRequest(entityName: "Product", objects: feed)
/// request.mergePolicy = .mergeByPropertyObjectTrump
/// request.missing = .mark(["isActive": .boolean(false)])
/// request.scope = try PredicateNode(format: "shop.name == 'Corner'")
/// ```
///
/// Rows may say where to-one relationships lead: to an object by its id, or by a key that is unique, whose object may come later
/// in the batch; see ``RowTarget``. What a row does not name stays as it is stored, and is nil in a new object, which is refused
/// if the relationship is mandatory and no later row about the object names a target.
///
/// To-many relationships get all of their members, or some more; see ``RowTargets``. That is done when all rows are there, in
/// their order, as it is for relationships that are to-one or ordered at their other end: where two rows say something of both
/// ends of one of these, the last one counts. What they say of such a relationship counts more than what rows say of its other
/// end, if that is to-one and this one not ordered. Under the policy `declared` members are added in any case.
public struct BatchInsertRequest: Sendable {
    /// What the result should contain.
    public enum ResultType: Int, Sendable {
        /// Success alone.
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
        /// A closure that fills a row and returns true when there was none left to fill, and the layout
        /// of the entity that it was written for.
        case writer(@Sendable (borrowing RowWriter) throws -> Bool, layout: UInt64)
        /// A closure that makes such a closure for the entity that the store has.
        case resolved(RowMaker, canRepeat: Bool)
        /// The same for rows that are set on objects, whose class may be known to who carries the request out.
        case objects(ObjectRowMaker)
        /// Dictionaries, one a row.
        case dictionaries(DictionaryRows)
        /// A closure that fills a dictionary and returns true when there was none left to fill.
        case dictionaryHandler(@Sendable (inout [String: Any]) throws -> Bool)
        /// Values that encode themselves, one a row.
        case encodable(EncodableRows)
        /// Rows that were given before.
        case recorded(RecordedRows)
    }

    /// The entity's name.
    public let entityName: String
    /// What is done about rows that are stored already; nil = what the context that executes the request
    /// does, and without a context the error policy. What the context does is what the built-in policy does that its policy
    /// starts from, with rows that are ``setOnly`` if that is.
    ///
    /// With `.declared` the model's merge rules say, property by property, what is made of a row and of the object that it
    /// finds, as if each row had been saved alone, in their order. As under the other policies, objects are found by the first
    /// constraint under which a row has a key: a row, or a sum in a key, that meets another object under another constraint
    /// is refused, where a save might merge the two. Of a row counts what it names, also if that is a default
    /// value, and of an object all that it has: ``setOnly`` holds. A sum that its type cannot hold fails the request, and
    /// names the row. Of two targets of one time the one that the batch brings later is the greater one.
    public var mergePolicy: MergePolicyKind?
    /// What the result should contain.
    public var resultType = ResultType.statusOnly
    /// Whether a row that updates changes only the columns it names. Under the policy `.declared` that is always so, and if
    /// ``mergePolicy`` is nil also where that of the context says so.
    public var setOnly = false
    /// What becomes, in the same commit, of stored objects of the entity, or of one that inherits from it, that no row of the
    /// batch names. If no constraint of the entity can name all of its objects, as each of them has a predicate, those stay as
    /// they are that none can name.
    public var missing = MissingObjects.stay
    /// Which objects can be missing: those that meet the condition as they are stored before the batch; nil = all. It may lead
    /// across relationships. What is stored outside of it stays as it is, and rows may name objects outside of it.
    public var scope: PredicateNode?
    /// Whether objects that no row names are deleted: whether ``missing`` is `delete`.
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
    /// Whether every object that can be missing may be: because there are no rows at all, or none of them names an object of
    /// the entity. Without it such a list is an error, as it is mostly one that was not read.
    public var allowsEmpty = false
    /// Whether a row that would be skipped fails the batch instead.
    public var failsOnConflict = false
    /// Whether the result lists what became of each row.
    public var reportsOutcomes = false
    /// What becomes of rows that no uniqueness constraint of the entity gives a key, though it has some. Nil is no key, so
    /// such a row finds no stored object.
    public var missingKey = MissingKeyRule.insert
    /// Whether the result says how many rows are about an object that an earlier row of the request is about.
    public var reportsRepeats = false
    /// Whether a relationship whose target is not there leads nowhere then, instead of failing the batch.
    public var ignoresMissingTargets = false
    /// Whether a target that a row names by a key is made if nobody has that key when all rows are there. It has the values of the
    /// key and, beside the attributes' defaults, others that the first row that names it says along with them:
    /// ``RowTarget/keys(_:)`` takes more than a key then. What is there already stays as it is.
    public var createsTargets = false
    /// Whether the limits, lengths, patterns and validation predicates of the model hold for the values that rows have.
    /// Mandatory attributes and the ranges of integers hold in any case.
    public var validatesValues = true
    /// The stores that the rows may go to, by their identifiers, if there are several behind a coordinator: they go to the
    /// first of the coordinator's that is among these, can be written and takes the entity. Nil = any. A store that is none of
    /// them refuses the request, as a coordinator does that lacks one of them.
    public var affectedStores: [UUID]?
    /// Who writes.
    public var author: String?
    /// The name of the context that asks.
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

    /// Rows by a closure: the fast form.
    ///
    /// The closure is called until it returns true; the row of that last call is not inserted. It runs
    /// before the batch takes its turn to write, and must not use the store. Of a batch of more than 64 MiB the rows behind these
    /// are filled within the turn: meanwhile nobody else can write, and what the closure waits for, all wait for.
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

    /// Rows as dictionaries: convenient, and some thirty times slower than the closure.
    ///
    /// Keys are attribute names; the leaves of a composite attribute have dotted names, or are in a nested
    /// dictionary. Values are of the attribute's type, or numbers that can be converted exactly; nil is
    /// `NSNull` or an optional without value. What `JSONSerialization` returns can be given as it is.
    ///
    /// The value of a to-one relationship says its target: an `ObjectID`, the value of a key, or a dictionary of the values of
    /// one; see ``RowTarget``. That of a to-many relationship is a list of such values, or ``RowTargets``.
    public init(entityName: String, objects: [[String: Any]]) {
        self.entityName = entityName
        source = .dictionaries(DictionaryRows(objects))
    }

    /// Rows as dictionaries that a closure fills, so that not all of them are in memory at once; see
    /// ``init(entityName:objects:)`` for what may be in them.
    ///
    /// The closure gets an empty dictionary each time, and is called until it returns true; what it has filled in that last
    /// call is not inserted. It runs some rows ahead, and must not use the store: before the batch takes its turn to write, behind
    /// the first 64 MiB of rows within it, when others wait.
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

    /// Rows as values that encode themselves: comfortable, and some ten times slower than the closure.
    ///
    /// Each value encodes itself as an object whose keys are attribute names. A nested object gives the
    /// leaves of a composite attribute. Numbers are converted if that is exact. A key that is not encoded,
    /// as an optional property that is nil is not by default, counts as not named by the row; `encodeNil`
    /// sets nil. A to-one relationship is encoded as an `ObjectID`, as the value of its target's key, or as an object with the
    /// values of one; a to-many one as a list of these.
    public init<Rows: Sequence & Sendable>(entityName: String, encodable rows: Rows)
    where Rows.Element: Encodable {
        self.entityName = entityName
        source = .encodable(EncodableRows(rows))
    }
}

/// What a batch insert does about a row that has no key.
///
/// A row has none if each uniqueness constraint of the entity has a part that is nil in it, or a predicate that does not hold for
/// it. It is about no stored object then, and each time the same row is given another object comes of it.
public enum MissingKeyRule: Sendable, Hashable {
    /// It is a new object.
    case insert
    /// It is left out.
    case skip
    /// The request fails with `.missingMandatory`, whose details name the first hundred such rows.
    case fail
}

/// What became of one row of a batch insert.
public enum BatchRowOutcome: UInt8, Sendable {
    /// It is a new object.
    case inserted
    /// It changed a stored object.
    case updated
    /// It said what was stored already.
    case unchanged
    /// It was left out in favour of what is stored.
    case skipped
}

/// What a batch insert did.
public struct BatchInsertResult: Sendable {
    /// New objects.
    public var insertedCount = 0
    /// Stored objects that changed.
    public var updatedCount = 0
    /// Rows that said what was stored already.
    public var unchangedCount = 0
    /// Rows that were left out.
    public var skippedCount = 0
    /// Rows that no uniqueness constraint of the entity gives a key, though it has some: ``BatchInsertRequest/missingKey`` says what
    /// became of them.
    public var keylessCount = 0
    /// The first ten of them, by their places in the request from 0 on.
    public var keylessRows: [Int] = []
    /// Rows about an object that an earlier row of the request is about, if that was asked for.
    public var repeatedCount = 0
    /// The first ten of them, by their places in the request from 0 on.
    public var repeatedRows: [Int] = []
    /// Targets of relationships that were made.
    public var createdTargetCount = 0
    /// Objects that no row named and that were deleted, without those that a cascade reached.
    public var deletedCount = 0
    /// Objects that no row named and that were marked. Those that had the mark already are not counted.
    public var markedCount = 0
    /// The ids of inserted and updated objects, in the order of the rows, if they were asked for.
    public var objectIDs: [ObjectID] = []
    /// The ids of objects that no row named and that were marked, or deleted with what a cascade reached, if ids were asked for.
    public var missingIDs: [ObjectID] = []
    /// What became of each row, if that was asked for.
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
