// Working in a context where it is.

extension ManagedObjectContext {
    /// Runs a closure at once, and gives what it gives.
    ///
    /// Whoever can call this works in the context already: objects never leave the isolation that their context is confined to,
    /// so there is nothing to wait for, and nothing to be locked. It is here for programs that come from Core Data. From
    /// elsewhere ``BackgroundContext/perform(_:)`` leads in, which cannot be waited for without `await`.
    ///
    /// - Throws: What the closure throws.
    public func performAndWait<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        try body()
    }
}
