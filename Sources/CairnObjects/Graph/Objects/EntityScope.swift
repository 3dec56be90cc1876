// What all objects of one entity in one context share.
//
// Threads: immutable once made, so any, but for what the context's thread alone sets and reads; objects reach their registry
// through it from any thread when they go.

import CCairn
import CairnModel
import CairnStore
import FoundationEssentials

/// An entity as a context's objects know it.
final class EntityScope: @unchecked Sendable {
    // The memory of the layout is written in init; `isObservable`, `snapshotKeys` and `spareObservation` are the
    // context's. Other threads may drop a reference to the context that the layout leads to, and touch nothing of it.

    let entity: SchemaEntity
    let registry: ObjectRegistry
    let layout: UnsafePointer<SlotLayout>
    let rules: EntityRules
    /// The class of its objects.
    let type: ManagedObject.Type
    /// Where the properties of the class are.
    let binding: EntityBinding
    /// Whether new objects get values that are computed for each.
    let hasComputedDefaults: Bool
    /// The number of its hierarchy in ids.
    let hierarchy: UInt32
    /// Where the registry keeps objects of the hierarchy; nil for objects outside any context.
    let place: Int?
    /// What the next object gets of which is read while somebody tracks.
    lazy var spareObservation = ObjectObservation()
    /// The values of new objects, by column.
    let defaults: [Value]
    /// By column: the number of the hierarchy that a reference leads to.
    private let targets: [UInt32]

    init(
        _ entity: SchemaEntity, _ type: ManagedObject.Type, _ registry: ObjectRegistry,
        in context: ManagedObjectContext?
    ) {
        self.entity = entity
        self.type = type
        binding = EntityBinding(entity, type._typedEntity)
        self.registry = registry
        let memory = UnsafeMutablePointer<SlotLayout>.allocate(capacity: 1)
        layout = UnsafePointer(memory)
        hasComputedDefaults = binding.typed.map { !$0.computedDefaults.isEmpty } ?? false
        rules = EntityRules(entity, type)
        hierarchy = context != nil ? registry.identity.hierarchies[entity.index] : 0
        place = context != nil ? registry.place(ofHierarchy: hierarchy) : nil
        defaults = entity.columns.map(\.defaultValue)
        targets = entity.columns.map { column in
            guard case .reference(let root) = column.kind,
                root < registry.identity.hierarchies.count
            else { return 0 }
            return registry.identity.hierarchies[root]
        }
        memory.initialize(to: SlotLayout(self, context))
    }

    deinit {
        layout.pointee.deallocate()
        layout.deallocate()
    }

    /// The names of what a snapshot of an object holds.
    private(set) lazy var snapshotKeys = SnapshotKeys(of: entity)

    /// Whether reads of the objects have to look for somebody who tracks.
    var isObservable: Bool {
        get { layout.pointee.isObservable }
        set { UnsafeMutablePointer(mutating: layout).pointee.setObservable(newValue) }
    }

    /// Notes which property a name in the program's code means.
    func note(_ number: Int, for key: UInt) {
        UnsafeMutablePointer(mutating: layout).pointee.named.note(number, for: key)
    }

    // MARK: Faults

    /// An object for a stored row, with nothing in it. Its layout goes past the initializers of the user's class, which know
    /// nothing of it; and beside the context, since an initializer counts a reference for each argument.
    func makeFault() -> ManagedObject {
        // An initializer of a property may have made another object first, whose own is handed over in between.
        let outer = cairn_handed_over()
        cairn_hand_over(layout)
        let object = type.init(entity: entity, insertInto: nil)
        cairn_hand_over(outer)
        precondition(
            object.layout == layout, "an initializer of \(type) does not pass on its arguments")
        return object
    }

    /// The layout for an object that is made for a stored row, to be taken once; nil if somebody else makes an object of the
    /// entity.
    static func takeLayout(ofFault entity: SchemaEntity) -> UnsafePointer<SlotLayout>? {
        guard let handed = cairn_handed_over() else { return nil }
        let layout = handed.assumingMemoryBound(to: SlotLayout.self)
        guard layout.pointee.entity._withUnsafeGuaranteedRef({ $0 === entity }) else { return nil }
        cairn_hand_over(nil)
        return UnsafePointer(layout)
    }

    // MARK: Ids

    /// The id of an object of the entity.
    func id(_ reference: UInt64, isTemporary: Bool) -> ObjectID {
        isTemporary
            ? ObjectID(
                temporary: reference, hierarchy: hierarchy, context: registry.temporaryStore)
            : reference >> 32 == 0
                ? ObjectID(
                    store: registry.identity.identifier, hierarchy: hierarchy, reference: reference)
                : registry.identity.id(reference, entity: entity.index)
    }

    /// The id of what a column's reference leads to.
    func targetID(_ reference: UInt64, isTemporary: Bool, column: Int) -> ObjectID {
        isTemporary
            ? ObjectID(
                temporary: reference, hierarchy: targets[column], context: registry.temporaryStore)
            : reference >> 32 == 0
                ? ObjectID(
                    store: registry.identity.identifier, hierarchy: targets[column],
                    reference: reference)
                : targetIDElsewhere(reference, column)
    }

    @inline(never)
    private func targetIDElsewhere(_ reference: UInt64, _ column: Int) -> ObjectID {
        guard case .reference(let root) = entity.columns[column].kind else {
            preconditionFailure("only a reference refers to an object")
        }
        return registry.identity.id(reference, entity: root)
    }
}
