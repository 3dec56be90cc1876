// One persistent property of a typed class: its part of the model, and how its values are stored.

public import CairnModel

/// A persistent property of a typed class. Created by generated code.
public struct TypedProperty: Sendable {
    /// What is stored of it.
    enum Content: Sendable {
        /// An attribute, and for each leaf whether a column with a type can contain it.
        case attribute(AttributeDescription, fits: [@Sendable (AttributeType) -> Bool])
        /// A relationship; the destination's name is determined when the model is created.
        case relationship(RelationshipDescription, destination: ManagedObject.Type)
    }

    let name: String
    let content: Content
    /// The declared default, a `DeclaredDefault` of the property's type.
    let fallback: (any AnyDefault)?
    /// Gives a new object a default that has to be computed for each one.
    let prepare: (@Sendable (ManagedObject, Int) -> Void)?
    /// What a composite attribute has in it.
    var parts: CompositeParts?
    /// What a transformer makes of stored bytes, JSON among them, a `StoredDecoding` of the property's type; nil if none
    /// does: then the type alone says how values are stored.
    var decoding: (any AnyDecoding)?
}

/// A declared default, its type forgotten.
protocol AnyDefault: AnyObject, Sendable {}

/// What a property without a value reads as.
final class DeclaredDefault<V>: AnyDefault {
    let make: @Sendable () -> V

    init(_ make: @escaping @Sendable () -> V) { self.make = make }
}

/// A way back from stored values, its type forgotten.
protocol AnyDecoding: AnyObject, Sendable {}

/// What a stored value is as one of the property's type.
final class StoredDecoding<V>: AnyDecoding {
    let decode: @Sendable (Value) -> V?

    init(_ decode: @escaping @Sendable (Value) -> V?) { self.decode = decode }
}

// MARK: Attributes

extension TypedProperty {
    /// A property without options.
    public static func property<V>(
        _ name: String, _ kind: AttributeKind<V>, default: (@Sendable () -> V)? = nil,
        computed: Bool = false
    ) -> TypedProperty {
        attribute(name, kind, default: `default`, computed: computed)
    }

    /// An attribute.
    ///
    /// A computed default is evaluated for every new object; any other default is part of the model.
    public static func attribute<V>(
        _ name: String, _ kind: AttributeKind<V>, _ options: AttributeOption...,
        default: (@Sendable () -> V)? = nil, computed: Bool = false, derived: String? = nil,
        originalName: String? = nil, hashModifier: String? = nil,
        minimumValue: (@Sendable () -> V)? = nil, maximumValue: (@Sendable () -> V)? = nil,
        minimumLength: Int? = nil, maximumLength: Int? = nil, pattern: String? = nil,
        mergeRule: MergeRule? = nil
    ) -> TypedProperty {
        // Where nil is no value of the type, the object must have one to be saved.
        var description = AttributeDescription(name, kind.type, optional: kind.isOptional)
        var fits = [kind.fits]
        if let composite = kind.composite {
            let elements = composite.elements()
            description.compositeName = composite.name
            description.elements = elements.map { $0.description(inOptional: kind.isOptional) }
            fits = elements.flatMap(\.leaves)
        } else if let `default`, !computed {
            description.defaultValue = kind.stated(`default`(), name)
        }
        description.valueTransformerName = kind.transformerName
        kind.offersTransformer?()
        description.derivationExpression = derived
        description.renamingIdentifier = originalName
        description.versionHashModifier = hashModifier
        description.minimumValue = minimumValue.map { kind.stated($0(), name) }
        description.maximumValue = maximumValue.map { kind.stated($0(), name) }
        precondition(
            minimumLength == nil && maximumLength == nil && pattern == nil || kind.type == .string,
            "\(name) is not a string: it cannot have a length or a pattern")
        description.minimumLength = minimumLength
        description.maximumLength = maximumLength
        description.regularExpression = pattern
        if mergeRule != nil { description.mergeRule = mergeRule }
        description.isTransient = options.contains(.ephemeral)
        description.preservesValueInHistoryOnDeletion = options.contains(.preserveValueOnDeletion)
        description.allowsExternalBinaryDataStorage = options.contains(.externalStorage)
        precondition(
            !description.allowsExternalBinaryDataStorage || kind.type == .binary
                || kind.type == .transformable,
            "\(name) is not binary: only bytes can be stored externally")
        var prepare: (@Sendable (ManagedObject, Int) -> Void)?
        if let `default`, computed || kind.composite != nil {
            prepare = { object, number in object.giveDefault(number, `default`(), kind) }
        }
        return TypedProperty(
            name: name, content: .attribute(description, fits: fits),
            fallback: `default`.map { DeclaredDefault($0) }, prepare: prepare,
            parts: kind.composite?.parts,
            decoding: kind.transformerName == nil ? nil : StoredDecoding(kind.decode))
    }

    /// An attribute that is none.
    @available(
        *, unavailable,
        message: "this is a relationship: describe it with @Relationship"
    )
    public static func attribute<V>(
        _ name: String, _ kind: RelationshipKind<V>, _ options: AttributeOption...,
        default: (@Sendable () -> V)? = nil, computed: Bool = false, derived: String? = nil,
        originalName: String? = nil, hashModifier: String? = nil,
        minimumValue: (@Sendable () -> V)? = nil, maximumValue: (@Sendable () -> V)? = nil,
        minimumLength: Int? = nil, maximumLength: Int? = nil, pattern: String? = nil
    ) -> TypedProperty {
        preconditionFailure("unavailable")
    }
}

// MARK: What cannot be stored

extension TypedProperty {
    /// A property of a type that no attribute has room for.
    @available(
        *, unavailable,
        message: "an unsigned integer of 64 bits does not fit an attribute: use Int, or Decimal"
    )
    public static func property<V>(
        _ name: String, _ kind: UnstorableKind<V>, default: (@Sendable () -> V)? = nil,
        computed: Bool = false
    ) -> TypedProperty {
        preconditionFailure("unavailable")
    }

    /// An attribute of a type that no attribute has room for.
    @available(
        *, unavailable,
        message: "an unsigned integer of 64 bits does not fit an attribute: use Int, or Decimal"
    )
    public static func attribute<V>(
        _ name: String, _ kind: UnstorableKind<V>, _ options: AttributeOption...,
        default: (@Sendable () -> V)? = nil, computed: Bool = false, derived: String? = nil,
        originalName: String? = nil, hashModifier: String? = nil,
        minimumValue: (@Sendable () -> V)? = nil, maximumValue: (@Sendable () -> V)? = nil,
        minimumLength: Int? = nil, maximumLength: Int? = nil, pattern: String? = nil
    ) -> TypedProperty {
        preconditionFailure("unavailable")
    }
}

// MARK: Relationships

extension TypedProperty {
    /// A relationship without options. It is empty in a new object, which is the only default that it can have.
    public static func property<V>(
        _ name: String, _ kind: RelationshipKind<V>, default: (@Sendable () -> V)? = nil,
        computed: Bool = false
    ) -> TypedProperty {
        relationship(name, kind)
    }

    /// A relationship.
    public static func relationship<V>(
        _ name: String, _ kind: RelationshipKind<V>, default: (@Sendable () -> V)? = nil,
        computed: Bool = false, deleteRule: DeleteRule = .nullify, minimumModelCount: Int = 0,
        maximumModelCount: Int = 0, isOptional: Bool = true, originalName: String? = nil,
        hashModifier: String? = nil, mergeRule: MergeRule? = nil, inverse: String? = nil
    ) -> TypedProperty {
        var description = RelationshipDescription(
            name, to: "", toMany: kind.isToMany, inverse: inverse, deleteRule: deleteRule)
        description.isOrdered = kind.isOrdered
        description.isOptional = isOptional
        description.minimumCount = minimumModelCount
        if kind.isToMany { description.maximumCount = maximumModelCount }
        description.renamingIdentifier = originalName
        description.versionHashModifier = hashModifier
        if mergeRule != nil { description.mergeRule = mergeRule }
        return TypedProperty(
            name: name, content: .relationship(description, destination: kind.destination),
            fallback: nil, prepare: nil)
    }

    /// A relationship that is none.
    @available(
        *, unavailable,
        message:
            "this is not a relationship: its type must be Tag?, Set<Tag> or [Tag], where Tag is an entity"
    )
    public static func relationship<V>(
        _ name: String, _ kind: AttributeKind<V>, default: (@Sendable () -> V)? = nil,
        computed: Bool = false, deleteRule: DeleteRule = .nullify, minimumModelCount: Int = 0,
        maximumModelCount: Int = 0, isOptional: Bool = true, originalName: String? = nil,
        hashModifier: String? = nil, mergeRule: MergeRule? = nil, inverse: String? = nil
    ) -> TypedProperty {
        preconditionFailure("unavailable")
    }
}
