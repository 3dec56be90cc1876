// The kinds of things in models, with Core Data's names and numbers.

import CairnModel
import Foundation

/// The type of an attribute's values.
public enum NSAttributeType: UInt, Sendable {
    /// Legal for transient attributes only.
    case undefinedAttributeType = 0
    /// A whole number of 16 bits.
    case integer16AttributeType = 100
    /// A whole number of 32 bits.
    case integer32AttributeType = 200
    /// A whole number of 64 bits.
    case integer64AttributeType = 300
    /// An exact decimal number.
    case decimalAttributeType = 400
    /// A double-precision number.
    case doubleAttributeType = 500
    /// A single-precision number.
    case floatAttributeType = 600
    /// Text.
    case stringAttributeType = 700
    /// A truth value.
    case booleanAttributeType = 800
    /// A moment.
    case dateAttributeType = 900
    /// Bytes.
    case binaryDataAttributeType = 1000
    /// A UUID.
    case UUIDAttributeType = 1100
    /// A URI.
    case URIAttributeType = 1200
    /// A value that a ``ValueTransformer`` turns into bytes.
    case transformableAttributeType = 1800
    /// An object id: the result of an expression.
    case objectIDAttributeType = 2000
    /// A group of attributes.
    case compositeAttributeType = 2100

    init(_ type: AttributeType) {
        self = NSAttributeType(rawValue: UInt(type.code)) ?? .undefinedAttributeType
    }

    var core: AttributeType { Self.types[rawValue] ?? .undefined }

    private static let types = Dictionary(
        uniqueKeysWithValues: AttributeType.allCases.map { (UInt($0.code), $0) })
}

extension NSAttributeDescription {
    /// The type of an attribute's values.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// Core Data's number.
        public let rawValue: UInt

        /// The type of that number.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        init(_ type: NSAttributeType) { rawValue = type.rawValue }

        /// Legal for transient attributes only.
        public static let undefined = AttributeType(.undefinedAttributeType)
        /// A whole number of 16 bits.
        public static let integer16 = AttributeType(.integer16AttributeType)
        /// A whole number of 32 bits.
        public static let integer32 = AttributeType(.integer32AttributeType)
        /// A whole number of 64 bits.
        public static let integer64 = AttributeType(.integer64AttributeType)
        /// An exact decimal number.
        public static let decimal = AttributeType(.decimalAttributeType)
        /// A double-precision number.
        public static let double = AttributeType(.doubleAttributeType)
        /// A single-precision number.
        public static let float = AttributeType(.floatAttributeType)
        /// Text.
        public static let string = AttributeType(.stringAttributeType)
        /// A truth value.
        public static let boolean = AttributeType(.booleanAttributeType)
        /// A moment.
        public static let date = AttributeType(.dateAttributeType)
        /// Bytes.
        public static let binaryData = AttributeType(.binaryDataAttributeType)
        /// A UUID.
        public static let uuid = AttributeType(.UUIDAttributeType)
        /// A URI.
        public static let uri = AttributeType(.URIAttributeType)
        /// A value that a ``ValueTransformer`` turns into bytes.
        public static let transformable = AttributeType(.transformableAttributeType)
        /// An object id: the result of an expression.
        public static let objectID = AttributeType(.objectIDAttributeType)
        /// A group of attributes.
        public static let composite = AttributeType(.compositeAttributeType)

        /// The same as an ``NSAttributeType``.
        var legacy: NSAttributeType {
            guard let type = NSAttributeType(rawValue: rawValue) else {
                preconditionFailure("there is no attribute type with the number \(rawValue)")
            }
            return type
        }
    }
}
