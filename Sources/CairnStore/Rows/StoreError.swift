// What can go wrong between an object layer and a store.
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
    /// The kind of error, with the number that Core Data uses for it.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The number.
        public let rawValue: Int

        /// The code with that number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The number as text.
        public var description: String { "\(rawValue)" }

        /// It was cancelled.
        public static let cancelled = Code(rawValue: 3072)
        /// Several errors; see `StoreError.details`.
        public static let multiple = Code(rawValue: 1560)
        /// A value is refused, by a validation predicate of the model or by the object's own validation.
        public static let validation = Code(rawValue: 1550)
        /// A validation of one's own has found that a value is not unique. A save says `.constraintConflict`.
        public static let constraintValidation = Code(rawValue: 1551)
        /// A mandatory property is nil.
        public static let missingMandatory = Code(rawValue: 1570)
        /// A relationship has too few members.
        public static let tooFewMembers = Code(rawValue: 1580)
        /// A relationship has too many members.
        public static let tooManyMembers = Code(rawValue: 1590)
        /// A delete rule forbids the deletion.
        public static let deleteDenied = Code(rawValue: 1600)
        /// The object is not in the store.
        public static let objectNotFound = Code(rawValue: 133_000)
        /// A relationship leads into another store.
        public static let foreignObject = Code(rawValue: 133_010)
        /// Somebody else changed the object meanwhile.
        public static let mergeConflict = Code(rawValue: 133_020)
        /// A uniqueness constraint is violated.
        public static let constraintConflict = Code(rawValue: 133_021)
        /// The store cannot be opened.
        public static let openFailed = Code(rawValue: 134_080)
        /// Another process writes to the store.
        public static let storeInUse = Code(rawValue: 134_090)
        /// The store was made with another model.
        public static let incompatibleModel = Code(rawValue: 134_100)
        /// A store could not follow a change of its model; it is as it was.
        public static let migrationFailed = Code(rawValue: 134_110)
        /// Objects would not agree with a uniqueness constraint that is new or has changed; the store is as it was.
        public static let migrationConstraintViolation = Code(rawValue: 134_111)
        /// The migration was cancelled; the store is as it was.
        public static let migrationCancelled = Code(rawValue: 134_120)
        /// No model is the one that the store was made with.
        public static let missingSourceModel = Code(rawValue: 134_130)
        /// How a model becomes another cannot be inferred: a mapping has to say it.
        public static let cannotInferMapping = Code(rawValue: 134_190)
        /// A request that the store cannot carry out.
        public static let invalidRequest = Code(rawValue: 134_060)
        /// The store is opened for reading only.
        public static let readOnly = Code(rawValue: 134_030)
        /// Of several stores some were written and others not, or no store takes an object; see `StoreError.details`.
        public static let incompleteSave = Code(rawValue: 134_040)
        /// A save met conflicts that nobody has resolved; see `StoreError.conflicts`. A store of one's own may throw it instead of
        /// giving back ``SaveOutcome/conflicts(_:)``: the context's merge policy is asked then.
        public static let saveConflicts = Code(rawValue: 134_050)
        /// Reading or writing failed in the operating system.
        public static let inputOutput = Code(rawValue: 134_070)
        /// The disk is full, or a quota is used up. Nothing was changed; writing works again once there is room.
        public static let noSpace = Code(rawValue: 640)
        /// The store's bytes are damaged.
        public static let damaged = Code(rawValue: 134_085)
        /// The store was closed, or an earlier failure forbids writing.
        public static let unusable = Code(rawValue: 134_086)
        /// Whether a save or a batch was committed is not known: the server that it was sent to went away, and nobody could be
        /// asked. It was either committed as a whole or not at all.
        public static let commitUnknown = Code(rawValue: 134_087)
        /// A snapshot was given up, since it kept too much space from being given back, or by the server that kept it.
        public static let snapshotExpired = Code(rawValue: 134_062)
        /// Some of the history behind a token was deleted, so that it cannot say what has changed since.
        public static let historyTokenExpired = Code(rawValue: 134_301)
        /// The state behind a commit is not kept, or the commit is still to come.
        public static let pastStateUnavailable = Code(rawValue: 134_063)
        /// What gives the rows of a batch threw an error of its own; see `StoreError.cause`.
        public static let rowsFailed = Code(rawValue: 134_061)
    }

    /// Where it happened, as far as that is known.
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
        /// The byte position in the segment.
        public var offset: UInt64? {
            get { fields.offset }
            set { fields.offset = newValue }
        }
        /// The value that is refused; only ``StoreError/fullDescription`` shows it.
        public var value: Value? {
            get { fields.value }
            set { fields.value = newValue }
        }
        /// The validation predicate that the value does not hold.
        public var predicate: PredicateNode? {
            get { fields.predicate }
            set { fields.predicate = newValue }
        }
        /// The sentence with the values that it is about, if it has one of the kind; only ``StoreError/fullDescription``
        /// shows it.
        public var detail: String? {
            get { fields.detail }
            set { fields.detail = newValue }
        }

        /// The identifiers of the stores that it is about, if there are several; see ``StoreError/affectedStores``.
        public var affectedStores: [UUID] {
            get { fields.affectedStores }
            set { fields.affectedStores = newValue }
        }

        /// Says where something happened.
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
    /// What happened, as a sentence without anybody's data.
    public var message: String
    /// Where it happened.
    public var context: Context
    /// The single errors of `.multiple`.
    public var details: [StoreError]
    /// The conflicts of a save that failed with `.mergeConflict`, `.constraintConflict` or `.saveConflicts`.
    public var conflicts: [SaveConflict]
    /// The underlying error.
    public var cause: (any Error)?

    /// An error with its place.
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
    /// The identifiers of the stores that the error is about, if there are several behind a coordinator: of a save that some
    /// stores have written and others not, those that have not.
    public var affectedStores: [UUID] {
        get { context.affectedStores }
        set { context.affectedStores = newValue }
    }
}

extension StoreError: CustomStringConvertible {
    /// The sentence with its place, the first ten of ``conflicts``, and the sentences of ``details``. No value of an object
    /// stands in it, so it may be logged: ``fullDescription`` has those too.
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
