// Queries on a snapshot whose results are read with typed columns, without creating values or objects for each row.

public import CairnModel

/// Which objects to read, and which of their columns.
///
/// ```swift
/// let cheap = StoreRead(product, where: .compare("price", .less, .double(5)))
/// try snapshot.read(cheap) { row in names.append(row[name]) }
/// ```
public struct StoreRead: Sendable {
    /// The entity whose columns to read.
    public let entity: SchemaEntity
    /// Which objects to read. Without sort keys, limit and offset their order is up to the store; otherwise it is the order
    /// of a `StoreFetch`.
    public var fetch: StoreFetch
    /// The columns to read.
    public var columns: ColumnSet

    /// Reads objects of an entity and its descendants.
    ///
    /// - Parameter columns: the columns to read; nil: all. Fewer columns are faster.
    public init(
        _ entity: SchemaEntity, columns: ColumnSet? = nil, where predicate: PredicateNode? = nil
    ) {
        self.entity = entity
        self.columns = columns ?? ColumnSet(entity.columns.indices)
        fetch = StoreFetch(entity: entity.index, predicate: predicate)
    }
}

/// A uniqueness constraint by which to look up objects, and the columns to read.
///
/// ```swift
/// let lookup = StoreLookup(product, by: ColumnSet(serialCode))
/// try snapshot.lookUp(lookup, serialCode, serials) { row in
///     found[row.position] = row[name]
/// }
/// ```
public struct StoreLookup: Sendable {
    /// The entity whose columns to read. Objects of its descendants are found too.
    public let entity: SchemaEntity
    /// The columns of a uniqueness constraint of the entity, which must have no options.
    public let key: ColumnSet
    /// The columns to read.
    public var columns: ColumnSet

    /// Looks up objects by the columns of a uniqueness constraint, in any order.
    ///
    /// - Parameter columns: the columns to read; nil: all. Fewer columns are faster.
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
    /// Creates a set of these columns.
    public init<First: AttributeValue, each Rest: AttributeValue>(
        _ first: Column<First>, _ rest: repeat Column<each Rest>
    ) {
        self.init()
        insert(first.index)
        for column in repeat each rest { insert(column.index) }
    }
}
