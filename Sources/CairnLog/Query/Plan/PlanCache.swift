// A cache of plan outlines: programs use the same few shapes of fetches repeatedly, and planning a shape
// takes longer than counting the index entries for its constants.
//
// The table is divided into sets of a few outlines each; a shape belongs to one set, and a full set evicts
// its oldest outline. The cache belongs to a catalog, which is recreated for another model or other fetch
// indexes: no outline outlives them.
//
// Threads: any; one lock.

import CairnModel
import CairnStore
import Synchronization

final class PlanCache: LayoutAttachment, @unchecked Sendable {
    // The only state is within a lock.

    private static let sets = 64
    private static let outlinesOfSet = 4

    /// By set; empty until the first outline is added.
    private let outlines = Mutex<[PlanOutline?]>([])

    /// The number of cached outlines.
    var count: Int { outlines.withLock { $0.count { $0 != nil } } }

    /// Returns the outline of a fetch; creates it if it is not cached.
    func outline(_ fetch: StoreFetch, _ terms: [PlanTerm], _ catalog: Catalog) -> PlanOutline {
        let first = Self.set(fetch, terms) * Self.outlinesOfSet
        let known = outlines.withLock { outlines -> PlanOutline? in
            if outlines.isEmpty { return nil }
            for place in first..<first + Self.outlinesOfSet {
                guard let outline = outlines[place] else { return nil }
                if outline.fits(fetch, terms) { return outline }
            }
            return nil
        }
        if let known { return known }
        let outline = PlanOutline(fetch, terms, catalog)
        outlines.withLock { outlines in
            if outlines.isEmpty {
                outlines = Array(repeating: nil, count: Self.sets * Self.outlinesOfSet)
            }
            let last = first + Self.outlinesOfSet - 1
            for place in (first..<last).reversed() { outlines[place + 1] = outlines[place] }
            outlines[first] = outline
        }
        return outline
    }

    /// Returns the set that a shape belongs to.
    private static func set(_ fetch: StoreFetch, _ terms: [PlanTerm]) -> Int {
        var hash = UInt64(truncatingIfNeeded: fetch.entity)
        func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for term in terms {
            for byte in term.key.utf8 { mix(byte) }
            mix(term.kind.rawValue)
        }
        for key in fetch.sort {
            for byte in key.key.utf8 { mix(byte) }
            mix((key.isAscending ? 1 : 0) + (key.nilIsGreatest ? 2 : 0))
        }
        return Int(truncatingIfNeeded: ((hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }
}

extension Catalog {
    /// The outlines of fetches planned with it, and with catalogs that only differ in their metadata.
    var plans: PlanCache { layout.kept(PlanCache()) }
}
