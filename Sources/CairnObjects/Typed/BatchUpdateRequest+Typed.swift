// Batch updates for typed classes.

public import CairnModel
public import CairnStore
public import FoundationEssentials

/// A batch update of a class, whose properties are named by their key paths.
///
/// ```swift
/// let result = try context.execute(
///     BatchUpdateRequest(Product.self, where: #Predicate { $0.stock == 0 })
///         .set(\Product.isFavorite, to: false)
///         .set(\Product.stock, to: #Expression { $0.stock + 10 }))
/// ```
extension BatchUpdateRequest {
    /// Updates the objects of a class that match a predicate; nil: all of them.
    ///
    /// If a part of the predicate is not supported by stores, executing the request fails.
    public init<T: PersistentEntity>(_ type: T.Type, where predicate: Predicate<T>? = nil) {
        self.init(entityName: T.entityName)
        guard let predicate else { return }
        do throws(StoreError) {
            self.predicate = try PredicateLowering.tree(predicate)
        } catch {
            refusal = error
        }
    }

    /// Updates the objects of a class that meet a condition.
    public init<T: PersistentEntity>(_ type: T.Type, predicate: PredicateNode) {
        self.init(entityName: T.entityName, predicate: predicate)
    }

    /// A copy of the request that also sets a property.
    ///
    /// A property that is stored neither directly nor by its raw value cannot be set this way: set the elements of a
    /// composite attribute. Use ``set(_:toObject:)`` for a relationship.
    public func set<T: PersistentEntity, V>(_ path: KeyPath<T, V>, to value: V)
        -> BatchUpdateRequest
    {
        guard let value = Value(typed: value) else {
            return refusing(
                "a batch update cannot set a value of type \(V.self): set its elements, if it has any",
                path)
        }
        return setting(path, .value(value))
    }

    /// A copy of the request that also sets a property to the value of an expression, which is evaluated on each object's
    /// state before the request.
    public func set<T: PersistentEntity, V>(_ path: KeyPath<T, V>, to expression: ExpressionNode)
        -> BatchUpdateRequest
    {
        setting(path, .expression(expression))
    }

    /// A copy of the request that also sets a property to the value of an expression, which is evaluated on each object's
    /// state before the request.
    ///
    /// - Parameter expression: a value expression of the kind that ``FetchRequest`` supports in predicates.
    public func set<T: PersistentEntity, V>(
        _ path: KeyPath<T, V>, to expression: Expression<T, V>
    ) -> BatchUpdateRequest {
        do throws(StoreError) {
            return setting(path, .expression(try PredicateLowering.expression(expression)))
        } catch {
            var request = self
            request.refusal = request.refusal ?? error
            return request
        }
    }

    /// A copy of the request that also sets a to-one relationship to an object, or to nil.
    public func set<T: PersistentEntity, V: ManagedObject>(
        _ path: KeyPath<T, V?>, toObject id: ObjectID?
    ) -> BatchUpdateRequest {
        setting(path, .value(id.map { .objectID($0) } ?? .null))
    }

    private func setting<T: PersistentEntity>(_ path: PartialKeyPath<T>, _ value: UpdatedValue)
        -> BatchUpdateRequest
    {
        guard let name = TypedEntity.of(T.self).key(of: path) else {
            return refusing("the key path does not end in a stored property", path)
        }
        var request = self
        request.propertiesToUpdate[name] = value
        return request
    }

    private func refusing<T: PersistentEntity>(_ message: String, _ path: PartialKeyPath<T>)
        -> BatchUpdateRequest
    {
        var request = self
        request.refusal =
            request.refusal
            ?? StoreError(
                .invalidRequest, message,
                context: .init(
                    entity: entityName, key: TypedEntity.of(T.self).key(of: path) ?? path.words))
        return request
    }
}
