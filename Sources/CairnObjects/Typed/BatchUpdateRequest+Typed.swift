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
    /// Updates the objects of a class that match a predicate; all of them without one.
    ///
    /// A part of the predicate that no store can answer is an error when the request is carried out.
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

    /// The same request, which sets a property besides.
    ///
    /// What is stored neither as it is nor by its raw value cannot be set so: of a composite attribute set the elements. A
    /// relationship is set by ``set(_:toObject:)``.
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

    /// The same request, which sets a property to what an expression gives for each object, as it was before the request.
    public func set<T: PersistentEntity, V>(_ path: KeyPath<T, V>, to expression: ExpressionNode)
        -> BatchUpdateRequest
    {
        setting(path, .expression(expression))
    }

    /// The same request, which sets a property to what an expression gives for each object, as it was before the request.
    ///
    /// - Parameter expression: of what ``FetchRequest`` understands in predicates, what gives a value.
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

    /// The same request, which lets a to-one relationship lead to an object, or to none.
    public func set<T: PersistentEntity, V: ManagedObject>(
        _ path: KeyPath<T, V?>, toObject id: ObjectID?
    ) -> BatchUpdateRequest {
        setting(path, .value(id.map { .objectID($0) } ?? .null))
    }

    private func setting<T: PersistentEntity>(_ path: PartialKeyPath<T>, _ value: UpdatedValue)
        -> BatchUpdateRequest
    {
        guard let name = TypedEntity.of(T.self).key(of: path) else {
            return refusing("the key path does not lead to a stored property", path)
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
