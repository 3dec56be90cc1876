// Which properties of a model a Swift type can hold.

import CairnModel
import CairnObjects
import Foundation

/// The type that a class declares for a property.
struct ExpectedType {
    /// Without the optional around it.
    private let type: Any.Type

    init(_ type: Any.Type) {
        var type = type
        while let optional = type as? any OptionalValue.Type { type = optional.wrappedType }
        self.type = type
    }

    /// Whether a property of the type can hold the values of an attribute. Numbers convert into each other, as Core Data's do.
    func holds(_ attribute: AttributeType) -> Bool {
        if attribute == .undefined || attribute == .transformable || type == NSObject.self {
            return true
        }
        if let scalar = type as? any _ManagedScalar.Type { return holds(scalar, attribute) }
        if let raw = type as? any RawRepresentable.Type, let scalar = Self.rawType(of: raw) {
            return holds(scalar, attribute)
        }
        guard let known = Self.classes.first(where: { $0.type == type }) else {
            return attribute == .composite
                ? !isRelationship : !isRelationship && !isCollection && !(type is AnyClass)
        }
        return known.types.contains(attribute)
    }

    private func holds(_ scalar: any _ManagedScalar.Type, _ attribute: AttributeType) -> Bool {
        let kind = scalar._kind
        if kind.fits(attribute) { return true }
        if kind == .double && attribute == .date { return true }
        return Self.isNumber(kind) && Self.numbers.contains(attribute)
    }

    private static func isNumber(_ kind: _NamedKind) -> Bool {
        switch kind {
        case .integer, .boolean, .double, .float, .decimal: true
        default: false
        }
    }

    private static func rawType<V: RawRepresentable>(of type: V.Type) -> (
        any _ManagedScalar.Type
    )? { V.RawValue.self as? any _ManagedScalar.Type }

    private static let numbers: Set<AttributeType> = [
        .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean,
    ]

    /// What the classes of Foundation hold.
    private static let classes: [(type: Any.Type, types: Set<AttributeType>)] = [
        (NSNumber.self, numbers), (NSDecimalNumber.self, numbers), (NSString.self, [.string]),
        (NSDate.self, [.date]), (NSData.self, [.binary]), (NSUUID.self, [.uuid]),
        (NSURL.self, [.uri]), (NSDictionary.self, [.composite]),
        (Dictionary<String, Any>.self, [.composite]),
    ]

    // MARK: Relationships

    private var isRelationship: Bool { type is NSManagedObject.Type }

    private var isCollection: Bool {
        type is any MemberCollection.Type || type is NSSet.Type || type is NSOrderedSet.Type
    }

    /// Why the type cannot hold what a relationship leads to; nil if it can.
    func error(
        _ relationship: RelationshipDescription,
        destination: (name: String, type: NSManagedObject.Type)
    ) -> String? {
        if type == Any.self || type == AnyObject.self || type == NSObject.self { return nil }
        guard relationship.isToMany else {
            if let object = type as? NSManagedObject.Type { return error(object, destination) }
            return "is to-one: its type is \(destination.type)?, not \(type)"
        }
        if type is NSManagedObject.Type {
            return "is to-many: its type is NSSet?, or Set<\(destination.type)>, not \(type)"
        }
        if relationship.isOrdered {
            if type is NSOrderedSet.Type { return nil }
            if let list = type as? any MemberCollection.Type, list.isInOrder {
                return error(list.memberType, destination)
            }
            return "is ordered: its type is NSOrderedSet?, or [\(destination.type)], not \(type)"
        }
        if type is NSSet.Type { return nil }
        if let set = type as? any MemberCollection.Type, !set.isInOrder {
            return error(set.memberType, destination)
        }
        return "is not ordered: its type is NSSet?, or Set<\(destination.type)>, not \(type)"
    }

    /// Why values of the type cannot be members of a relationship; nil if they can.
    func errorOfMembers(destination: (name: String, type: NSManagedObject.Type)) -> String? {
        if type is NSSet.Type || type is NSOrderedSet.Type { return nil }
        if let members = type as? any MemberCollection.Type {
            return error(members.memberType, destination)
        }
        return error(type, destination)
    }

    private func error(_ type: Any.Type, _ destination: (name: String, type: NSManagedObject.Type))
        -> String?
    {
        // An object of an entity's class may be of one that inherits from it, which only the object knows.
        guard let object = type as? NSManagedObject.Type else {
            return "leads to objects of \(destination.name), which are no \(type)"
        }
        if ManagedPropertyCheck.isKind(destination.type, of: object)
            || ManagedPropertyCheck.isKind(object, of: destination.type)
        {
            return nil
        }
        return "leads to objects of the class \(destination.type), which are no \(object)"
    }
}

/// A set or an array, seen through its type.
private protocol MemberCollection {
    static var memberType: Any.Type { get }
    static var isInOrder: Bool { get }
}

extension Set: MemberCollection {
    fileprivate static var memberType: Any.Type { Element.self }
    fileprivate static var isInOrder: Bool { false }
}

extension Array: MemberCollection {
    fileprivate static var memberType: Any.Type { Element.self }
    fileprivate static var isInOrder: Bool { true }
}
