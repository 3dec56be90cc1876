// Batch inserts whose rows are set as properties of objects.
//
//   1. For each row the closure gets an object that is in no context, with the model's defaults.
//   2. What it has set becomes what the row says. The object is not kept: no hook of it is called.
//
// Threads: the closure runs in the thread that carries the request out.

import CairnModel
public import CairnStore

extension BatchInsertRequest {
    /// Inserts rows from objects whose attributes a closure sets: as convenient as saving objects, but without a context
    /// that retains them.
    ///
    /// The closure is called until it returns true; the object of that last call is not inserted. A row contains what the
    /// closure has set: everything else has the default value of a new object, or keeps the stored value with ``setOnly``.
    /// Relationships require objects in a context and are rejected here: the other forms specify targets by ids and keys.
    /// The closure runs before the batch acquires the write lock, or while it holds the lock for rows after the first 64
    /// MiB, and must not use the store; the objects are not in a context, and must not be kept.
    ///
    /// The objects have the class of the entity in the context that executes the request; a store that executes it directly
    /// does not know classes, and provides plain objects.
    ///
    /// ```swift
    /// BatchInsertRequest(entityName: "Product", managedObjectHandler: { product in
    ///     guard let line = lines.next() else { return true }
    ///     product["serialCode"] = line.code
    ///     return false
    /// })
    /// ```
    public init(
        entityName: String,
        managedObjectHandler handler: @escaping @Sendable (ManagedObject) throws -> Bool
    ) {
        self.init(entityName: entityName) { entity, type throws(StoreError) in
            let type = type as? ManagedObject.Type ?? ManagedObject.self
            return { writer in
                let object = type.init(entity: entity, insertInto: nil)
                if try handler(object) { return true }
                try object.write(to: writer)
                return false
            }
        }
    }

    /// The same with objects of a class.
    ///
    /// ```swift
    /// BatchInsertRequest(Product.self, managedObjectHandler: { product in
    ///     guard let line = lines.next() else { return true }
    ///     product.serialCode = line.code
    ///     return false
    /// })
    /// ```
    public init<T: PersistentEntity>(
        _ type: T.Type, managedObjectHandler handler: @escaping @Sendable (T) throws -> Bool
    ) {
        self.init(entityName: T.entityName) { entity throws(StoreError) in
            { writer in
                let object = T(entity: entity, insertInto: nil)
                if try handler(object) { return true }
                try object.write(to: writer)
                return false
            }
        }
    }
}

extension ManagedObject {
    /// Says in a row what was set on an object that is in no context.
    fileprivate func write(to writer: borrowing RowWriter) throws(StoreError) {
        if let error = StoreError.combining(refusalErrors) { throw error }
        for (index, state) in rarer?.toMany ?? [:] where state.hasChanges {
            throw refused(entity.relationships[index].description.name)
        }
        for column in entity.columns.indices where isAssigned(column) {
            let description = entity.columns[column]
            guard description.attribute != nil else { throw refused(description.name) }
            if let reason = description.reasonNotToBeSet {
                throw StoreError(
                    .invalidRequest, reason,
                    context: .init(entity: entity.name, key: description.name))
            }
            guard writer.set(column, presentValue(column)) else {
                throw StoreError(
                    .invalidRequest, "the value does not have the attribute's type",
                    context: .init(entity: entity.name, key: description.name))
            }
        }
    }

    private func refused(_ key: String) -> StoreError {
        StoreError(
            .invalidRequest,
            "an object without a context has no relationships: give the target by its id or key, in another form of rows",
            context: .init(entity: entity.name, key: key))
    }
}
