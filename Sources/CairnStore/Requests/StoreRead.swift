// Questions to a snapshot whose answers are read by typed columns, without a value or an object for each row.

public import CairnModel

/// Which objects are read, and which of their columns.
///
/// ```swift
/// let cheap = StoreRead(product, where: .compare("price", .less, .double(5)))
/// try snapshot.read(cheap) { row in names.append(row[name]) }
/// ```
public struct StoreRead: Sendable {
    /// The entity whose columns are read.
    public let entity: SchemaEntity
    /// Which objects are wanted. Without sort keys, limit and offset they come in an order that the store chooses;
    /// else in the order of a `StoreFetch`.
    public var fetch: StoreFetch
    /// The columns that are read.
    public var columns: ColumnSet

    /// Asks for objects of an entity and its descendants.
    ///
    /// - Parameter columns: the columns that are read; nil: all. The fewer, the faster.
    public init(
        _ entity: SchemaEntity, columns: ColumnSet? = nil, where predicate: PredicateNode? = nil
    ) {
        self.entity = entity
        self.columns = columns ?? ColumnSet(entity.columns.indices)
        fetch = StoreFetch(entity: entity.index, predicate: predicate)
    }
}

/// By which uniqueness constraint objects are looked up, and which of their columns are read.
///
/// ```swift
/// let lookup = StoreLookup(product, by: ColumnSet(serialCode))
/// try snapshot.lookUp(lookup, serialCode, serials) { row in
///     found[row.position] = row[name]
/// }
/// ```
public struct StoreLookup: Sendable {
    /// The entity whose columns are read. Objects of its descendants are found too.
    public let entity: SchemaEntity
    /// The columns of a uniqueness constraint of the entity, one without options.
    public let key: ColumnSet
    /// The columns that are read.
    public var columns: ColumnSet

    /// Asks for objects by the columns of a uniqueness constraint, in any order.
    ///
    /// - Parameter columns: the columns that are read; nil: all. The fewer, the faster.
    public init(_ entity: SchemaEntity, by key: ColumnSet, columns: ColumnSet? = nil) {
        self.entity = entity
        self.key = key
        self.columns = columns ?? ColumnSet(entity.columns.indices)
    }

    /// The constraint without options that the key makes up; nil if there is none.
    package var constraint: SchemaConstraint? {
        entity.constraints.first { $0.options == nil && ColumnSet($0.columns) == key }
    }

    /// The error for a key that is none.
    package var noConstraint: StoreError {
        StoreError(
            .invalidRequest,
            "a lookup needs all columns of a uniqueness constraint of the entity",
            context: .init(
                entity: entity.name,
                key: key.filter { $0 < entity.columns.count }.map { entity.columns[$0].name }
                    .joined(separator: ", ")))
    }
}

extension ColumnSet {
    /// The set of these columns.
    public init<First: AttributeValue, each Rest: AttributeValue>(
        _ first: Column<First>, _ rest: repeat Column<each Rest>
    ) {
        self.init()
        insert(first.index)
        for column in repeat each rest { insert(column.index) }
    }
}
