// Objects of typed classes in a context.

import CairnModel

extension ManagedObjectContext {
    /// A new object of a class.
    ///
    /// ```swift
    /// let product = context.insert(Product.self)
    /// product.price = 9.5
    /// try context.save()
    /// ```
    @discardableResult
    public func insert<T: ManagedObject>(_ type: T.Type) -> T {
        T(entity: entity(for: type), insertInto: self)
    }
}
