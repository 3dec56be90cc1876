// Batch inserts for typed classes.
//
//   1. When the request is carried out, the class's columns are found in the store's entity, once.
//   2. Each row then goes through the caller's closure alone: the wrapping closures are inlinable, so that
//      the optimizer makes one of them and the caller's.

import CairnModel
public import CairnStore

extension BatchInsertRequest {
    /// Inserts rows that a closure fills: the fast form.
    ///
    /// ```swift
    /// let request = BatchInsertRequest(Product.Columns.self) { row in
    ///     guard let item = source.next() else { return true }
    ///     row.serialCode = item.code
    ///     row.price = item.price
    ///     return false
    /// }
    /// ```
    ///
    /// The closure is called until it returns true; the row of that last call is not inserted. It runs before the batch
    /// acquires the write lock, or while it holds the lock, and others wait, for rows after the first 64 MiB. It must not
    /// use the store.
    @inlinable public init<Columns: EntityColumns>(
        _ columns: Columns.Type,
        rows: @escaping @Sendable (borrowing EntityRow<Columns>) throws -> Bool
    ) {
        self.init(
            _typed: Columns._entity,
            { binding in
                let bound = BoundColumns(Columns(binding))
                return { writer in try rows(EntityRow(writer, bound.pointer)) }
            })
    }

    /// Inserts rows of a class that a closure fills: the fast form.
    ///
    /// For a class that inherits from another entity, `row` only has the inherited properties: use `Employee.Columns.self`
    /// instead of `Employee.self` to have all of them.
    @inlinable public init<T: PersistentEntity>(
        _ type: T.Type,
        rows: @escaping @Sendable (borrowing EntityRow<T.Columns>) throws -> Bool
    ) {
        self.init(
            _typed: type._typedEntity,
            { binding in
                let bound = BoundColumns(T.Columns(binding))
                return { writer in try rows(EntityRow(writer, bound.pointer)) }
            })
    }

    /// One row for each element of a sequence: as fast as the sequence allows.
    ///
    /// ```swift
    /// let request = BatchInsertRequest(Product.Columns.self, from: feed) { row, item in
    ///     row.serialCode = item.code
    ///     row.price = item.price
    /// }
    /// ```
    ///
    /// The sequence is iterated each time the request is executed.
    @inlinable public init<Columns: EntityColumns, Rows: Sequence & Sendable>(
        _ columns: Columns.Type, from rows: Rows,
        fill: @escaping @Sendable (borrowing EntityRow<Columns>, Rows.Element) throws -> Void
    ) {
        self.init(
            _typed: Columns._entity, canRepeat: rows is any Collection, Self._filling(rows, fill))
    }

    /// One row for each element of a sequence: as fast as the sequence allows.
    ///
    /// For a class that inherits from another entity, `row` only has the inherited properties: use `Employee.Columns.self`
    /// instead of `Employee.self` to have all of them.
    @inlinable public init<T: PersistentEntity, Rows: Sequence & Sendable>(
        _ type: T.Type, from rows: Rows,
        fill: @escaping @Sendable (borrowing EntityRow<T.Columns>, Rows.Element) throws -> Void
    ) {
        self.init(
            _typed: type._typedEntity, canRepeat: rows is any Collection, Self._filling(rows, fill))
    }

    /// Rows as dictionaries; see ``init(entityName:objects:)``.
    public init<T: PersistentEntity>(_ type: T.Type, objects: [[String: Any]]) {
        self.init(entityName: type.entityName, objects: objects)
    }

    /// Rows as values that encode themselves; see ``init(entityName:encodable:)``.
    public init<T: PersistentEntity, Rows: Sequence & Sendable>(
        _ type: T.Type, encodable rows: Rows
    )
    where Rows.Element: Encodable {
        self.init(entityName: type.entityName, encodable: rows)
    }

    // MARK: Steps

    /// Fills a row from each element of a sequence.
    @inlinable static func _filling<Columns: EntityColumns, Rows: Sequence & Sendable>(
        _ rows: Rows,
        _ fill: @escaping @Sendable (borrowing EntityRow<Columns>, Rows.Element) throws -> Void
    ) -> @Sendable (EntityBinding) -> @Sendable (borrowing RowWriter) throws -> Bool {
        { binding in
            let bound = BoundColumns(Columns(binding))
            let source = RowSource(rows)
            return { writer in
                guard let element = source.next() else { return true }
                try fill(EntityRow(writer, bound.pointer), element)
                return false
            }
        }
    }

    /// Rows of a typed class, for which the columns are found first.
    @usableFromInline init(
        _typed entity: TypedEntity?, canRepeat: Bool = false,
        _ makeRows:
            @escaping @Sendable (EntityBinding) -> @Sendable (borrowing RowWriter) throws -> Bool
    ) {
        guard let entity else {
            preconditionFailure("a class that is not marked @Entity has no rows")
        }
        let makeFiller: RowMaker = { schemaEntity throws(StoreError) in
            let binding = EntityBinding(schemaEntity, entity)
            if let name = binding.missingProperty {
                throw StoreError(
                    .incompatibleModel,
                    "the store's model does not have the property as the class \(entity.type) declares it",
                    context: .init(entity: entity.name, key: name))
            }
            return makeRows(binding)
        }
        self.init(entityName: entity.name, canRepeat: canRepeat, rows: makeFiller)
    }
}

/// Goes through a sequence, from within a closure.
@usableFromInline
final class RowSource<Rows: Sequence>: @unchecked Sendable {
    // Made for one execution of one request, which calls its closure from one thread.
    @usableFromInline var iterator: Rows.Iterator

    @inlinable init(_ rows: Rows) { iterator = rows.makeIterator() }

    @inlinable func next() -> Rows.Element? { iterator.next() }
}
