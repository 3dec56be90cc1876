import Synchronization

extension LogStore {
    /// Whether ids of deleted objects can be redirected to others.
    public var hasRedirects: Bool { engine.tools.mayRedirect.load(ordering: .relaxed) }

    /// The number of objects that were merged into others, to which their ids are redirected.
    package var redirectCount: Int { engine.registry.read { $0.redirects?.count ?? 0 } }
}
