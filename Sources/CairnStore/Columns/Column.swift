// A typed column, resolved once for a whole batch.

public import CairnModel

/// A column of an entity together with the Swift type of its values.
///
/// ```swift
/// let price = try product.column("price", as: Double.self)
/// let request = BatchInsertRequest(entity: product) { row in
///     row[price] = 9.5
///     return false
/// }
/// ```
public struct Column<Value: AttributeValue>: Sendable {
    /// The column's index in its entity.
    public let index: Int
    /// Which columns the entity has; see `SchemaEntity.layout`.
    @usableFromInline let layout: UInt64

    init(index: Int, layout: UInt64) {
        self.index = index
        self.layout = layout
    }
}

extension SchemaEntity {
    /// Creates the column of an attribute, for values of a Swift type.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the entity has no such stored attribute, if its type differs, or if
    ///   the attribute is derived.
    public func column<Value: AttributeValue>(_ name: String, as type: Value.Type)
        throws(StoreError) -> Column<Value>
    {
        guard let index = columnIndex(named: name) else {
            throw StoreError(
                .invalidRequest, "the entity has no stored attribute of this name",
                context: .init(entity: self.name, key: name))
        }
        guard case .attribute(let attribute) = columns[index].kind, Value.fits(attribute) else {
            throw StoreError(
                .invalidRequest, "values of type \(Value.self) do not fit the attribute",
                context: .init(entity: self.name, key: name))
        }
        guard !columns[index].isDerived else {
            throw StoreError(
                .invalidRequest, "a derived attribute is computed by the store and cannot be set",
                context: .init(entity: self.name, key: name))
        }
        return Column(index: index, layout: layout)
    }
}

/// A to-one relationship of an entity, for the rows of batch inserts.
public struct TargetColumn: Sendable {
    /// The column's index in its entity.
    public let index: Int
    /// Which columns the entity has; see `SchemaEntity.layout`.
    let layout: UInt64
}

extension SchemaEntity {
    /// The column of a to-one relationship.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the entity has no such stored relationship.
    public func targetColumn(_ name: String) throws(StoreError) -> TargetColumn {
        guard let index = columnIndex(named: name), columns[index].relationship != nil else {
            throw StoreError(
                .invalidRequest, "the entity has no to-one relationship of this name",
                context: .init(entity: self.name, key: name))
        }
        return TargetColumn(index: index, layout: layout)
    }
}

/// A to-many relationship of an entity, for the rows of batch inserts.
public struct MembersColumn: Sendable {
    /// The relationship's index in its entity.
    public let index: Int
    /// Which columns the entity has; see `SchemaEntity.layout`.
    let layout: UInt64
}

extension SchemaEntity {
    /// A to-many relationship whose members rows can set.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the entity has no such stored relationship.
    public func membersColumn(_ name: String) throws(StoreError) -> MembersColumn {
        guard let index = listIndex(name) else {
            throw StoreError(
                .invalidRequest, "the entity has no to-many relationship of this name",
                context: .init(entity: self.name, key: name))
        }
        return MembersColumn(index: index, layout: layout)
    }

    /// The index of a to-many relationship that is stored; nil if there is none of the name.
    func listIndex(_ name: String) -> Int? {
        guard let index = relationshipIndex(named: name) else { return nil }
        switch relationships[index].storage {
        case .inverseColumn, .pairs: return index
        case .column, .transient: return nil
        }
    }
}
