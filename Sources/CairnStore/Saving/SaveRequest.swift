// What a context wants written, as one unit.
//
// Values are given by column index of the object's entity. Relationships that are kept in a column are
// values of that column; those that are kept as pairs are listed as additions and removals.

public import CairnModel
public import FoundationEssentials

/// The changes of one save.
public struct SaveRequest: Sendable {
    /// A new object.
    public struct Inserted: Sendable {
        /// Its id: temporary, or permanent if one was obtained, or that of an object which somebody else has
        /// deleted and which is to be created again.
        public var id: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// One value for each column. Those of derived attributes are not looked at: the store computes them.
        public var values: [Value]
        /// Which columns were set, as opposed to having their default.
        public var assigned: ColumnSet
        /// The version that was last known of an object which is created again; 0 for one that never was. The new row's is
        /// the next: whoever has read an earlier one sees that this is another.
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
        /// The row that the changes were made against.
        public var base: Row
        /// The columns that changed, with their new values. Derived attributes are not looked at.
        public var changes: [(column: Int, value: Value)]

        /// Describes a changed object.
        public init(id: ObjectID, entity: Int, base: Row, changes: [(column: Int, value: Value)]) {
            self.id = id
            self.entity = entity
            self.base = base
            self.changes = changes
        }
    }

    /// An object to be deleted.
    public struct Deleted: Sendable {
        /// Its id.
        public var id: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// The version that was seen when it was deleted; nil if its row was never read.
        public var version: UInt32?
        /// The row of that version, if it is at hand: with it a store can tell a row that somebody has changed from
        /// one in which only derived values were recomputed.
        public var base: Row?

        /// Describes a deleted object.
        public init(id: ObjectID, entity: Int, version: UInt32?, base: Row? = nil) {
            self.id = id
            self.entity = entity
            self.version = version
            self.base = base
        }
    }

    /// An object that is not changed, and must not have been changed by others either.
    public struct Locked: Sendable {
        /// Its id.
        public var id: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// The row that must still be there.
        public var base: Row

        /// Describes an object that must be unchanged.
        public init(id: ObjectID, entity: Int, base: Row) {
            self.id = id
            self.entity = entity
            self.base = base
        }
    }

    /// A pair that is added to, or removed from, a relationship kept as pairs.
    ///
    /// Adding what is there and removing what is not changes nothing. Where the relationship is its own
    /// inverse, a pair means the same in both directions.
    public struct PairChange: Sendable, Hashable {
        /// Which pairs, as an index of the schema.
        public var pairs: Int
        /// The object on the source side.
        public var source: ObjectID
        /// The object on the destination side.
        public var destination: ObjectID
        /// Whether it is added.
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
    /// Members that a save adds come to the end by themselves, in the order of their creation. Only another order has to be
    /// asked for. Who is a member is decided by references and pairs alone: others that are named here count for nothing.
    public struct OrderChange: Sendable, Hashable {
        /// The object whose members they are.
        public var owner: ObjectID
        /// Its entity, as an index of the schema.
        public var entity: Int
        /// The relationship, as an index of the entity's.
        public var relationship: Int
        /// All members in their new order; or, without a base, those that are put at the end.
        public var members: [ObjectID]
        /// The order that the change was made against; nil if the members are to be put at the end.
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

    /// A to-many relationship of one object.
    public struct List: Sendable, Hashable {
        /// The object.
        public var owner: ObjectID
        /// The relationship, as an index of its entity's.
        public var relationship: Int

        /// Names a relationship of an object.
        public init(owner: ObjectID, relationship: Int) {
            self.owner = owner
            self.relationship = relationship
        }
    }

    /// An object that the request deletes, and the one that is in its place from then on.
    public struct Redirected: Sendable, Hashable {
        /// The id of the object that is deleted, or that a new object was given which has become another one before it was ever
        /// stored.
        public var id: ObjectID
        /// The id that is meant by whoever asks for it: of a new, changed, or untouched object of the same hierarchy, or of one
        /// that the request leads to another itself.
        public var survivor: ObjectID

        /// Says where an id is to lead.
        public init(id: ObjectID, survivor: ObjectID) {
            self.id = id
            self.survivor = survivor
        }
    }

    /// What is done about conflicts.
    public enum Resolution: Sendable, Hashable {
        /// By a built-in policy, within the save. Its error policy throws.
        case policy(MergePolicyKind)
        /// Not at all: nothing is written and the conflicts are returned.
        case report
    }

    /// New objects, in the order of their creation.
    public var inserted: [Inserted] = []
    /// Changed objects.
    public var updated: [Updated] = []
    /// Objects to be deleted. The caller has applied delete rules.
    public var deleted: [Deleted] = []
    /// Objects among those to be deleted that were folded into others: their ids lead there. What refers to them still is not
    /// changed by it: whoever folds objects does that, or the delete rules have. Objects that a built-in policy of the request
    /// merges into others, or deletes in favour of others, are redirected there without being named.
    ///
    /// Where the object stays after all, or the other one is deleted meanwhile, the id leads nowhere else. From the first save
    /// on that has any, versions of this library that know no redirects can read the store and cannot write to it.
    public var redirects: [Redirected] = []
    /// Objects that must be as they were read. One that somebody has changed or deleted since is a conflict if conflicts
    /// are reported and under the error policy; the other policies have nothing to decide about an object without
    /// changes. Those that are changed or deleted by the request itself are compared as such.
    public var locked: [Locked] = []
    /// Pairs added and removed.
    public var pairChanges: [PairChange] = []
    /// The order of lists, after pairs and references have changed.
    public var orderChanges: [OrderChange] = []
    /// What is done about conflicts.
    public var resolution: Resolution = .policy(.error)
    /// Whether a new object that is merged into a stored one gives it only what was assigned.
    public var mergesAssignedOnly = false
    /// Who writes.
    public var author: String?
    /// The name of the context that saves.
    public var contextName: String?
    /// Whether some of its values wait in the store; see `StagedValue`.
    package var hasStagedValues = false
    /// Whether mandatory properties may be nil: a migration, which sets them later, asks for that.
    package var leavesMandatoryOpen = false

    /// An empty request.
    public init() {}
}

/// What a save did.
public enum SaveOutcome: Sendable {
    /// It is written.
    case saved(SaveResult)
    /// Nothing is written, because of these conflicts.
    case conflicts([SaveConflict])
}

/// What a save did to each object.
public struct SaveResult: Sendable {
    /// The number of the commit; nil if there was nothing to write.
    public var commit: UInt64?
    /// Of a save to a coordinator: the numbers of the commits, by the identifiers of the stores that were written. `commit` is
    /// that of the last of them. Empty for a store alone.
    public var commits: [UUID: UInt64] = [:]
    /// The permanent ids of new objects that had temporary ones.
    public var permanentIDs: [ObjectID: ObjectID] = [:]
    /// The rows that the save wrote, as they are now stored: those of inserted and updated objects, merged
    /// where a policy merged, and those in which a reference was cleared or re-pointed, or a derived attribute
    /// was computed anew.
    public var rows: [ObjectID: Row] = [:]
    /// Objects whose rows are not in `rows` though they were written: such as the request does not name and in which derived
    /// attributes were computed anew, where they are many, and such as got a value that was in the store before the save.
    /// Contexts that have them read them again.
    public var recomputed: [ObjectID] = []
    /// Objects of the request that were merged into, or dropped in favour of, another one: by the id they
    /// had in the request, the survivor's permanent id.
    public var absorbed: [ObjectID: ObjectID] = [:]
    /// Updated objects that went back to what is stored; their rows are in `rows`, unless somebody else has
    /// deleted them.
    public var reverted: [ObjectID] = []
    /// Stored objects that the policy deleted.
    public var displaced: [ObjectID] = []
    /// The objects that have the keys of these now, by permanent ids: who has an id of before is led to them.
    public var successors: [ObjectID: ObjectID] = [:]
    /// Deleted objects whose deletion the policy took back; their rows are in `rows`.
    public var undeleted: [ObjectID] = []
    /// Lists whose order the request changed and that came to be otherwise than it said, since somebody else has changed them
    /// too; by the permanent id of the owner.
    public var reordered: [SaveRequest.List] = []

    /// A result of a save that wrote nothing.
    public init() {}
}
