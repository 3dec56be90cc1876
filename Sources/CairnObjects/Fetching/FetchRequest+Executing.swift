// Executing a request as a verb of its own.
//
// In Core Data `execute()` takes nothing, and asks the context in whose `perform` it runs. Here no context is current: what the
// compiler knows of an object is that it may not leave what the context is in, and it knows that because the call names the
// context. Objects from a call that names none could leave.

public import CairnModel
public import CairnStore

extension FetchRequest where Result: ManagedObject {
    /// The objects that match; see ``ManagedObjectContext/fetch(_:)->[Result]``.
    ///
    /// ```swift
    /// let cheap = try request.execute(in: context)
    /// ```
    ///
    /// - Throws: As that.
    public func execute(in context: ManagedObjectContext) throws(StoreError) -> [Result] {
        try context.fetch(self)
    }
}

extension FetchRequest where Result == ObjectID {
    /// The ids of the objects that match; see ``ManagedObjectContext/fetchObjectIDs(_:)``.
    ///
    /// - Throws: As that.
    public func execute(in context: ManagedObjectContext) throws(StoreError) -> [ObjectID] {
        try context.fetchObjectIDs(self)
    }
}

extension FetchRequest where Result == DictionaryResult {
    /// The requested values; see ``ManagedObjectContext/fetch(_:)->[Result]``.
    ///
    /// - Throws: As that.
    public func execute(in context: ManagedObjectContext) throws(StoreError) -> [DictionaryResult] {
        try context.fetch(self)
    }
}

extension FetchRequest where Result == Int {
    /// The number of objects that match, as the only member; see ``ManagedObjectContext/count(for:)``.
    ///
    /// - Throws: As that.
    public func execute(in context: ManagedObjectContext) throws(StoreError) -> [Int] {
        try context.fetch(self)
    }
}
