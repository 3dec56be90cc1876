// Errors between an object layer and a store.
//
// One struct for every failure: a number that Core Data's users know, a sentence, where it happened, and
// for a save the conflicts. Codes can be added without breaking a switch.
//
// Invariants: no value of a user's object stands in `message` or `description`, which go into logs: values are in
// fields of their own, and `fullDescription` shows them to whoever asks for it.

public import CairnModel
public import FoundationEssentials

/// An error of a store, a save, a fetch or a batch request.
public struct StoreError: Error, Sendable {
    /// The kind of error, with Core Data's number for it.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The number.
        public let rawValue: Int

        /// The code with that number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The number as text.
        public var description: String { "\(rawValue)" }

        /// The operation was cancelled.
        public static let cancelled = Code(rawValue: 3072)
        /// Several errors; see `StoreError.details`.
        public static let multiple = Code(rawValue: 1560)
        /// A value is invalid, by a validation predicate of the model or by the object's own validation.
        public static let validation = Code(rawValue: 1550)
        /// Custom validation found that a value is not unique. A save throws `.constraintConflict` instead.
        public static let constraintValidation = Code(rawValue: 1551)
        /// A required property is nil.
        public static let missingMandatory = Code(rawValue: 1570)
        /// A relationship has too few members.
        public static let tooFewMembers = Code(rawValue: 1580)
        /// A relationship has too many members.
        public static let tooManyMembers = Code(rawValue: 1590)
        /// A delete rule denies the deletion.
        public static let deleteDenied = Code(rawValue: 1600)
        /// The object is not in the store.
        public static let objectNotFound = Code(rawValue: 133_000)
        /// A relationship refers to an object in another store.
        public static let foreignObject = Code(rawValue: 133_010)
        /// The object was changed elsewhere.
        public static let mergeConflict = Code(rawValue: 133_020)
        /// A uniqueness constraint is violated.
        public static let constraintConflict = Code(rawValue: 133_021)
        /// The store cannot be opened.
        public static let openFailed = Code(rawValue: 134_080)
        /// Another process writes to the store.
        public static let storeInUse = Code(rawValue: 134_090)
        /// The store was created with another model.
        public static let incompatibleModel = Code(rawValue: 134_100)
        /// A store could not be migrated to a changed model. The store has not changed.
        public static let migrationFailed = Code(rawValue: 134_110)
        /// Objects would violate a uniqueness constraint that is new or has changed. The store has not changed.
        public static let migrationConstraintViolation = Code(rawValue: 134_111)
        /// The migration was cancelled. The store has not changed.
        public static let migrationCancelled = Code(rawValue: 134_120)
        /// None of the models is the one with which the store was created.
        public static let missingSourceModel = Code(rawValue: 134_130)
        /// The migration between two models cannot be inferred and requires a mapping model.
        public static let cannotInferMapping = Code(rawValue: 134_190)
        /// The store cannot execute the request.
        public static let invalidRequest = Code(rawValue: 134_060)
        /// The store is read-only.
        public static let readOnly = Code(rawValue: 134_030)
        /// A save wrote some of several stores, but not all, or no store takes an object; see `StoreError.details`.
        public static let incompleteSave = Code(rawValue: 134_040)
        /// A save has unresolved conflicts; see `StoreError.conflicts`. A custom store can throw it instead of returning
        /// ``SaveOutcome/conflicts(_:)``: then the context's merge policy resolves them.
        public static let saveConflicts = Code(rawValue: 134_050)
        /// Reading or writing failed in the operating system.
        public static let inputOutput = Code(rawValue: 134_070)
        /// The disk is full, or a quota is exhausted. Nothing was changed; writing works again once there is space.
        public static let noSpace = Code(rawValue: 640)
        /// The store is corrupt.
        public static let damaged = Code(rawValue: 134_085)
        /// The store was closed, or cannot be written after an earlier failure.
        public static let unusable = Code(rawValue: 134_086)
        /// It is unknown whether a save or a batch was committed: the connection to the server was lost, and its outcome
        /// could not be queried. It was committed either completely or not at all.
        public static let commitUnknown = Code(rawValue: 134_087)
        /// A snapshot expired, because it kept too much space from being reclaimed, or because its server ended it.
        public static let snapshotExpired = Code(rawValue: 134_062)
        /// Some of the history after a token was deleted, so the changes since then are unknown.
        public static let historyTokenExpired = Code(rawValue: 134_301)
        /// The state after a commit is not kept, or the commit does not exist yet.
        public static let pastStateUnavailable = Code(rawValue: 134_063)
        /// The source of a batch's rows threw an error; see `StoreError.cause`.
        public static let rowsFailed = Code(rawValue: 134_061)
    }

    /// Where the error occurred, as far as known.
    public struct Context: Sendable, Hashable {
        /// The entity's name.
        public var entity: String?
        /// The property's name.
        public var key: String?
        /// The row of a batch, from 0.
        public var row: Int?
        /// The object.
        public var objectID: ObjectID?
        /// What is seldom known. An error is passed through deep recursions, whose frames have room for one: it must be small.
        private var rare: Rare?

        private struct Fields: Sendable, Hashable {
            var path: String?
            var segment: UInt32?
            var offset: UInt64?
            var value: Value?
            var predicate: PredicateNode?
            var detail: String?
            var affectedStores: [UUID] = []
        }

        private indirect enum Rare: Sendable, Hashable { case fields(Fields) }

        private var fields: Fields {
            get { if case .fields(let fields) = rare { fields } else { Fields() } }
            set { rare = newValue == Fields() ? nil : .fields(newValue) }
        }

        /// The store's folder or the file in it.
        public var path: String? {
            get { fields.path }
            set { fields.path = newValue }
        }
        /// The segment's number.
        public var segment: UInt32? {
            get { fields.segment }
            set { fields.segment = newValue }
        }
        /// The byte offset in the segment.
        public var offset: UInt64? {
            get { fields.offset }
            set { fields.offset = newValue }
        }
        /// The invalid value. Only ``StoreError/fullDescription`` shows it.
        public var value: Value? {
            get { fields.value }
            set { fields.value = newValue }
        }
        /// The validation predicate that the value violates.
        public var predicate: PredicateNode? {
            get { fields.predicate }
            set { fields.predicate = newValue }
        }
        /// The message with the values in question, if there is one. Only ``StoreError/fullDescription`` shows it.
        public var detail: String? {
            get { fields.detail }
            set { fields.detail = newValue }
        }

        /// The identifiers of the stores in question, if there are several; see ``StoreError/affectedStores``.
        public var affectedStores: [UUID] {
            get { fields.affectedStores }
            set { fields.affectedStores = newValue }
        }

        /// Specifies where something happened.
        public init(
            entity: String? = nil, key: String? = nil, row: Int? = nil, objectID: ObjectID? = nil,
            path: String? = nil, segment: UInt32? = nil, offset: UInt64? = nil,
            value: Value? = nil, predicate: PredicateNode? = nil, detail: String? = nil
        ) {
            self.entity = entity
            self.key = key
            self.row = row
            self.objectID = objectID
            fields = Fields(
                path: path, segment: segment, offset: offset, value: value, predicate: predicate,
                detail: detail)
        }
    }

    /// The kind of error.
    public var code: Code
    /// What happened, as a sentence without users' data.
    public var message: String
    /// Where it happened.
    public var context: Context
    /// The individual errors of `.multiple`.
    public var details: [StoreError]
    /// The conflicts of a save that failed with `.mergeConflict`, `.constraintConflict` or `.saveConflicts`.
    public var conflicts: [SaveConflict]
    /// The underlying error.
    public var cause: (any Error)?

    /// Creates an error with its context.
    public init(
        _ code: Code, _ message: String, context: Context = Context(), details: [StoreError] = [],
        conflicts: [SaveConflict] = [], cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.context = context
        self.details = details
        self.conflicts = conflicts
        self.cause = cause
    }
}

extension StoreError {
    /// The identifiers of the stores in question, if there are several behind a coordinator. If a save has written some
    /// stores and others not, those that it has not written.
    public var affectedStores: [UUID] {
        get { context.affectedStores }
        set { context.affectedStores = newValue }
    }
}

extension StoreError: CustomStringConvertible {
    /// The message with its context, the first ten of ``conflicts``, and the messages of ``details``. It contains no values
    /// of objects and is safe to log; ``fullDescription`` contains them.
    public var description: String {
        var lines = conflicts.prefix(Self.shownConflicts).map { $0.text(withValues: false) }
        if conflicts.count > lines.count {
            lines.append("and \(conflicts.count - lines.count) more")
        }
        lines += details.map { "\($0)" }
        return ([headline] + lines).joined(separator: "\n  ")
    }

    private static let shownConflicts = 10

    /// The sentence with its place.
    var headline: String {
        var places: [String] = []
        if let entity = context.entity {
            places.append(context.key.map { "\(entity).\($0)" } ?? entity)
        } else if let key = context.key {
            places.append(key)
        }
        if let row = context.row { places.append("row \(row + 1)") }
        if let path = context.path { places.append(path) }
        if let segment = context.segment { places.append("segment \(segment)") }
        if let offset = context.offset { places.append("offset \(offset)") }
        let place = places.isEmpty ? "" : places.joined(separator: ", ") + ": "
        return "\(place)\(message) (\(code))"
    }
}
