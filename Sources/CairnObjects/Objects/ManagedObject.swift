// One object of a context.
//
// An object is a fault until somebody touches it: it has an id, an entity and a context, nothing else. Then
// its row is read; the cells stay as they are and a value is made of one when it is asked for. Edits are
// kept beside the row, so that "what changed" and "what was it before" cost nothing to answer.
//
//   new         no row; a value that was not set is the model's default
//   fault       perhaps a row that a fetch has brought along, not yet looked at
//   fulfilled   a row, and edits of columns that differ from it
//   gone        deleted by somebody else: every value is nil
//
// Invariants: one object for one id in a context; `edits` of a stored object differ from its row.
// Threads: the context's. Only the deinit may run elsewhere, and touches the registry alone.

public import CairnModel
import CairnStore

/// An object of a context: an instance of an entity.
///
/// Values are read and set by key, ``subscript(_:)`` or ``value(forKey:)``. An object belongs to its
/// context and must not leave it; its ``objectID`` may.
open class ManagedObject {
    /// The entity.
    public final let entity: SchemaEntity
    /// The identity: temporary until the object is saved or was given a permanent one.
    public internal(set) final var objectID: ObjectID
    /// The context, or nil if the object has left it or never was in one. An object keeps its context alive.
    public internal(set) final var managedObjectContext: ManagedObjectContext?
    /// Whether the object is new and not saved.
    public internal(set) final var isInserted = false
    /// Whether somebody set a property since the last save, be it to the value it had.
    public internal(set) final var isUpdated = false
    /// Whether the object is to be deleted by the next save, or is gone already.
    public internal(set) final var isDeleted = false
    /// The object that took this one's place when a save found two with one unique key; nil if none did.
    public internal(set) final var absorbedInto: ObjectID?

    /// What generated code says of the class; nil if it is not marked `@Entity`.
    open class var _typedEntity: TypedEntity? { nil }
    /// Where the class's properties are in the entity, once somebody has asked.
    final var knownBinding: EntityBinding?

    final var registry: ObjectRegistry?
    /// What is stored, as far as this object knows.
    final var row: Row?
    /// Whether the row was looked at.
    final var isFulfilled = false
    /// Whether the row turned out to be gone.
    final var isGone = false
    /// Values by column: of a new object those that were set, of a stored one those that differ.
    final var edits: [Int: Value] = [:]
    /// Columns of a new object that somebody set.
    final var assigned = ColumnSet()
    /// Columns that were set as primitive values, which nobody is told of.
    final var untracked = ColumnSet()
    /// Columns that were set while the object awoke from a fetch: seen by readers, never saved.
    final var awakened = ColumnSet()
    /// To-many relationships that somebody asked for or changed, by index.
    final var toMany: [Int: ToManyState] = [:]
    /// Values of transient attributes, by index.
    final var transients: [Int: Value] = [:]
    /// Targets of transient to-one relationships, by index.
    final var transientTargets: [Int: ObjectID] = [:]
    /// Rises with creation and first change: the order in which a save sees objects.
    final var order: UInt64 = 0
    /// Whether values are being set that are no edits.
    final var isAwakening = false
    /// Whether the delete rules have been applied.
    final var isPropagated = false
    /// Whether it is inserted again under its id, because somebody else has deleted it.
    final var isRecreated = false
    /// Whether a merge policy deleted it, which no delete rule can forbid.
    final var isDisplaced = false

    /// Makes an object and inserts it into a context.
    ///
    /// Override it only to give stored properties of a subclass their values: it also runs when an object
    /// is made for a stored row. Use ``awakeFromInsert()`` to prepare a new object.
    public required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
        precondition(
            !entity.isAbstract || context == nil,
            "\(entity.name) is abstract: it has no objects of its own")
        self.entity = entity
        objectID = ObjectID(
            temporary: ManagedObjectContext.nextTemporaryReference(), hierarchy: 0,
            context: ManagedObjectContext.nowhere)
        context?.insert(self)
    }

    /// Makes an object of the class's entity and inserts it into a context.
    public required convenience init(context: ManagedObjectContext) {
        self.init(entity: context.entity(for: Self.self), insertInto: context)
    }

    deinit {
        registry?.deregister(objectID)
    }

    /// Whether the object's values have not been read yet. Asking does not read them.
    public final var isFault: Bool {
        !isFulfilled && !isInserted && !isGone && managedObjectContext != nil
    }

    /// Whether the object is new, changed or to be deleted.
    public final var hasChanges: Bool { isInserted || isUpdated || isDeleted }

    // MARK: Hooks

    /// Called once when the object is inserted, its defaults in place. Call super.
    open func awakeFromInsert() {}

    /// Called when the object's values were read. What is set here is no edit. Call super.
    open func awakeFromFetch() {}

    /// Called before the object is saved, again after each round of changes that this brings about.
    open func willSave() {}

    /// Called after the object was saved. What is set here is a new edit.
    open func didSave() {}

    /// Called when the object is deleted, its relationships still in place; again on every further delete.
    open func prepareForDeletion() {}

    /// Called before the object lets go of its values.
    open func willTurnIntoFault() {}

    /// Called after the object has let go of its values.
    open func didTurnIntoFault() {}

    /// Checks a new object before it is saved. Call super.
    ///
    /// - Throws: `StoreError` with what is wrong; with several, `.multiple`. An override may throw any error.
    open func validateForInsert() throws { try validateProperties() }

    /// Checks a changed object before it is saved. Call super.
    ///
    /// - Throws: As ``validateForInsert()``.
    open func validateForUpdate() throws { try validateProperties() }

    /// Checks whether the object may be deleted. Call super.
    ///
    /// - Throws: `StoreError` with `.deleteDenied` if a delete rule forbids it.
    open func validateForDelete() throws { try validateDeletion() }
}

@available(
    *, unavailable,
    message: "a managed object belongs to its context: pass its objectID or a snapshot"
)
extension ManagedObject: Sendable {}

extension ManagedObject: Hashable {
    /// Objects are equal only if they are one.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

    /// Hashes the object's identity in memory, which does not change when it is saved.
    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
    /// Entity, id and state; asking does not read the object's values.
    public final var description: String {
        var states: [String] = []
        if isFault { states.append("fault") }
        if isInserted { states.append("inserted") }
        if isUpdated { states.append("updated") }
        if isDeleted { states.append("deleted") }
        let state = states.isEmpty ? "" : " (\(states.joined(separator: ", ")))"
        return "\(entity.name) \(objectID)\(state)"
    }
}
