// What catalogs with the same entities, columns and indexes share, whatever their metadata.
//
// Threads: any; what is kept is set once.

import Synchronization

/// Data that a higher layer attaches to catalogs with one layout.
class LayoutAttachment: @unchecked Sendable {
    // Has nothing itself; what derives from it has locks.
}

/// The identity of such catalogs.
final class CatalogLayout: Sendable {
    private let kept = AtomicLazyReference<LayoutAttachment>()

    /// What is kept with them; made by the first who asks. There is one class of it: all ask for that.
    @inline(__always)
    func kept<Kept: LayoutAttachment>(_ make: @autoclosure () -> Kept) -> Kept {
        unsafeDowncast(kept.load() ?? kept.storeIfNil(make()), to: Kept.self)
    }
}
