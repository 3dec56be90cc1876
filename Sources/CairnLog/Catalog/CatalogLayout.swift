// What catalogs with the same entities, columns and indexes share, whatever their metadata.
//
// Threads: any; what is kept is set once.

import Synchronization

/// Data that a higher layer attaches to catalogs with one layout.
class LayoutAttachment: @unchecked Sendable {
    // Has no state itself; subclasses have locks.
}

/// The identity of such a layout.
final class CatalogLayout: Sendable {
    private let kept = AtomicLazyReference<LayoutAttachment>()

    /// Returns the attachment; the first caller creates it. There is only one class of it, which all callers
    /// request.
    @inline(__always)
    func kept<Kept: LayoutAttachment>(_ make: @autoclosure () -> Kept) -> Kept {
        unsafeDowncast(kept.load() ?? kept.storeIfNil(make()), to: Kept.self)
    }
}
