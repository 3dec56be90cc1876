// The columns that a typed batch insert fills, by the names of the class's properties.
//
// Every property has a token in the generated `Columns`; which kind of token, and so how a value is written,
// the compiler finds out from the property's type. Tokens are bound to the columns of a store's entity once
// for a request; then a value goes straight into its cell. All that a row passes is inlinable.
//
// Invariants: a bound token's column takes what the token writes, which `EntityBinding` has compared.

import CairnModel
public import CairnStore

/// The columns of a typed class. `@Entity` generates such a type in each class.
public protocol EntityColumns: Sendable {
    /// The columns of the class that it inherits from.
    associatedtype _Parent: EntityColumns
    /// The columns of the class that it inherits from.
    var _parent: _Parent { get }
    /// The description of the class; nil only where there are no columns.
    static var _entity: TypedEntity? { get }
    /// How many properties the class has, inherited ones included.
    static var _count: Int { get }
    /// The columns as they lie in a store's entity.
    init(_ binding: EntityBinding)
}

/// The columns of a class that is not an entity.
public struct NoColumns: EntityColumns {
    /// Itself: there is nothing above.
    public var _parent: NoColumns { self }
    /// None.
    public static var _entity: TypedEntity? { nil }
    /// None.
    @inlinable public static var _count: Int { 0 }
    /// No columns.
    public init(_ binding: EntityBinding) {}
}

/// A column, or several, that a row can set.
public protocol ColumnToken: Sendable {
    /// What is set.
    associatedtype Value
    /// Puts a value into the row.
    func _store(_ value: Value, in row: borrowing RowWriter)
}

/// A column whose values are stored as they are.
public struct PlainToken<Value: AttributeValue>: ColumnToken {
    @usableFromInline var index = 0

    init() {}

    /// Binds the token to the column of a property.
    public mutating func _bind(_ binding: EntityBinding, _ property: Int) {
        index = binding.column(property)
    }

    /// Puts a value into the row.
    @inlinable public func _store(_ value: Value, in row: borrowing RowWriter) {
        row._set(index, value)
    }
}

/// A column whose values are stored as raw values.
public struct RawToken<Value: RawRepresentable & SendableMetatype>: ColumnToken
where Value.RawValue: AttributeValue {
    @usableFromInline var index = 0

    init() {}

    /// Binds the token to the column of a property.
    public mutating func _bind(_ binding: EntityBinding, _ property: Int) {
        index = binding.column(property)
    }

    /// Puts a value into the row.
    @inlinable public func _store(_ value: Value, in row: borrowing RowWriter) {
        row._set(index, value.rawValue)
    }
}

/// A column whose values are stored as raw values, or nil.
public struct OptionalRawToken<Wrapped: RawRepresentable & SendableMetatype>: ColumnToken
where Wrapped.RawValue: AttributeValue {
    @usableFromInline var index = 0

    init() {}

    /// Binds the token to the column of a property.
    public mutating func _bind(_ binding: EntityBinding, _ property: Int) {
        index = binding.column(property)
    }

    /// Puts a value into the row.
    @inlinable public func _store(_ value: Wrapped?, in row: borrowing RowWriter) {
        row._set(index, value?.rawValue)
    }
}

/// Columns whose values are composite, or stored as JSON.
public struct ConvertedToken<Value>: ColumnToken {
    private let kind: AttributeKind<Value>
    private var columns: [Int] = []
    private var name = ""

    init(_ kind: AttributeKind<Value>) { self.kind = kind }

    /// Binds the token to the columns of a property.
    public mutating func _bind(_ binding: EntityBinding, _ property: Int) {
        columns = binding.allColumns(property)
        name = binding.typed?.properties[property].name ?? ""
    }

    /// Puts a value into the row. One that cannot be encoded is what the request throws.
    public func _store(_ value: Value, in row: borrowing RowWriter) {
        if let composite = kind.composite {
            var writer = CompositeWriter()
            composite.write(value, &writer)
            if let cause = writer.failure { return refuse(cause, row) }
            for (column, leaf) in zip(columns, writer.values) { put(leaf, column, row) }
        } else {
            do {
                put(try kind.encode(value), columns[0], row)
            } catch {
                refuse(error, row)
            }
        }
    }

    private func refuse(_ cause: any Error, _ row: borrowing RowWriter) {
        row.refuse(
            StoreError(
                .validation,
                "the value of type \(Value.self) cannot be stored: it could not be encoded",
                context: .init(key: name), cause: cause))
    }

    private func put(_ value: CairnModel.Value, _ column: Int, _ row: borrowing RowWriter) {
        precondition(row.set(column, value), "a leaf's column was compared when it was bound")
    }
}

/// A to-one relationship, whose target a row names.
public struct TargetToken<Target: ManagedObject>: ColumnToken {
    private var index = 0

    init() {}

    /// Binds the token to the column of a relationship.
    public mutating func _bind(_ binding: EntityBinding, _ property: Int) {
        guard case .target(let relationship) = binding.slot(property),
            case .column(let column) = binding.entity.relationships[relationship].storage
        else { binding.misuse(property, "has no column that a batch insert could set") }
        index = column
    }

    /// Names the target in the row.
    public func _store(_ value: RowTarget?, in row: borrowing RowWriter) {
        row._setTarget(index, value)
    }
}

/// A to-many relationship, whose members a row names.
public struct MembersToken<Target: ManagedObject>: ColumnToken {
    private var index = 0

    init() {}

    /// Binds the token to a relationship.
    public mutating func _bind(_ binding: EntityBinding, _ property: Int) {
        guard case .members(let relationship) = binding.slot(property) else {
            binding.misuse(property, "is not a to-many relationship")
        }
        index = relationship
    }

    /// Names the members in the row.
    public func _store(_ value: RowTargets, in row: borrowing RowWriter) {
        row._setMembers(index, value)
    }
}

/// Nothing: a batch insert cannot set the property.
public struct RelationshipToken<Value>: Sendable {
    init() {}

    /// The property has no column to set.
    public mutating func _bind(_ binding: EntityBinding, _ property: Int) {}
}

extension TypedKind {
    /// The column of values that are stored as they are.
    public static func column<V: PropertyValue>(_ type: V.Type) -> PlainToken<V> { PlainToken() }

    /// The column of optional values that are stored as they are.
    public static func column<V: PropertyValue>(_ type: V?.Type) -> PlainToken<V?> { PlainToken() }

    /// The column of values with a raw value.
    public static func column<V: RawRepresentable & SendableMetatype>(_ type: V.Type) -> RawToken<V>
    where V.RawValue: PropertyValue { RawToken() }

    /// The column of optional values with a raw value.
    public static func column<V: RawRepresentable & SendableMetatype>(_ type: V?.Type)
        -> OptionalRawToken<V>
    where V.RawValue: PropertyValue { OptionalRawToken() }

    /// The columns of composite values.
    public static func column<V: CompositeValue>(_ type: V.Type) -> ConvertedToken<V> {
        ConvertedToken(of(type))
    }

    /// The columns of optional composite values.
    public static func column<V: CompositeValue>(_ type: V?.Type) -> ConvertedToken<V?> {
        ConvertedToken(of(type))
    }

    /// The column of values that are stored as JSON.
    @_disfavoredOverload
    public static func column<V: Codable & SendableMetatype>(_ type: V.Type) -> ConvertedToken<V> {
        ConvertedToken(of(type))
    }

    /// A to-one relationship.
    public static func column<T: ManagedObject>(_ type: T?.Type) -> TargetToken<T> {
        TargetToken()
    }

    /// A to-many relationship.
    public static func column<T: ManagedObject>(_ type: Set<T>.Type) -> MembersToken<T> {
        MembersToken()
    }

    /// An ordered to-many relationship.
    public static func column<T: ManagedObject>(_ type: [T].Type) -> MembersToken<T> {
        MembersToken()
    }

    /// Any other type: its misuse is reported where the property is described.
    @_disfavoredOverload
    public static func column<V>(_ type: V.Type) -> RelationshipToken<V> { RelationshipToken() }
}

extension EntityBinding {
    /// The column of an attribute.
    ///
    /// - Precondition: it has one.
    func column(_ property: Int) -> Int {
        guard case .column(let column) = slot(property) else {
            misuse(property, "has no column that a batch insert could set")
        }
        return column
    }

    /// The columns of an attribute.
    func allColumns(_ property: Int) -> [Int] {
        if case .composite(let list) = slot(property) { return columns(ofComposite: list) }
        return [column(property)]
    }
}
