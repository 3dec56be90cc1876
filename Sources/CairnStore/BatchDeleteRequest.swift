// Deletes many objects as one unit, without loading them.

public import CairnModel

/// A batch delete: the objects that a fetch finds, or those of a list of ids.
///
/// The delete rules of the model are applied by the store: nullify clears what points at a deleted object,
/// cascade deletes on, deny refuses the whole request. What stands against it is found before anything is deleted, and all of
/// it is told: each object that cannot be deleted with the relationship, and as the value the object that is in it.
public struct BatchDeleteRequest: Sendable {
    /// Which objects.
    public enum Target: Sendable {
        /// Those that a fetch finds; its sort order, limit and offset are respected.
        case fetch(StoreFetch)
        /// Those with these ids; ids that do not exist are passed over.
        case ids([ObjectID], entity: Int)
    }
    /// What the result should contain.
    public enum ResultType: Int, Sendable {
        /// Success alone.
        case statusOnly = 0
        /// The ids of the deleted objects.
        case objectIDs = 1
        /// How many objects were deleted.
        case count = 2
    }
    /// Which objects.
    public var target: Target
    /// What the result should contain.
    public var resultType = ResultType.statusOnly
    /// Whether the result lists the ids.
    public var reportsIDs: Bool {
        get { resultType == .objectIDs }
        set { resultType = newValue ? .objectIDs : .statusOnly }
    }
    /// Who writes.
    public var author: String?
    /// The name of the context that asks.
    public var contextName: String?

    /// Deletes objects.
    public init(_ target: Target) {
        self.target = target
    }
}

/// What a batch delete did.
public struct BatchDeleteResult: Sendable {
    /// How many objects the request named and deleted, without those that a cascade reached.
    public var deletedCount = 0
    /// How many more a cascade deleted.
    public var cascadedCount = 0
    /// The ids of all deleted objects, if they were asked for.
    public var objectIDs: [ObjectID] = []
    /// The number of the commit; nil if there was nothing to delete.
    public var commit: UInt64?

    /// An empty result.
    public init() {}
}
