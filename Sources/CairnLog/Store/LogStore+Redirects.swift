import Synchronization

extension LogStore {
    /// Whether ids of deleted objects can be redirected to others.
    public var hasRedirects: Bool { engine.tools.mayRedirect.load(ordering: .relaxed) }

    /// How many objects were folded into others that their ids lead to.
    package var redirectCount: Int { engine.registry.read { $0.redirects?.count ?? 0 } }
}
