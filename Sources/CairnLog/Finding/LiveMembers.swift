// The members of live sets: their files, and which of them may be missing because they were retired later.
//
// A writer removes a segment when its retirement is durable. So a segment that the newest start frame lists,
// or that a later commit adopts, may be missing; then a later retire frame says so, and the member is
// ignored. A process that follows a writer needs everything after its state.
//
// Invariants: nothing is written.
// Threads: one reader in one thread.

import CairnFormat
import CairnStore

struct LiveMembers {
    /// The newest main segment, which lists the retired ones; nil if none can be missing.
    private let newest: FoundSegment?
    /// An LSN beyond which everything is ignored.
    private let limit: UInt64?
    /// A commit after which everything is ignored.
    private let lastCommit: UInt64?
    /// Where to look for files that were missing at first; nil: nowhere.
    private let files: StoreFiles?
    private var whole: [UInt32: FoundSegment]
    private let notWhole: [UInt32: StoreError]
    /// Members that are gone, as they were retired later.
    private(set) var gone: Set<UInt32> = []
    private var later: LaterChanges?

    /// The members of a log that is read as found.
    init(_ found: FoundLog, limit: UInt64?, through lastCommit: UInt64? = nil) {
        newest = found.mains.last
        self.limit = limit
        self.lastCommit = lastCommit
        files = nil
        whole = found.whole
        notWhole = found.notWhole
    }

    /// The members of a log that another process writes, which creates new segments.
    init(_ found: FoundLog, followingIn files: StoreFiles) {
        newest = nil
        limit = nil
        lastCommit = nil
        self.files = files
        whole = found.whole
        notWhole = found.notWhole
    }

    /// Checks the missing members of a start frame's live set. Of those that were not retired, throws the
    /// error of the one with the largest number.
    mutating func judge(_ missing: [UInt32: StoreError]) throws(StoreError) {
        for (number, error) in missing.sorted(by: { $0.key > $1.key }) {
            guard try isRetired(number) else { throw error }
            gone.insert(number)
        }
    }

    /// The segment of that number, if it is whole.
    subscript(number: UInt32) -> FoundSegment? { whole[number] }

    /// Returns the side segment of that number; nil if it is gone.
    mutating func side(_ number: UInt32) throws(StoreError) -> FoundSegment? {
        if whole[number] == nil, let files {
            var search = SegmentSearch(files)
            whole[number] = try search.whole(number)
        }
        if gone.contains(number) { return nil }
        if let side = whole[number], side.segment.header.kind == .side { return side }
        guard try isRetired(number) else {
            throw notWhole[number]
                ?? .damaged("side segment \(number) is missing (F-652)", segment: number)
        }
        gone.insert(number)
        return nil
    }

    private mutating func isRetired(_ number: UInt32) throws(StoreError) -> Bool {
        try changes()?.retired.contains(number) ?? false
    }

    /// The changes of the live set in the newest segment after its start frame, read on first use.
    private mutating func changes() throws(StoreError) -> LaterChanges? {
        guard later == nil, let newest else { return later }
        later = try LaterChanges(newest, limit: limit, through: lastCommit)
        return later
    }

    // MARK: Schema

    /// Returns the schema that a start frame names. If its segment is gone, compaction has rewritten it.
    mutating func schema(of newest: FoundSegment) throws(StoreError) -> Catalog {
        let place = newest.start.schema
        let known: Catalog?
        if gone.contains(place.segment) {
            known = try replacedSchema(storeTag: newest.segment.header.store.tag)
        } else if let segment = whole[place.segment]?.segment {
            known = try Self.schema(at: place, in: segment)
        } else {
            known = nil
        }
        guard let known, known.version == newest.start.schemaVersion else {
            throw .damaged(
                "the start frame names a schema that does not exist (F-217)",
                segment: newest.segment.number, offset: UInt64(SegmentHeader.size))
        }
        return known
    }

    private static func schema(at place: Place, in segment: Segment) throws(StoreError) -> Catalog {
        let offset = UInt64(place.byteOffset)
        let payload = try segment.payload(
            at: offset, kind: .schema, storeTag: segment.header.store.tag)
        do {
            return try CatalogDocument.decode(payload.bytes).placed(at: place)
        } catch {
            throw StoreError(inFrame: error, segment, offset)
        }
    }

    private mutating func replacedSchema(storeTag: UInt32) throws(StoreError) -> Catalog? {
        for part in try changes()?.adopted.reversed() ?? [] {
            guard let side = whole[part.segment] else { continue }
            var scanner = try FrameScanner(
                side.segment, chain: side.chain, storeTag: storeTag, end: part.end)
            scanner.skip(to: part)
            while let (header, _) = try scanner.next() {
                guard header.kind == .schema else { continue }
                return try Self.schema(
                    at: Place(segment: part.segment, byteOffset: Int(header.lsn)), in: side.segment)
            }
        }
        return nil
    }
}

extension FrameScanner {
    /// Continues where a part of a side segment begins.
    mutating func skip(to part: AdoptPayload.Part) {
        skip(
            to: LogEnd(
                segment: part.segment, offset: part.start, lsn: part.start, chain: part.startChain))
    }
}
