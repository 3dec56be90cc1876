// One object of a context.
//
// An object is a fault until somebody touches it: it has an id, an entity and a context, nothing else. Then
// its row is read; the cells stay as they are and a value is made of one when it is asked for. Edits are
// kept beside the row, in slots, so that "what changed" and "what was it before" cost nothing to answer.
//
//   new         no row; a value that was not set is the model's default
//   fault       perhaps a row that a fetch has brought along, not yet looked at
//   fulfilled   a row, and edits of columns that differ from it
//   saved       the slots of a new object that was saved: they are its row, until somebody edits it
//   gone        deleted by somebody else: every value is nil
//
// There may be millions of objects that are only read, so an object is small: 56 bytes, which take 64 of malloc. What it
// shares with others it finds by its layout, its context too; of its row it keeps the address; and what only few objects have
// lies in an annex. It counts by hand, in `enterContext`, `cells` and the deinit, the references that these stand for.
//
// Properties that every access meets are not checked for exclusive access: an object is confined to its context, and
// nothing here is called while one of them is being changed.
//
// Invariants: one object for one id in a context; edits of a stored object differ from its row; an object keeps its context if
// its flags say `inContext`, and else its scope, so that its layout is there as long as the object.
// Threads: the context's. Only the deinit may run elsewhere: it touches the registry, and lets go of what the object keeps.

public import CairnModel
import CairnStore

/// An object of a context: an instance of an entity.
///
/// Values are read and set by key, ``subscript(_:)`` or ``value(forKey:)``. An object belongs to its
/// context and must not leave it; its ``objectID`` may.
open class ManagedObject: ManagedObjectMembers {
    /// How its slots lie, and with it what it shares with the other objects of its entity, the context among it. The context
    /// keeps that, or the object itself if it has no context.
    @exclusivity(unchecked) final var layout: UnsafePointer<SlotLayout>
    /// The number in its id; 0 outside any context, until it is needed.
    @exclusivity(unchecked) final var reference: UInt64 = 0
    @exclusivity(unchecked) final var flags: Flags = []
    /// The version of the row; 0 if there is none.
    @exclusivity(unchecked) final var version: UInt32 = 0
    /// Where `cells` are, whose slab the object keeps; nil if there are none. Two words as `RowCells`, one as an address.
    @exclusivity(unchecked) private(set) final var rowAddress: UnsafeRawPointer?
    /// What those have that are edited or have something rare: `slots`, `rarer` and `changedIndex`.
    @exclusivity(unchecked) final var annex: UnsafeMutablePointer<ObjectAnnex>?

    /// What an object is, a bit each.
    struct Flags: OptionSet {
        let rawValue: UInt32

        /// New and not saved.
        static let inserted = Flags(rawValue: 1)
        /// Somebody set a property since the last save.
        static let updated = Flags(rawValue: 2)
        /// To be deleted by the next save, or gone already.
        static let deleted = Flags(rawValue: 4)
        /// The row was looked at.
        static let fulfilled = Flags(rawValue: 8)
        /// The row turned out to be gone.
        static let gone = Flags(rawValue: 16)
        /// Values are being set that are no edits.
        static let awakening = Flags(rawValue: 32)
        /// The delete rules have been applied.
        static let propagated = Flags(rawValue: 64)
        /// It is inserted again under its id, because somebody else has deleted it.
        static let recreated = Flags(rawValue: 128)
        /// A merge policy deleted it, which no delete rule can forbid.
        static let displaced = Flags(rawValue: 256)
        /// The id is temporary.
        static let temporary = Flags(rawValue: 512)
        /// The registry has it.
        static let registered = Flags(rawValue: 1024)
        /// The slots are what is stored.
        static let slotsAreRow = Flags(rawValue: 2048)
        /// The object keeps its scope.
        static let keepsScope = Flags(rawValue: 4096)
        /// It was among the changed ones before the run of edits that is under way, which has noted what it was.
        static let noted = Flags(rawValue: 8192)
        /// Somebody has read a property who tracks it.
        static let observed = Flags(rawValue: 16384)
        /// Others have deleted it, as was found when their changes were merged, and nobody here.
        static let deletedElsewhere = Flags(rawValue: 1 << 25)
        /// A delete rule has deleted it, and not the program.
        static let cascaded = Flags(rawValue: 1 << 21)
        /// Its parent has saved it since: its version is the newer one, its values may be older ones.
        static let hasOlderCells = Flags(rawValue: 1 << 22)
        /// The registry has noted that it knows members of relationships.
        static let hasMembers = Flags(rawValue: 1 << 24)
        /// It is a fault whose row is read together with those of its batch.
        static let batched = Flags(rawValue: 1 << 20)
        /// Its id is of none of the context's stores: it turns out to be gone when it is touched.
        static let foreign = Flags(rawValue: 1 << 26)
        /// It is an object of the context that its layout leads to, and keeps that alive.
        static let inContext = Flags(rawValue: 1 << 27)
        /// There are slots in its annex.
        static let hasSlots = Flags(rawValue: 1 << 28)
        /// Its keys are noted among those of the changed objects; see ``ChangedKeys``.
        static let keyed = Flags(rawValue: 1 << 23)
    }

    @inline(__always) private final func has(_ flag: Flags) -> Bool { flags.contains(flag) }

    @inline(__always) private final func set(_ flag: Flags, _ value: Bool) {
        if value { flags.formUnion(flag) } else { flags.subtract(flag) }
    }

    /// The class's generated description; nil if it is not marked `@Entity`.
    open class var _typedEntity: TypedEntity? { nil }

    /// Whether a class that no macro describes may override ``validateValue(_:forKey:)``.
    open class var _validatesValues: Bool { true }

    /// Creates an object and inserts it into a context.
    ///
    /// Override it only to give stored properties of a subclass their values: it also runs when an object is created for a
    /// stored row. Use ``awakeFromInsert()`` to prepare a new object.
    public required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
        guard let context else {
            if let layout = EntityScope.takeLayout(ofFault: entity) {
                self.layout = layout
                return
            }
            let scope = EntityScope(entity, Self.self, .nowhere, in: nil)
            layout = scope.layout
            withExtendedLifetime(scope) { keepScope() }
            return
        }
        precondition(
            !entity.isAbstract, "\(entity.name) is abstract: it has no objects of its own")
        layout = context.layout(of: entity)
        context.insert(self, layout)
    }

    /// Makes an object of the class's entity and inserts it into a context.
    public required convenience init(context: ManagedObjectContext) {
        self.init(entity: context.entity(for: Self.self), insertInto: context)
    }

    deinit {
        if has(.registered) {
            layout.pointee.registry._withUnsafeGuaranteedRef {
                $0.deregister(
                    reference, isTemporary: hasTemporaryID, at: layout.pointee.place, self)
            }
        }
        if has(.hasMembers) {
            layout.pointee.registry._withUnsafeGuaranteedRef { $0.forgetMembers(of: self) }
        }
        giveBackAnnex()
        if let rowAddress { RowCells.letGo(rowAddress) }
        // With the context the layout may go, or with the scope.
        let context = has(.inContext) ? layout.pointee.context : nil
        if has(.keepsScope) { layout.pointee.scope.release() }
        context?.release()
    }

    // MARK: What it shares

    /// What ``managedObjectContext`` gives.
    @usableFromInline final var context: ManagedObjectContext? {
        has(.inContext) ? layout.pointee.context?.takeUnretainedValue() : nil
    }

    /// Makes it an object of the context that its layout leads to.
    @inline(__always) final func enterContext() {
        // The initializer of a subclass may have inserted it already.
        if has(.inContext) { return }
        set(.inContext, true)
        _ = layout.pointee.context?.retain()
    }

    /// From now on it is in no context. It has to keep its scope.
    final func leaveContext() {
        guard has(.inContext) else { return }
        set(.inContext, false)
        layout.pointee.context?.release()
    }

    /// What ``entity`` gives.
    @usableFromInline final var layoutEntity: SchemaEntity {
        layout.pointee.entity.takeUnretainedValue()
    }

    /// What it shares with the other objects of its entity.
    final var scope: EntityScope { layout.pointee.scope.takeUnretainedValue() }

    /// From now on the object keeps its scope, since no context does.
    final func keepScope() {
        if has(.keepsScope) { return }
        set(.keepsScope, true)
        _ = layout.pointee.scope.retain()
    }

    /// Makes it one of the objects of a context.
    final func join(_ context: ManagedObjectContext, _ layout: UnsafePointer<SlotLayout>) {
        let former = self.layout
        if has(.hasMembers) {
            former.pointee.registry._withUnsafeGuaranteedRef { $0.forgetMembers(of: self) }
            layout.pointee.registry._withUnsafeGuaranteedRef { $0.noteMembers(of: self) }
        }
        self.layout = layout
        enterContext()
        if context.retained != nil { context.retained?.insert(self) }
        if has(.keepsScope) {
            set(.keepsScope, false)
            former.pointee.scope.release()
        }
    }

    // MARK: State

    /// What is stored, as far as this object knows.
    final var cells: RowCells? {
        get { rowAddress.map { RowCells(kept: $0) } }
        set {
            let former = rowAddress
            rowAddress = newValue?.kept()
            if let former { RowCells.letGo(former) }
        }
    }
    /// Whether there are cells. Asking counts no reference to them.
    @inline(__always) final var hasCells: Bool { rowAddress != nil }

    /// What ``objectID`` gives.
    @usableFromInline final var identity: ObjectID {
        // Numbers of a store may begin with 0; outside a context there are none but ours.
        if reference == 0, layout.pointee.place == nil {
            reference = ManagedObjectContext.nextTemporaryReference()
            hasTemporaryID = true
        }
        return scope.id(reference, isTemporary: hasTemporaryID)
    }

    /// Whether the object is new and not saved.
    public internal(set) final var isInserted: Bool {
        get { has(.inserted) }
        set { set(.inserted, newValue) }
    }
    /// Whether a property was set since the last save, even to the same value.
    public internal(set) final var isUpdated: Bool {
        get { has(.updated) }
        set { set(.updated, newValue) }
    }
    /// Whether the next save will delete the object, or it has already been deleted.
    public internal(set) final var isDeleted: Bool {
        get { has(.deleted) }
        set { set(.deleted, newValue) }
    }
    /// The object that replaced this one when a save found two with the same unique key, or when this one was merged
    /// into it elsewhere and the context has merged that; nil if there is none.
    public internal(set) final var absorbedInto: ObjectID? {
        get { rarer?.absorbedInto }
        set { if newValue != nil || rarer != nil { extras.absorbedInto = newValue } }
    }

    final var isFulfilled: Bool {
        get { has(.fulfilled) }
        set { set(.fulfilled, newValue) }
    }
    final var isGone: Bool {
        get { has(.gone) }
        set { set(.gone, newValue) }
    }
    final var isAwakening: Bool {
        get { has(.awakening) }
        set { set(.awakening, newValue) }
    }
    final var isPropagated: Bool {
        get { has(.propagated) }
        set { set(.propagated, newValue) }
    }
    final var isRecreated: Bool {
        get { has(.recreated) }
        set { set(.recreated, newValue) }
    }
    final var isDisplaced: Bool {
        get { has(.displaced) }
        set {
            set(.displaced, newValue)
            if !newValue { flags.subtract(.deletedElsewhere) }
        }
    }
    final var hasTemporaryID: Bool {
        get { has(.temporary) }
        set { set(.temporary, newValue) }
    }
    final var isRegistered: Bool {
        get { has(.registered) }
        set { set(.registered, newValue) }
    }

    /// To-many relationships that somebody asked for or changed, by index.
    final var toMany: [Int: ToManyState] {
        get { rarer?.toMany ?? [:] }
        _modify {
            noteMembers()
            yield &extras.toMany
        }
    }

    /// Has the registry know that the object knows members of relationships, or results of fetched properties.
    @inline(__always) final func noteMembers() {
        if !has(.hasMembers) { enterAmongThoseWithMembers() }
    }

    @inline(never)
    private final func enterAmongThoseWithMembers() {
        set(.hasMembers, true)
        layout.pointee.registry._withUnsafeGuaranteedRef { $0.noteMembers(of: self) }
    }

    /// Values of transient attributes, by index.
    final var transients: [Int: Value] {
        get { rarer?.transients ?? [:] }
        _modify { yield &extras.transients }
    }
    /// Targets of transient to-one relationships, by index.
    final var transientTargets: [Int: ObjectID] {
        get { rarer?.transientTargets ?? [:] }
        _modify { yield &extras.transientTargets }
    }
    /// Columns that were set as primitive values, which nobody is told of.
    final var untracked: ColumnSet {
        get { rarer?.untracked ?? ColumnSet() }
        _modify { yield &extras.untracked }
    }
    /// Columns that were set while the object awoke from a fetch: seen by readers, never saved.
    final var awakened: ColumnSet {
        get { rarer?.awakened ?? ColumnSet() }
        _modify { yield &extras.awakened }
    }

    /// Whether the object's values have not been read yet. Asking does not read them.
    public final var isFault: Bool {
        flags.intersection([.fulfilled, .inserted, .gone, .inContext]) == .inContext
    }

    /// Whether the object is new, changed or to be deleted.
    public final var hasChanges: Bool { isInserted || isUpdated || isDeleted }

    // MARK: Hooks

    /// Entity, id and state; does not read the object's values.
    open var description: String {
        var states: [String] = []
        if isFault { states.append("fault") }
        if isInserted { states.append("inserted") }
        if isUpdated { states.append("updated") }
        if isDeleted { states.append("deleted") }
        let state = states.isEmpty ? "" : " (\(states.joined(separator: ", ")))"
        return "\(entity.name) \(objectID)\(state)"
    }

    /// Called once when the object is inserted, its defaults in place. Call super.
    open func awakeFromInsert() {}

    /// Called when the object's values have been read. Values set here are not edits. Call super.
    open func awakeFromFetch() {}

    /// Called after the object's values were changed other than by setting them: by undo and redo, a rollback, a
    /// refresh that kept changes, or a merge policy that ran in the context. Recompute dependent values here, with
    /// ``setPrimitiveValue(_:forKey:)``. Call super.
    open func awakeFromSnapshotEvents(_ events: SnapshotEvents) {}

    /// Called before the object is saved, again after each round of changes that this brings about.
    open func willSave() {}

    /// Called after the object was saved. Values set here are new edits.
    open func didSave() {}

    /// Called when the object is deleted, its relationships still in place; again on every further delete.
    open func prepareForDeletion() {}

    /// Called before the object releases its values: by a refresh, a rollback, a reset, or a save that makes it read
    /// them again.
    ///
    /// Not called when the object itself is released. A context does not retain unchanged objects, neither after a
    /// fetch nor after a save: the last reference ends such an object, on any thread, and a `deinit` can neither access
    /// the context nor call overridden methods. Put whatever should end with the object into stored properties of the
    /// class.
    open func willTurnIntoFault() {}

    /// Called after the object has released its values; see ``willTurnIntoFault()`` for when it is not.
    open func didTurnIntoFault() {}

    /// Checks a new object before it is saved. Call super.
    ///
    /// - Throws: `StoreError` with the error; `.multiple` if there are several. An override can throw any error: a save
    ///   throws it as the cause of a `StoreError` with `.validation` and the object.
    open func validateForInsert() throws { try validateProperties() }

    /// Checks a changed object before it is saved. Call super.
    ///
    /// - Throws: As ``validateForInsert()``.
    open func validateForUpdate() throws { try validateProperties() }

    /// Checks whether the object may be deleted. Call super.
    ///
    /// - Throws: `StoreError` with `.deleteDenied` if a delete rule forbids it.
    open func validateForDelete() throws { try validateDeletion() }

    /// Validates a value for a property, and may replace it; called for each property that was set when the object is
    /// validated. Call super, which checks the model's rules first and then the class's own `validate…` methods.
    ///
    /// ```swift
    /// override func validateValue(_ value: inout Any?, forKey key: String) throws {
    ///     if key == "name", let name = value as? String {
    ///         value = name.split(separator: " ").joined(separator: " ")
    ///     }
    ///     try super.validateValue(&value, forKey: key)
    /// }
    /// ```
    ///
    /// A save sets the resulting value if it differs, and validates the object again. It collects the errors of all
    /// properties. Call it yourself to check a value in advance: that sets nothing.
    ///
    /// Values are those of ``value(forKey:)``.
    ///
    /// - Throws: `StoreError` with the error; `.multiple` if there are several. An override can throw any error.
    open func validateValue(_ value: inout Any?, forKey key: String) throws {
        try validateModeled(&value, forKey: key)
        try validateTyped(&value, forKey: key)
    }

    /// Checks a value for a property by the class's own `validate…` method. Generated code overrides it.
    open func _validate(_ property: Int, _ value: inout Any?) throws {}
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

extension ManagedObject: CustomStringConvertible {}
