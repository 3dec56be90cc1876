// Reads a checkpoint into a state.                                                   Format 85
//
//   1. Header, table of contents, and the frame of the state's commit: it must be at the place, end at the
//      offset and bear the chain value that the header states. Otherwise the checkpoint belongs to another
//      log.
//   2. All parts, each verified. Numbers that point out of their structure make the checkpoint unusable.
//
// If anything is wrong, the checkpoint is skipped, and the log is read instead (CK1).
// Threads: one reader in one thread; nobody sees the state before it is whole.

package import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

/// A state restored from a checkpoint.
struct RestoredState {
    var state: EngineState
    /// The part of it that is still in the file.
    let image: CheckpointImage?
    let hashSeed: UInt64
    /// The size of the checkpoint, in bytes.
    let bytes: UInt64
    /// The largest segment number that was issued.
    let lastSegment: UInt32
    /// The time of its last commit, and its author.
    let time: Double
    let author: String
}

package struct CheckpointReader {
    /// A checkpoint that cannot be used.
    struct Unusable: Error {}

    private let file: any File
    /// The size of the file, in bytes.
    private let length: UInt64
    private let found: FoundLog
    private let header: CheckpointHeader

    /// Returns the commits of the checkpoints in a folder, newest first.
    package static func commits(in files: StoreFiles) throws(FileSystemError) -> [UInt64] {
        try files.fileSystem.list(files.folder).compactMap { CheckpointName.commit(in: $0) }
            .sorted(by: >)
    }

    /// Restores the state of the newest usable checkpoint of a log; nil if there is none.
    ///
    /// - Parameters:
    ///   - found: the segments in the folder.
    ///   - limit: the maximum LSN of the state.
    ///   - lastCommit: the maximum commit of the state.
    ///   - only: the commit of the only checkpoint to try.
    ///   - rebuild: if parts may be read on first access, what replaces damaged ones.
    static func newest(
        _ files: StoreFiles, found: FoundLog, storeID: StoreID, limit: UInt64?,
        through lastCommit: UInt64? = nil, only: UInt64? = nil, pool: PagePool,
        rebuild: CheckpointImage.Rebuild?
    ) -> RestoredState? {
        for commit in found.checkpoints
        where only.map({ $0 == commit }) ?? true && commit <= lastCommit ?? .max {
            let known = commit == found.checkpoints.first ? found.newestCheckpoint : nil
            guard
                let opened = try? known ?? open(commit, files),
                let reader = try? CheckpointReader(
                    opened, found: found, storeID: storeID, commit: commit),
                reader.header.lsn <= limit ?? .max,
                let restored = try? reader.restore(pool, rebuild)
            else { continue }
            return restored
        }
        return nil
    }

    private static func open(_ commit: UInt64, _ files: StoreFiles) throws -> FolderContent.Opened {
        let file = try files.fileSystem.open(files.path(ofCheckpoint: commit), .read)
        return FolderContent.Opened(file: file, size: try file.size())
    }

    private init(
        _ opened: FolderContent.Opened, found: FoundLog, storeID: StoreID, commit: UInt64
    ) throws {
        file = opened.file
        length = opened.size
        self.found = found
        let head = RawBytes(count: CheckpointHeader.size)
        head.trim(to: try file.read(into: head.mutable, at: 0))
        header = try CheckpointHeader(decoding: head.bytes, fileLength: length)
        guard header.store == storeID, header.commit == commit else { throw Unusable() }
    }

    private func restore(_ pool: PagePool, _ rebuild: CheckpointImage.Rebuild?) throws
        -> RestoredState
    {
        let (record, end) = try commitFrame()
        let contents = try read(header.contents) { bytes in
            try CheckpointContents(decoding: bytes, fileLength: length)
        }
        // Indexes that it lacks are built from the rows.
        var stored = try catalog(contents)
        guard let indexes = stored.fetchIndexes(contents.fetchIndexes) else { throw Unusable() }
        if indexes != stored.fetchIndexes { stored = stored.indexed(by: indexes) }
        var state = EngineState(catalog: stored, end: end)
        state.segments = try live(contents)
        state.commit = header.commit
        state.commitOffset = header.commitOffset
        state.hashSeed = header.hashSeed
        guard contents.trees.map(\.id) == state.catalog.trees.map(\.id),
            contents.counts.count == state.counts.count,
            contents.uniques.count == state.uniques.count,
            contents.inverses.count == state.inverses.count
        else { throw Unusable() }
        var pages = PageTransaction(epoch: header.commit, pool: pool)
        // Damaged parts can be rebuilt from the log as long as it has not continued in another segment, or
        // has, as after a migration, without a commit in between.
        var image: CheckpointImage?
        if let rebuild, let newest = found.mains.last,
            newest.segment.number == header.segment || newest.startCommit == header.commit
        {
            image = CheckpointImage(
                file: file, length: length, header: header, pool: pool, rebuild: rebuild)
        }
        do {
            try fill(&state, contents, image, &pages)
        } catch {
            pages.abandon()
            throw error
        }
        _ = pages.commit()
        return RestoredState(
            state: state, image: image, hashSeed: header.hashSeed, bytes: length,
            lastSegment: contents.lastSegment, time: record.time,
            author: record.author)
    }

    // MARK: The log

    private func segment(_ number: UInt32) throws -> Segment { try whole(number).segment }

    private func whole(_ number: UInt32) throws -> FoundSegment {
        guard let found = found.whole[number] else { throw Unusable() }
        return found
    }

    /// The segments of the state, all of which must exist; and after the segment of the commit the log must
    /// continue without a gap.
    private func live(_ contents: CheckpointContents) throws -> LiveSet {
        var mains: [Segment] = []
        var sides: [LiveSet.Side] = []
        for member in contents.live {
            let found = try whole(member.number)
            let segment = found.segment
            guard segment.header.kind == member.kind else { throw Unusable() }
            if found.bytes < member.end {
                guard try segment.file.size() >= member.end else { throw Unusable() }
            }
            if member.kind == .side {
                sides.append(.init(segment: segment, end: member.end, chain: member.chain))
                continue
            }
            // A segment that was retired since is not sealed elsewhere.
            if segment.number != header.segment, segment.knownEnd == nil {
                segment.seal(at: member.end, chain: member.chain)
            }
            mains.append(segment)
        }
        guard mains.last?.number == header.segment,
            let first = self.found.mains.firstIndex(where: { $0.segment.number == header.segment })
        else { throw Unusable() }
        for (before, after) in zip(found.mains[first...], found.mains[first...].dropFirst())
        where after.segment.header.predecessor != before.segment.number {
            throw Unusable()
        }
        return LiveSet(mains: mains, sides: sides)
    }

    /// The commit of the state, and the end of its frame.
    private func commitFrame() throws -> (CommitPayload, LogEnd) {
        let segment = try segment(header.segment)
        let (frame, payload) = try segment.frame(
            at: header.commitOffset, storeTag: header.store.tag)
        let end = LogEnd(
            segment: segment.number, offset: header.endOffset, lsn: header.lsn,
            chain: header.chain)
        guard frame.kind == .commit, frame.commit == header.commit, frame.chain == header.chain,
            frame.lsn + UInt64(frame.frameLength) == header.lsn,
            header.lsn >= segment.baseLSN, header.lsn - segment.baseLSN == header.endOffset,
            segment.knownEnd.map({ header.endOffset <= $0 }) ?? true
        else { throw Unusable() }
        return (try CommitPayload(decoding: payload.bytes), end)
    }

    private func catalog(_ contents: CheckpointContents) throws -> Catalog {
        let payload = try segment(contents.schema.segment).payload(
            at: UInt64(contents.schema.byteOffset), kind: .schema, storeTag: header.store.tag)
        let catalog = try CatalogDocument.decode(payload.bytes).placed(at: contents.schema)
        guard catalog.version == contents.schemaVersion else { throw Unusable() }
        guard let place = contents.metadata else { return catalog }
        let metadata = try segment(place.segment).payload(
            at: UInt64(place.byteOffset), kind: .metadata, storeTag: header.store.tag)
        return catalog.with(try StoredMetadata(metadata.bytes, at: place))
    }

    // MARK: Parts

    func read<R>(
        _ unit: CheckpointUnit, _ body: (UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        let raw = try unit.read(from: file)
        return try body(raw.bytes)
    }

    private func fill(
        _ state: inout EngineState, _ contents: CheckpointContents, _ image: CheckpointImage?,
        _ pages: inout PageTransaction
    ) throws {
        var blocks = CheckpointBlocks()
        try fillBlocks(&state, contents, &blocks, &pages)
        for (index, tree) in contents.trees.enumerated() {
            guard tree.next >= 1, tree.next <= FormatLimits.maximumNumber,
                tree.reserved <= FormatLimits.maximumNumber
            else { throw Unusable() }
            state.nextNumbers[index] = tree.next
            state.reserved[index] = tree.reserved
            if let image {
                _ = try count(tree.cells)
                for leaves in tree.cells {
                    let records = image.add(
                        .directory(tree: index, leaves), pages: Int(leaves.count))
                    put(
                        [leaves], records, of: image, &state.directories[index].cells, &pages)
                }
                continue
            }
            try fill(&state.directories[index].cells, tree.cells, &pages) { number, cell in
                if cell == 0 { return true }
                let cell = DirectoryCell(bits: cell)
                guard number > 0, number < UInt64(tree.next), cell.version > 0,
                    state.blocks.has(cell.handle)
                else { return false }
                let entry = state.blocks.entry(cell.handle)
                return entry.isLive(cell.slot)
                    && state.catalog.entities[Int(entry.entity)].tree == index
            }
        }
        for (index, count) in contents.counts.enumerated() {
            guard count <= UInt64(FormatLimits.maximumNumber) else { throw Unusable() }
            state.counts[index] = Int(count)
        }
        for (index, unique) in contents.uniques.enumerated() {
            state.uniques[index] = try table(unique, image, &pages) {
                .partition(unique: index, $0)
            }
        }
        let rows = UInt64(state.counts.reduce(0) { $0 &+ $1 })
        for (index, inverse) in contents.inverses.enumerated() {
            if let image {
                let heads = try count(inverse.heads)
                let links = try count(inverse.links)
                let records = image.add(.inverse(index, inverse), pages: heads + links)
                put(
                    inverse.heads, records.prefix(heads), of: image, &state.inverses[index].heads,
                    &pages)
                put(
                    inverse.links, records.dropFirst(heads), of: image,
                    &state.inverses[index].links, &pages)
                continue
            }
            var listed: UInt64 = 0
            try fill(&state.inverses[index].heads, inverse.heads, &pages) { _, head in
                listed += head & 0xFFFF_FFFF
                return listed <= rows
            }
            try fill(&state.inverses[index].links, inverse.links, &pages) { _, _ in true }
        }
        try fillFetchIndexes(&state, contents, image, &pages)
        try fillHistory(&state, contents, &pages)
        try fillRedirects(&state, contents)
        image?.describe(state, blocks)
    }

    /// Restores the places of commits' changes. Read immediately, because the history needs most of it.
    /// F-861
    private func fillHistory(
        _ state: inout EngineState, _ contents: CheckpointContents,
        _ pages: inout PageTransaction
    ) throws {
        guard let settings = state.catalog.metadata?.history else {
            guard contents.history == nil else { throw Unusable() }
            return
        }
        guard let stored = contents.history else { throw Unusable() }
        var cells = RadixArray()
        try fill(&cells, stored.cells, &pages) { _, _ in true }
        let live = Set(state.segments.all.map(\.number))
        let history = HistoryIndex(cells, origin: stored.origin) { commit, frame in
            commit > settings.horizon && commit <= state.commit
                && live.contains(frame.place.segment)
        }
        guard let history else { throw Unusable() }
        state.history = history
    }

    /// Restores a hash table, whose partitions are read now or on first access.
    func table(
        _ unique: CheckpointContents.Unique, _ image: CheckpointImage?,
        _ pages: inout PageTransaction,
        part: (CheckpointContents.Partition) -> CheckpointImage.Part
    ) throws -> UniqueIndex {
        guard var restored = UniqueIndex(bits: Int(unique.bits)) else { throw Unusable() }
        for partition in unique.partitions {
            let header: UInt
            if let image {
                guard partition.capacity > 0, partition.capacity & 63 == 0,
                    partition.capacity <= UInt32(HashPartition.maximumCapacity)
                else { throw Unusable() }
                let records = image.add(part(partition), pages: 1)
                header = image.records[records.lowerBound]
            } else {
                header = try read(partition.unit) { bytes in
                    let table = HashPartition.make(
                        entries: bytes, capacity: Int(partition.capacity),
                        number: partition.number, bits: restored.bits, in: &pages)
                    guard let table else { throw Unusable() }
                    return table.header.address
                }
            }
            let count = Int(partition.unit.rawLength) / 8
            guard restored.restore(partition.number, header: header, count: count, in: &pages)
            else { throw Unusable() }
        }
        return restored
    }

    /// The number of leaves in the parts of an array, whose numbers must be possible.
    private func count(_ parts: [CheckpointContents.Leaves]) throws -> Int {
        var next: UInt64 = 0
        var count = 0
        for part in parts {
            let end = UInt64(part.first) + UInt64(part.count)
            guard UInt64(part.first) >= next, end <= PagedTable<UInt64>.maximumLeaves,
                UInt64(part.unit.rawLength) == UInt64(part.count) * UInt64(PageSize.large.bytes)
            else { throw Unusable() }
            next = end
            count += Int(part.count)
        }
        return count
    }

    /// Puts the records for the leaves of some parts into an array.
    private func put(
        _ parts: [CheckpointContents.Leaves], _ records: Range<Int>, of image: CheckpointImage,
        _ array: inout RadixArray, _ pages: inout PageTransaction
    ) {
        var record = records.lowerBound
        for part in parts {
            var number = part.first
            let end = record + Int(part.count)
            image.records.forEachRun(record..<end) { first, count in
                array.table.setLeaves(from: number, count: count, tagged: first, in: &pages)
                number &+= UInt32(truncatingIfNeeded: count)
            }
            record = end
        }
    }

    private func fill(
        _ array: inout RadixArray, _ parts: [CheckpointContents.Leaves],
        _ pages: inout PageTransaction, isRight: (UInt64, UInt64) -> Bool
    ) throws {
        _ = try count(parts)
        for part in parts {
            try read(part.unit) { bytes in
                var cell: UInt64 = 0
                var offset = 0
                for number in part.first..<part.first + part.count {
                    let leaf = array.table.writableLeaf(number: number, in: &pages)
                    for slot in 0..<512 {
                        cell &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                        guard isRight(UInt64(number) * 512 + UInt64(slot), cell) else {
                            throw Unusable()
                        }
                        leaf.storeBytes(of: cell, toByteOffset: slot * 8, as: UInt64.self)
                        offset += 8
                    }
                }
            }
        }
    }

    private func fillBlocks(
        _ state: inout EngineState, _ contents: CheckpointContents,
        _ blocks: inout CheckpointBlocks, _ pages: inout PageTransaction
    ) throws {
        let most =
            contents.blocks.reduce(0) { $0 + Int($1.rawLength) } / CheckpointWriter.blockBytes
        // A wrong number must not free four thousand million handles, or allocate a page for each block. All
        // parts are read below, so there are at least a fifth as many blocks as their lengths have room for.
        guard UInt64(contents.lastBlock) <= UInt64(most) * 64 + 65_536 else { throw Unusable() }
        state.blocks = BlockTable(lastHandle: contents.lastBlock)
        // The number may be wrong, because the parts have not been read yet.
        let expected = min(most, 65_536)
        blocks.reserve(expected)
        pages.expect(expected / PagedTable<BlockEntry>.recordsOfLeaf, .large)
        let trees = state.catalog.entities.map(\.tree)
        // Most blocks are in the segment of the previous one.
        var segment: UInt32?
        for unit in contents.blocks {
            try read(unit) { bytes in
                try restoreBlocks(
                    bytes, trees, state.segments, &segment, &state.blocks, &blocks, &pages)
            }
        }
        state.blocks.finishRestoring(in: &pages)
        blocks.finish()
    }

    /// Restores the blocks of a part.
    ///
    /// - Parameters:
    ///   - trees: by entity.
    ///   - live: the segments of the state.
    ///   - segment: the segment of the previous block, one of them.
    private func restoreBlocks(
        _ bytes: UnsafeRawBufferPointer, _ trees: [Int], _ live: LiveSet,
        _ segment: inout UInt32?, _ table: inout BlockTable, _ blocks: inout CheckpointBlocks,
        _ pages: inout PageTransaction
    ) throws {
        var start = 0
        @inline(__always)
        func word<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type = T.self) -> T {
            bytes.loadUnaligned(fromByteOffset: start &+ offset, as: T.self)
        }
        while start < bytes.count {
            let rest = bytes.count &- start
            guard rest >= CheckpointWriter.blockBytes else { throw Unusable() }
            let flags = word(19, UInt8.self)
            var entry = BlockEntry(entity: word(12))
            entry.segment = word(4)
            entry.offset8 = word(8)
            entry.rows = word(14)
            entry.live = word(16)
            entry.changed = word(20)
            entry.schemaVersion = word(28)
            entry.length = word(32)
            entry.hasReferences = flags & 2 != 0
            guard let level = BlockLevel(rawValue: word(18)),
                Int(entry.entity) < trees.count, (1...1024).contains(entry.rows), flags <= 7
            else { throw Unusable() }
            if entry.segment != segment {
                guard live[entry.segment] != nil else { throw Unusable() }
                segment = entry.segment
            }
            var length = CheckpointWriter.blockBytes
            if flags & 4 != 0 {
                guard rest >= length + CheckpointWriter.patchBytes else { throw Unusable() }
                entry.patched = Place(segment: word(length), offset8: word(length + 4))
                entry.borrowedBytes = word(length + 8)
                guard live[entry.patched.segment] != nil else { throw Unusable() }
                length += CheckpointWriter.patchBytes
            }
            var liveWords: UnsafeRawBufferPointer?
            if flags & 1 != 0 {
                guard rest >= length + PageSize.small.bytes else { throw Unusable() }
                let from = start + length
                liveWords = UnsafeRawBufferPointer(
                    rebasing: bytes[from..<from + PageSize.small.bytes])
                length += PageSize.small.bytes
            }
            guard
                table.restore(
                    BlockHandle(raw: word(0)), entry, level: level, liveWords: liveWords,
                    in: &pages)
            else { throw Unusable() }
            blocks.add(
                word(0), entry.place, rows: entry.rows, tree: trees[Int(entry.entity)],
                live: liveWords)
            start += length
        }
    }
}
