// The whole state of a store at one commit: a value over copy-on-write pages.
//
// A snapshot pins such a value; a commit copies it, changes the copy through its page transaction, and
// publishes it. A failed commit discards the copy.
//
// Invariants: DR2: cell(n) = (handle, slot) exactly if that block has number n in that slot and the slot is
// live. IX1: a unique index has one entry for each live row without a nil part and no other, a fetch index
// one for each live row of its entities.
// Threads: a value; its pages change only in the commit that allocated them (ST1).

import CairnFormat
import CairnModel
import CairnStore

/// A state of a store.
package struct EngineState: Sendable {
    /// The commit after which this is the state; 0 for an empty store.
    package var commit: UInt64
    /// The end of the log in this state.
    package var end: LogEnd
    /// The start and the end of its last commit's frame in the segment: a start or close frame may follow it.
    var commitOffset: UInt64 = 0
    var commitEnd: LogEnd
    package var catalog: Catalog
    /// By tree: the places of the rows.
    package var directories: [RowDirectory]
    /// By tree: the next number to be issued.
    package var nextNumbers: [UInt32]
    /// By tree: lower numbers may have been issued as ids of objects that are not saved yet.
    package var reserved: [UInt32]
    /// All blocks.
    package var blocks: BlockTable
    /// By unique definition of the catalog.
    package var uniques: [UniqueIndex]
    /// The seed of the hashes in them.
    package var hashSeed: UInt64 = 0
    /// By reference definition of the catalog.
    package var inverses: [InverseTable]
    /// By fetch index of the catalog.
    package var fetchIndexes: [FetchIndexContent]
    /// The places of the commits' changes, as far as they are retained.
    var history = HistoryIndex()
    /// The redirects of the ids of merged objects; nil if there never were any.
    var redirects: RedirectTable?
    /// By entity: the number of live rows.
    package var counts: [Int]
    /// The segments that contain its blocks.
    package var segments: LiveSet

    /// An empty state.
    init(catalog: Catalog, end: LogEnd) {
        commit = 0
        self.end = end
        commitEnd = end
        self.catalog = catalog
        directories = catalog.trees.map { _ in RowDirectory() }
        nextNumbers = catalog.trees.map { _ in 1 }
        reserved = nextNumbers
        blocks = BlockTable()
        uniques = catalog.uniques.map { _ in UniqueIndex() }
        inverses = catalog.references.map { _ in InverseTable() }
        fetchIndexes = catalog.fetchIndexes.map { _ in FetchIndexContent() }
        counts = catalog.entities.map { _ in 0 }
        segments = LiveSet()
    }

    /// Becomes the same as another state except for its segments, reusing its memory. If the state published
    /// before the last one has no reader, a commit reuses its memory instead of allocating.
    mutating func assign(_ other: HeldState<EngineState>) {
        commit = other.state.commit
        end = other.state.end
        commitOffset = other.state.commitOffset
        commitEnd = other.state.commitEnd
        if catalog !== other.state.catalog { catalog = other.state.catalog }
        directories.assign(other.state.directories)
        nextNumbers.assign(other.state.nextNumbers)
        reserved.assign(other.state.reserved)
        blocks.assign(other.state.blocks)
        uniques.assign(other.state.uniques)
        hashSeed = other.state.hashSeed
        inverses.assign(other.state.inverses)
        fetchIndexes.assign(other.state.fetchIndexes)
        counts.assign(other.state.counts)
        history = other.state.history
        if redirects !== other.state.redirects { redirects = other.state.redirects }
    }

    /// A placeholder state, to be exchanged for another.
    init(placeholderWith catalog: Catalog) {
        commit = 0
        end = LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)
        commitEnd = end
        self.catalog = catalog
        directories = []
        nextNumbers = []
        reserved = []
        blocks = BlockTable()
        uniques = []
        inverses = []
        fetchIndexes = []
        counts = []
        segments = LiveSet()
    }

    /// Returns the segment with a number.
    func segment(_ number: UInt32) -> Segment? { segments[number] }

    /// Returns the end of the content of one of its segments.
    package func end(of segment: Segment) -> UInt64 {
        if segment.header.kind == .side {
            return segments.sides.first { $0.segment.number == segment.number }?.end ?? 0
        }
        return segment.number == commitEnd.segment ? commitEnd.offset : segment.knownEnd ?? 0
    }
}

extension HeldState<EngineState> {
    /// Releases the segments, so that their files are closed. The caller must be the only owner of the
    /// object.
    func forgetSegments() { change { $0.segments = LiveSet() } }
}
