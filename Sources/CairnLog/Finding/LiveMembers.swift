// The members of live sets: their files, and which of them may be missing because they were retired later.
//
// A writer removes a segment when its retirement is durable. So what the newest start frame lists, or a commit behind it
// adopts, may be missing; then a retire frame behind it says so, and the member is passed over. Whoever follows a writer
// needs all that is behind its state.
//
// Invariants: nothing is written.
// Threads: one reader in one thread.

import CairnFormat
import CairnStore

struct LiveMembers {
    /// The newest main segment, which lists what is gone; nil if nothing can be.
    private let newest: FoundSegment?
    /// An LSN beyond which nothing counts.
    private let limit: UInt64?
    /// A commit behind which nothing does.
    private let lastCommit: UInt64?
    /// Where files are looked for that were not there at first; nil: nowhere.
    private let files: StoreFiles?
    private var whole: [UInt32: FoundSegment]
    private let notWhole: [UInt32: StoreError]
    /// Members that are gone, as they were retired later.
    private(set) var gone: Set<UInt32> = []
    private var later: LaterChanges?

    /// The members of a log that is read as it was found.
    init(_ found: FoundLog, limit: UInt64?, through lastCommit: UInt64? = nil) {
        newest = found.mains.last
        self.limit = limit
        self.lastCommit = lastCommit
        files = nil
        whole = found.whole
        notWhole = found.notWhole
    }

    /// The members of a log that another process writes, which makes new ones.
    init(_ found: FoundLog, followingIn files: StoreFiles) {
        newest = nil
        limit = nil
        lastCommit = nil
        self.files = files
        whole = found.whole
        notWhole = found.notWhole
    }

    /// Judges the members of a start frame's live set that are not there: of several that nothing excuses the one with
    /// the largest number is named.
    mutating func judge(_ missing: [UInt32: StoreError]) throws(StoreError) {
        for (number, error) in missing.sorted(by: { $0.key > $1.key }) {
            guard try isRetired(number) else { throw error }
            gone.insert(number)
        }
    }

    /// A segment that is whole.
    subscript(number: UInt32) -> FoundSegment? { whole[number] }

    /// The side segment of that number; nil if it is gone.
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

    /// What the newest segment says of the live set behind its start frame, read when it is first asked for.
    private mutating func changes() throws(StoreError) -> LaterChanges? {
        guard later == nil, let newest else { return later }
        later = try LaterChanges(newest, limit: limit, through: lastCommit)
        return later
    }

    // MARK: Schema

    /// The schema that a start frame names. If its segment is gone, compaction has written it once more.
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
    /// Goes on where a part of a side segment begins.
    mutating func skip(to part: AdoptPayload.Part) {
        skip(
            to: LogEnd(
                segment: part.segment, offset: part.start, lsn: part.start, chain: part.startChain))
    }
}
