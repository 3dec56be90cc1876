// What catalogs share that describe the same entities, columns and indexes, whatever their metadata are.
//
// Threads: any; what is kept is set once.

import Synchronization

/// What a layer above keeps with a family of catalogs.
class KeptWithCatalogs: @unchecked Sendable {
    // Has nothing itself; what derives from it has locks.
}

/// The identity of such catalogs.
final class CatalogFamily: Sendable {
    private let kept = AtomicLazyReference<KeptWithCatalogs>()

    /// What is kept with them; made by the first who asks. All ask for the same class.
    @inline(__always)
    func kept<Kept: KeptWithCatalogs>(_ make: @autoclosure () -> Kept) -> Kept {
        unsafeDowncast(kept.load() ?? kept.storeIfNil(make()), to: Kept.self)
    }
}
