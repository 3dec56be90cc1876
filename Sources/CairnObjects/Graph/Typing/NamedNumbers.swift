// Which properties of an entity the names in a program's code mean: for classes that no macro of Cairn's describes and that
// have their properties by name, those of the module CoreData.
//
//   1. A name is a literal: its address stands for it. What it is read as is part of the key, since two declarations may
//      share one literal, and a number that fits one type would be wrong for the other.
//   2. The first access looks the name up in the entity and compares the types. What was found is noted; from then on a name
//      costs one look into a small table with open addressing.
//
// A table belongs to a layout, and so to one context: no lock is needed.
//
// Invariants: at most half of the places are taken.
// Threads: the context's.

public import CairnModel
import CairnStore

/// What the values of a named property are read as.
public enum _NamedKind: UInt8 {
    case integer
    case boolean
    case double
    case float
    case date
    case string
    case binary
    case uuid
    case uri
    case decimal
    /// One object.
    case object
    /// Several objects, be they in order.
    case members

    /// Whether values of an attribute can be read so without conversion.
    public func fits(_ type: AttributeType) -> Bool {
        switch self {
        case .integer: type == .integer16 || type == .integer32 || type == .integer64
        case .boolean: type == .boolean
        case .double: type == .double
        case .float: type == .float
        case .date: type == .date
        case .string: type == .string
        case .binary: type == .binary
        case .uuid: type == .uuid
        case .uri: type == .uri
        case .decimal: type == .decimal
        case .object, .members: false
        }
    }

    /// Whether a relationship can be read so.
    public func fits(toMany isToMany: Bool) -> Bool {
        switch self {
        case .object: !isToMany
        case .members: isToMany
        default: false
        }
    }
}

/// The numbers of properties by the addresses of their names.
struct NamedNumbers {
    private struct Place {
        /// 0 if the place is free.
        var key: UInt
        var number: Int
    }

    private var places: UnsafeMutablePointer<Place>?
    private var mask: UInt = 0
    private var count = 0

    @inline(__always) static func key(_ name: StaticString, _ kind: _NamedKind) -> UInt {
        UInt(bitPattern: name.utf8Start) << 8 | UInt(kind.rawValue)
    }

    /// The first place to look at. Literals lie side by side: the product spreads what is different in them.
    @inline(__always) private static func hash(_ key: UInt) -> UInt {
        (key &* 0x9e37_79b9_7f4a_7c15) >> 32
    }

    /// The number that was noted for a key.
    @inline(__always) func number(_ key: UInt) -> Int? {
        guard let places else { return nil }
        var at = Self.hash(key) & mask
        while true {
            let place = places[Int(bitPattern: at)]
            if place.key == key { return place.number }
            if place.key == 0 { return nil }
            at = (at &+ 1) & mask
        }
    }

    /// Notes a number for a key that has none.
    mutating func note(_ number: Int, for key: UInt) {
        if places == nil || count * 2 >= Int(mask) + 1 { grow() }
        put(Place(key: key, number: number))
        count += 1
    }

    private func put(_ place: Place) {
        guard let places else { return }
        var at = Self.hash(place.key) & mask
        while places[Int(bitPattern: at)].key != 0 { at = (at &+ 1) & mask }
        places[Int(bitPattern: at)] = place
    }

    private mutating func grow() {
        let former = UnsafeMutableBufferPointer(
            start: places, count: places == nil ? 0 : Int(mask) + 1)
        let capacity = max(16, former.count * 2)
        let made = UnsafeMutablePointer<Place>.allocate(capacity: capacity)
        made.initialize(repeating: Place(key: 0, number: 0), count: capacity)
        places = made
        mask = UInt(capacity - 1)
        for place in former where place.key != 0 { put(place) }
        former.deallocate()
    }

    /// Gives its memory back.
    func deallocate() { places?.deallocate() }
}

extension ManagedObject {
    /// The number of a property by which values of a kind are read and written; negative if it has to be done by key, since
    /// the property is of another type, or lies nowhere by itself.
    ///
    /// A name that the entity does not have ends the program with a sentence. Accessors of classes that no macro of Cairn's
    /// describes call it.
    public final func _number(_ name: StaticString, _ kind: _NamedKind) -> Int {
        let key = NamedNumbers.key(name, kind)
        if let number = layout.pointee.named.number(key) { return number }
        return find(name, kind, key)
    }

    @inline(never)
    private final func find(_ name: StaticString, _ kind: _NamedKind, _ key: UInt) -> Int {
        let text = "\(name)"
        var number = -1
        if let index = entity.attributeIndex(named: text) {
            if kind.fits(entity.attributes[index].description.type) { number = index }
        } else if let index = entity.relationshipIndex(named: text) {
            if kind.fits(toMany: entity.relationships[index].description.isToMany) {
                number = entity.attributes.count + index
            }
        } else {
            precondition(
                hasProperty(text) || isNoting,
                "the class \(type(of: self)) declares \(text), but the entity \(entity.name) has no property of that name"
            )
        }
        scope.note(number, for: key)
        return number
    }
}
