// The changes that a context wants to write atomically.
//
// Values are given by column index of the object's entity. Relationships that are kept in a column are
// values of that column; those that are kept as pairs are listed as additions and removals.

public import CairnModel
public import FoundationEssentials

/// The changes of one save.
public struct SaveRequest: Sendable {
    /// A new object.
    public struct Inserted: Sendable {
        /// Its id: temporary, or permanent if one was obtained, or the id of an object that was deleted elsewhere and is to
        /// be created again.
        public var id: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// One value for each column. Values of derived attributes are ignored: the store computes them.
        public var values: [Value]
        /// The columns that were set, as opposed to having their default values.
        public var assigned: ColumnSet
        /// The last known version of an object that is created again; 0 for a new one. The new row has the next version, so
        /// that anyone who has read an earlier one can tell them apart.
        public var version: UInt32

        /// Describes a new object.
        public init(
            id: ObjectID, entity: Int, values: [Value], assigned: ColumnSet, version: UInt32 = 0
        ) {
            self.id = id
            self.entity = entity
            self.values = values
            self.assigned = assigned
            self.version = version
        }
    }

    /// A changed object.
    public struct Updated: Sendable {
        /// Its id.
        public var id: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// The row on which the changes are based.
        public var base: Row
        /// The changed columns with their new values. Values of derived attributes are ignored.
        public var changes: [(column: Int, value: Value)]

        /// Describes a changed object.
        public init(id: ObjectID, entity: Int, base: Row, changes: [(column: Int, value: Value)]) {
            self.id = id
            self.entity = entity
            self.base = base
            self.changes = changes
        }
    }

    /// An object to delete.
    public struct Deleted: Sendable {
        /// Its id.
        public var id: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// The version that was current when it was deleted; nil if its row was never read.
        public var version: UInt32?
        /// The row of that version, if available. With it, a store can distinguish a changed row from one in which only
        /// derived values were recomputed.
        public var base: Row?

        /// Describes a deleted object.
        public init(id: ObjectID, entity: Int, version: UInt32?, base: Row? = nil) {
            self.id = id
            self.entity = entity
            self.version = version
            self.base = base
        }
    }

    /// An object that the save does not change, and that must not have been changed elsewhere.
    public struct Locked: Sendable {
        /// Its id.
        public var id: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// The row that must still be current.
        public var base: Row

        /// Describes an object that must be unchanged.
        public init(id: ObjectID, entity: Int, base: Row) {
            self.id = id
            self.entity = entity
            self.base = base
        }
    }

    /// A pair to add to, or remove from, a relationship that is stored as pairs.
    ///
    /// Adding an existing pair and removing a missing one have no effect. If the relationship is its own inverse, a pair
    /// means the same in both directions.
    public struct PairChange: Sendable, Hashable {
        /// The relationship, as an index of the schema's pairs.
        public var pairs: Int
        /// The object on the source side.
        public var source: ObjectID
        /// The object on the destination side.
        public var destination: ObjectID
        /// Whether the pair is added.
        public var isAddition: Bool

        /// Describes a change of a pair.
        public init(pairs: Int, source: ObjectID, destination: ObjectID, isAddition: Bool) {
            self.pairs = pairs
            self.source = source
            self.destination = destination
            self.isAddition = isAddition
        }
    }

    /// The order of an ordered to-many relationship of one object.
    ///
    /// Members that a save adds are appended automatically, in the order of their creation. Only another order requires
    /// this change. References and pairs alone determine the members: other objects that are listed here are ignored.
    public struct OrderChange: Sendable, Hashable {
        /// The object that owns the members.
        public var owner: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// The relationship, as an index of the entity's.
        public var relationship: Int
        /// All members in their new order; without a base, the members to append.
        public var members: [ObjectID]
        /// The order on which the change is based; nil to append the members.
        public var base: [ObjectID]?

        /// Describes a new order.
        public init(
            owner: ObjectID, entity: Int, relationship: Int, members: [ObjectID], base: [ObjectID]?
        ) {
            self.owner = owner
            self.entity = entity
            self.relationship = relationship
            self.members = members
            self.base = base
        }
    }

    /// A to-many relationship of an object.
    public struct List: Sendable, Hashable {
        /// The object.
        public var owner: ObjectID
        /// The relationship, as an index of its entity's.
        public var relationship: Int

        /// Creates a reference to a relationship of an object.
        public init(owner: ObjectID, relationship: Int) {
            self.owner = owner
            self.relationship = relationship
        }
    }

    /// An object that the request deletes, and the object that replaces it.
    public struct Redirected: Sendable, Hashable {
        /// The id of the deleted object, or the id that was obtained for a new object which was merged into another one
        /// before it was stored.
        public var id: ObjectID
        /// The id of the object that replaces it: a new, changed, or unchanged object of the same hierarchy, or one that
        /// the request redirects itself.
        public var survivor: ObjectID

        /// Redirects an id.
        public init(id: ObjectID, survivor: ObjectID) {
            self.id = id
            self.survivor = survivor
        }
    }

    /// How conflicts are resolved.
    public enum Resolution: Sendable, Hashable {
        /// With a built-in policy, within the save. The error policy throws.
        case policy(MergePolicyKind)
        /// Not at all: nothing is written, and the conflicts are returned.
        case report
    }

    /// New objects, in the order of their creation.
    public var inserted: [Inserted] = []
    /// Changed objects.
    public var updated: [Updated] = []
    /// Objects to delete. The caller has applied delete rules.
    public var deleted: [Deleted] = []
    /// Those of the objects to delete that were merged into others: their ids redirect to the survivors. This does not
    /// change remaining references: the caller that merges objects, or delete rules, must have done so. Objects that a
    /// built-in policy of the request merges into others, or deletes in favor of others, are redirected automatically.
    ///
    /// If the object is not deleted after all, or the survivor is deleted concurrently, its id is not redirected. After the
    /// first save with redirects, versions of this library that do not support redirects can read the store but not write
    /// to it.
    public var redirects: [Redirected] = []
    /// Objects that must not have changed since they were read. An object that was changed or deleted elsewhere is a
    /// conflict if conflicts are reported and under the error policy; other policies ignore it, because the object has no
    /// changes. Objects that the request itself changes or deletes are checked as changed or deleted objects.
    public var locked: [Locked] = []
    /// Pairs added and removed.
    public var pairChanges: [PairChange] = []
    /// The order of lists, applied after changes of pairs and references.
    public var orderChanges: [OrderChange] = []
    /// How conflicts are resolved.
    public var resolution: Resolution = .policy(.error)
    /// Whether a new object that is merged into a stored one passes only the properties that were set.
    public var mergesAssignedOnly = false
    /// The author.
    public var author: String?
    /// The name of the context that saves.
    public var contextName: String?
    /// Whether some of its values wait in the store; see `StagedValue`.
    package var hasStagedValues = false
    /// Whether mandatory properties may be nil: a migration, which sets them later, asks for that.
    package var leavesMandatoryOpen = false

    /// Creates an empty request.
    public init() {}
}

/// The outcome of a save.
public enum SaveOutcome: Sendable {
    /// The save was written.
    case saved(SaveResult)
    /// Nothing was written, because of these conflicts.
    case conflicts([SaveConflict])
}

/// The effects of a save on each object.
public struct SaveResult: Sendable {
    /// The number of the commit; nil if there was nothing to write.
    public var commit: UInt64?
    /// For a save to a coordinator: the numbers of the commits, by the identifiers of the stores that were written.
    /// `commit` is the last of them. Empty for a single store.
    public var commits: [UUID: UInt64] = [:]
    /// The permanent ids of new objects, by their temporary ids.
    public var permanentIDs: [ObjectID: ObjectID] = [:]
    /// The rows that the save wrote, in their stored state: those of inserted and updated objects, merged if a policy
    /// merged them, and those in which references were cleared or changed, or derived attributes recomputed.
    public var rows: [ObjectID: Row] = [:]
    /// Written objects whose rows are not in `rows`: objects outside the request whose derived attributes were recomputed,
    /// if there are many, and objects that got a value that was already in the store before the save. Contexts that contain
    /// them read them again.
    public var recomputed: [ObjectID] = []
    /// Objects of the request that were merged into, or dropped in favor of, another object: the survivor's permanent id,
    /// by the id in the request.
    public var absorbed: [ObjectID: ObjectID] = [:]
    /// Updated objects that were reverted to their stored state; their rows are in `rows`, unless they were deleted
    /// elsewhere.
    public var reverted: [ObjectID] = []
    /// Stored objects that the policy deleted.
    public var displaced: [ObjectID] = []
    /// The objects that now have the keys of the displaced ones, by permanent ids. Old ids are redirected to them.
    public var successors: [ObjectID: ObjectID] = [:]
    /// Deleted objects whose deletion the policy reverted; their rows are in `rows`.
    public var undeleted: [ObjectID] = []
    /// Lists whose new order differs from the request's, because they were also changed elsewhere; by the permanent id of
    /// the owner.
    public var reordered: [SaveRequest.List] = []

    /// Creates the result of a save that wrote nothing.
    public init() {}
}
