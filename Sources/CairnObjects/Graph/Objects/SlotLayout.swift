// How the slots of an entity's objects lie in memory: how many there are, and what each holds.
//
// Threads: any; what can be set is read and set by the context's alone.

import CairnModel
import CairnStore

/// What a slot holds.
enum SlotKind: UInt8 {
    /// Integers of 16 bits.
    case integer16
    /// Integers of 32 bits.
    case integer32
    /// Integers of 64 bits.
    case integer
    /// 0 or 1.
    case boolean
    /// The bits of a double.
    case double
    /// The same, of seconds since the reference date.
    case date
    /// The bits of a float.
    case float
    /// The number of an object; the second word is 1 if the number is a temporary one.
    case reference
    /// Two words.
    case uuid
    /// A `String`.
    case string
    /// A `String`: the URI's text.
    case uri
    /// `Data`.
    case binary
    /// `Data`: the bytes that a store keeps.
    case decimal

    /// Whether the slot holds something that has to be released.
    var isManaged: Bool { rawValue >= SlotKind.string.rawValue }

    /// Whether an integer is in the range of the column's attribute; every other word is.
    @inline(__always) func hasRoom(for word: UInt64) -> Bool {
        switch self {
        case .integer16: Int64(Int16(truncatingIfNeeded: word)) == Int64(bitPattern: word)
        case .integer32: Int64(Int32(truncatingIfNeeded: word)) == Int64(bitPattern: word)
        default: true
        }
    }

    init(_ kind: SchemaColumn.Kind) {
        switch kind {
        case .reference: self = .reference
        case .attribute(let type):
            switch type {
            case .integer16: self = .integer16
            case .integer32: self = .integer32
            case .integer64: self = .integer
            case .boolean: self = .boolean
            case .double: self = .double
            case .date: self = .date
            case .float: self = .float
            case .uuid: self = .uuid
            case .string: self = .string
            case .uri: self = .uri
            case .binary, .transformable: self = .binary
            case .decimal: self = .decimal
            case .undefined, .objectID, .composite:
                preconditionFailure("a column has a storable type")
            }
        }
    }
}

/// The places of an entity's slots, and of its class's properties; and how an object gets at what it shares with the
/// others of its entity. It is plain memory, which an object reaches without counting references.
struct SlotLayout {
    /// Whose memory this is.
    let scope: Unmanaged<EntityScope>
    /// The entity, which the scope keeps.
    let entity: Unmanaged<SchemaEntity>
    /// The registry of the objects, which the scope keeps.
    let registry: Unmanaged<ObjectRegistry>
    /// The context of the objects, which each of them keeps; nil outside any. A scope may outlive it with objects that have
    /// left: only for those that are in the context it is good.
    let context: Unmanaged<ManagedObjectContext>?
    /// Where the registry keeps the objects; nil outside any context.
    let place: Int?
    /// How many columns there are.
    let columns: Int
    /// How many words one bit for each column takes.
    let words: Int
    /// Where the slots begin.
    let start: Int
    /// The bytes of all of it.
    let size: Int
    /// By column.
    let kinds: UnsafePointer<SlotKind>
    /// The columns whose slots have to be released, a bit each.
    let managed: UnsafePointer<UInt64>
    /// Whether new objects get values that are computed for each.
    let hasComputedDefaults: Bool
    /// Whether there is a column of references.
    let hasReferences: Bool
    /// Whether the objects may be in several stores: references say in which.
    let isCoordinated: Bool
    /// The class whose properties these are.
    let type: ObjectIdentifier
    /// The same for reading; none if whoever reads has to look for somebody who tracks.
    private(set) var readableType: ObjectIdentifier
    /// Whether reads have to look for somebody who tracks.
    private(set) var isObservable = false
    /// Where the properties of the class are, by number.
    let properties: UnsafePointer<EntityBinding.Slot>
    let propertyCount: Int
    /// Which properties the names in the program's code mean.
    var named = NamedNumbers()

    /// The layout of the objects of a scope, which has to outlive it.
    init(_ scope: EntityScope, _ context: ManagedObjectContext?) {
        let entity = scope.entity
        self.scope = Unmanaged.passUnretained(scope)
        self.entity = Unmanaged.passUnretained(entity)
        registry = Unmanaged.passUnretained(scope.registry)
        self.context = context.map { Unmanaged.passUnretained($0) }
        place = scope.place
        hasComputedDefaults = scope.hasComputedDefaults
        columns = entity.columns.count
        words = max(1, (columns + 63) / 64)
        start = (words * 8 * 3 + 15) & ~15
        size = start + columns * 16
        let kinds = UnsafeMutablePointer<SlotKind>.allocate(capacity: max(1, columns))
        let managed = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
        managed.initialize(repeating: 0, count: words)
        var hasReferences = false
        for (index, column) in entity.columns.enumerated() {
            let kind = SlotKind(column.kind)
            (kinds + index).initialize(to: kind)
            if kind.isManaged { managed[index >> 6] |= 1 << UInt64(index & 63) }
            if kind == .reference { hasReferences = true }
        }
        self.kinds = UnsafePointer(kinds)
        self.managed = UnsafePointer(managed)
        self.hasReferences = hasReferences
        isCoordinated = scope.registry.coordinator != nil
        self.type = ObjectIdentifier(scope.type)
        readableType = type
        properties = scope.binding.slots
        propertyCount = scope.binding.count
    }

    /// Says whether reads have to look for somebody who tracks.
    mutating func setObservable(_ isObservable: Bool) {
        self.isObservable = isObservable
        readableType = isObservable ? ObjectIdentifier(NoType.self) : type
    }

    /// The class of no object.
    private enum NoType {}

    /// Gives its memory back.
    func deallocate() {
        kinds.deallocate()
        managed.deallocate()
        named.deallocate()
    }
}
