// What `@NSManaged` and `@NSManagedAccessor` leave behind for the check of classes against a model: a type beside each property
// and function, which says what was declared. Nobody names these types; they are found among the program's conformances.
//
// The attribute of the protocol keeps the optimizer from leaving them out, since nobody uses them.

import CSwiftTypes
import Foundation

/// A type beside a declaration.
@_alwaysEmitConformanceMetadata
public protocol _ManagedDeclaration: SendableMetatype {
    static var _declared: _ManagedProperty { get }
}

/// A property, or a function for the members of one, that a class declares.
public struct _ManagedProperty {
    let owner: NSManagedObject.Type
    let name: String
    /// The type of the property, or of what the function adds and removes.
    let type: Any.Type
    /// The function; nil if it is a property.
    let function: String?
    /// Whether it is a function that gives members places.
    let isOrdered: Bool

    /// A property.
    public init(_ owner: NSManagedObject.Type, _ name: String, _ type: Any.Type) {
        self.init(owner, name, function: nil, type, isOrdered: false)
    }

    /// A property that reads and sets the value of another one: the model may have either.
    public init(_ owner: NSManagedObject.Type, primitive name: String, _ type: Any.Type) {
        self.init(owner, name, function: nil, type, isOrdered: false)
    }

    /// A function.
    public init(
        _ owner: NSManagedObject.Type, _ name: String, function: String?, _ type: Any.Type,
        isOrdered: Bool
    ) {
        self.owner = owner
        self.name = name
        self.type = type
        self.function = function
        self.isOrdered = isOrdered
    }

    /// All that the classes of the program declare.
    static var all: [_ManagedProperty] {
        var types: [Any.Type] = []
        let protocolType = unsafeBitCast(
            (any _ManagedDeclaration).self as Any.Type, to: UnsafeRawPointer.self)
        withUnsafeMutablePointer(to: &types) { types in
            cairn_each_conforming_type(protocolType, types) { metadata, types in
                types?.assumingMemoryBound(to: [Any.Type].self).pointee
                    .append(unsafeBitCast(metadata, to: Any.Type.self))
            }
        }
        return types.compactMap { ($0 as? any _ManagedDeclaration.Type)?._declared }
    }
}
