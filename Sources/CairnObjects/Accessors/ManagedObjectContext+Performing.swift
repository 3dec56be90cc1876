// Working in a context where it is.

extension ManagedObjectContext {
    /// Runs a closure immediately and returns its result.
    ///
    /// Code that can call this already runs in the context's isolation, which objects never leave, so there is nothing
    /// to wait for or to lock. It exists for programs that come from Core Data. From elsewhere, use
    /// ``BackgroundContext/perform(_:)`` with `await`.
    ///
    /// - Throws: What the closure throws.
    public func performAndWait<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        try body()
    }
}
