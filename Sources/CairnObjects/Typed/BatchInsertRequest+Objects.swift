// Batch inserts whose rows are set as properties of objects.
//
//   1. For each row the closure gets an object that is in no context, with the model's defaults.
//   2. What it has set becomes what the row says. The object is not kept: no hook of it is called.
//
// Threads: the closure runs in the thread that carries the request out.

import CairnModel
public import CairnStore

extension BatchInsertRequest {
    /// Rows as objects that a closure sets the attributes of: as comfortable as saving them, and without a context that holds
    /// them.
    ///
    /// The closure is called until it returns true; the object of that last call is not inserted. A row says what the closure has
    /// set: everything else is as it is in a new object, or stays as it is stored with ``setOnly``. Relationships lead to objects
    /// of a context and are refused here: the other forms say targets by ids and keys. The closure runs before the batch takes
    /// its turn to write, behind the first 64 MiB of rows also within it, and must not use the store; objects are in no context,
    /// and must not be kept.
    ///
    /// The objects are of the class that the entity has in the context which executes the request; a store that executes it by
    /// itself knows of no classes, and gives plain ones.
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
