// Writes a state as a checkpoint.                                                    Format 85
//
//   1. All parts, one after another; then the table of contents; then the header; then one sync.
//   2. The folder is synced: the name is durable.
//   3. Older checkpoints are removed, except those from which past states are built (CheckpointShelf).
//
// Invariants: CK2: the state's log is durable before this begins. The state is pinned by the caller and does
// not change during this, so the write lock is not needed.
// Threads: one writer at a time.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

struct CheckpointWriter: ~Copyable {
    /// The number of leaves of an array or an ordered index in one part: for an array 64 pages of 4 KiB.
    static let leavesPerUnit = 64
    /// The same for the directory of a tree, unless that is so large that there would be too many parts.
    /// Looking up one row after opening unpacks one of them, and opening the store reads the locations of
    /// all.
    private static let fewestDirectoryLeaves = 16
    private static let mostDirectoryParts = 8192
    /// The number of blocks in a part.
    static let blocksPerUnit = 1024
    /// The size of a block in a part without its bitmap, in bytes.
    static let blockBytes = 36
    /// The additional size of a patch, in bytes.
    static let patchBytes = 12

    private let files: StoreFiles
    private let file: any File
    private var buffer = ByteWriter(capacity: 1 << 20)
    /// The offset of the buffer in the file.
    private var start = UInt64(CheckpointHeader.size)
    var raw = ByteWriter(capacity: 256 << 10)

    /// Writes the checkpoint of a state.
    ///
    /// - Parameters:
    ///   - lastSegment: the largest segment number that was issued.
    ///   - shelf: selects the others that are kept; nil: none is.
    ///   - mostContents: the maximum size of its table of contents in bytes.
    /// - Returns: its size in bytes; nil if the store is too large for one. Then none stays but those for past states: what is
    ///   retired after a checkpoint is kept for it, and there would be no later one to release it.
    static func write(
        _ state: EngineState, storeID: StoreID, files: StoreFiles, lastSegment: UInt32,
        shelf: CheckpointShelf? = nil, mostContents: Int = CheckpointUnit.maximumLength
    ) throws(StoreError) -> UInt64? {
        let shelf = shelf ?? CheckpointShelf(files: files, storeID: storeID)
        do throws(FileSystemError) {
            guard fewestContents(state) <= mostContents else {
                try remove(shelf, upTo: state.commit)
                return nil
            }
            let path = files.folder.appending(CheckpointName.name(of: state.commit))
            // An unfinished or unusable checkpoint.
            if try files.fileSystem.exists(path) { try files.fileSystem.unlink(path) }
            var writer = CheckpointWriter(
                files: files, file: try files.fileSystem.open(path, .create))
            do throws(FileSystemError) {
                guard let bytes = try writer.write(state, storeID, lastSegment, mostContents)
                else {
                    try files.fileSystem.unlink(path)
                    try remove(shelf, upTo: state.commit)
                    return nil
                }
                // The state in an older one can be rebuilt from the log, and nothing refers to it.
                shelf.prune(upTo: state.commit)
                return bytes
            } catch {
                try? files.fileSystem.unlink(path)
                throw error
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// The minimum size of the table of contents of a state: the places of the partitions of its unique indexes.
    static func fewestContents(_ state: EngineState) -> Int {
        var partitions = 0
        for unique in state.uniques { unique.forEachPartition { _, _ in partitions += 1 } }
        return partitions * 32
    }

    private static func remove(_ shelf: CheckpointShelf, upTo commit: UInt64)
        throws(FileSystemError)
    {
        shelf.prune(upTo: commit, keepsNewest: false)
        // Durable before anything that was kept for them is removed.
        try shelf.files.fileSystem.syncDirectory(shelf.files.folder)
    }

    private init(files: StoreFiles, file: any File) {
        self.files = files
        self.file = file
    }

    private mutating func write(
        _ state: EngineState, _ storeID: StoreID, _ lastSegment: UInt32, _ mostContents: Int
    ) throws(FileSystemError) -> UInt64? {
        var contents = CheckpointContents()
        contents.schema = state.catalog.place
        contents.schemaVersion = state.catalog.version
        contents.metadata = state.catalog.metadata?.place
        contents.counts = state.counts.map { UInt64($0) }
        for (index, tree) in state.catalog.trees.enumerated() {
            contents.trees.append(
                CheckpointContents.Tree(
                    id: tree.id, next: state.nextNumbers[index], reserved: state.reserved[index],
                    cells: try write(
                        state.directories[index].cells,
                        leavesPerUnit: Self.directoryLeaves(below: state.nextNumbers[index]))))
        }
        for unique in state.uniques { contents.uniques.append(try write(unique)) }
        for inverse in state.inverses {
            contents.inverses.append(
                CheckpointContents.Inverse(
                    heads: try write(inverse.heads), links: try write(inverse.links)))
        }
        contents.redirects = try write(state.redirects)
        if state.catalog.metadata?.history != nil {
            contents.history = .init(
                origin: state.history.origin, cells: try write(state.history.cells))
        }
        for (index, content) in state.fetchIndexes.enumerated() {
            let definition = state.catalog.fetchIndexes[index]
            let entity = state.catalog.entities[definition.entity]
            contents.fetchIndexes.append(
                CheckpointContents.FetchIndex(
                    entity: entity.id,
                    columns: definition.parts.map {
                        .init(
                            property: entity.columns[$0.column].propertyID,
                            order: $0.isAscending ? 0 : 1)
                    }, ordered: try write(content.ordered),
                    postings: try write(content.postings.table),
                    lists: try write(content.postings.lists)))
        }
        // A segment that was started after the commit is not part of its state.
        contents.live = state.segments.listed(to: state.commitEnd).filter {
            $0.kind == .side || $0.number <= state.commitEnd.segment
        }
        contents.lastSegment = lastSegment
        contents.lastBlock = state.blocks.lastHandle
        contents.blocks = try writeBlocks(state)
        raw.reset()
        contents.encode(to: &raw)
        guard raw.count <= mostContents else { return nil }
        let table = CheckpointUnit.append(raw.bytes, to: &buffer, startingAt: start)
        try flush()
        var header = ByteWriter(capacity: CheckpointHeader.size)
        CheckpointHeader(
            store: storeID, commit: state.commit, lsn: state.commitEnd.lsn,
            segment: state.commitEnd.segment, chain: state.commitEnd.chain,
            endOffset: state.commitEnd.offset, commitOffset: state.commitOffset,
            hashSeed: state.hashSeed, contents: table
        ).encode(to: &header)
        try file.write(header.bytes, at: 0)
        try file.synchronizeData()
        try files.fileSystem.syncDirectory(files.folder)
        return start
    }

    // MARK: Parts

    mutating func appendUnit() throws(FileSystemError) -> CheckpointUnit {
        let unit = CheckpointUnit.append(raw.bytes, to: &buffer, startingAt: start)
        raw.reset()
        if buffer.count >= 1 << 20 { try flush() }
        return unit
    }

    private mutating func flush() throws(FileSystemError) {
        try file.write(buffer.bytes, at: start)
        start += UInt64(buffer.count)
        buffer.reset()
    }

    /// The number of leaves of a directory in a part.
    private static func directoryLeaves(below next: UInt32) -> UInt32 {
        UInt32(max(fewestDirectoryLeaves, Int(next) / 512 / mostDirectoryParts))
    }

    /// Writes leaves as differences of neighbouring cells: consecutive rows result in the same difference
    /// again and again.
    private mutating func write(
        _ array: RadixArray, leavesPerUnit: UInt32 = UInt32(Self.leavesPerUnit)
    ) throws(FileSystemError) -> [CheckpointContents.Leaves] {
        var parts: [CheckpointContents.Leaves] = []
        var first: UInt32 = 0
        var count: UInt32 = 0
        var before: UInt64 = 0
        var from: UInt32 = 0
        while true {
            let next = array.table.leaf(from: from)
            let continues = next.map { $0 == first &+ count } ?? false
            if count > 0, !continues || count == leavesPerUnit {
                parts.append(.init(first: first, count: count, unit: try appendUnit()))
                count = 0
            }
            guard let next else { return parts }
            if count == 0 {
                first = next
                before = 0
            }
            array.table.forEachCell(ofLeaf: next) { cell in
                raw.append(cell &- before)
                before = cell
            }
            count += 1
            from = next &+ 1
        }
    }

    private mutating func write(_ index: UniqueIndex) throws(FileSystemError)
        -> CheckpointContents.Unique
    {
        var unique = CheckpointContents.Unique(bits: UInt32(index.bits), partitions: [])
        var partitions: [(UInt32, HashPartition)] = []
        index.forEachPartition { number, partition in partitions.append((number, partition)) }
        for (number, partition) in partitions {
            let entries = raw.reserve(partition.count * 8)
                .bindMemory(to: UInt64.self, capacity: partition.count)
            partition.copySorted(
                to: UnsafeMutableBufferPointer(start: entries, count: partition.count),
                bits: index.bits)
            unique.partitions.append(
                .init(
                    number: number, capacity: UInt32(partition.capacity), unit: try appendUnit()))
        }
        return unique
    }

    /// Writes the leaves, and an outline of them.
    private mutating func write(_ index: OrderedIndex) throws(FileSystemError)
        -> CheckpointContents.Ordered
    {
        var ordered = CheckpointContents.Ordered()
        var outline = ByteWriter(capacity: 4096)
        var count: UInt32 = 0
        try index.forEachLeaf { leaf, separator throws(FileSystemError) in
            raw.append(UnsafeRawBufferPointer(start: leaf.page.data, count: leaf.used))
            count += 1
            if count == Self.leavesPerUnit {
                ordered.leaves.append(.init(count: count, unit: try appendUnit()))
                count = 0
            }
            outline.append(UInt16(truncatingIfNeeded: leaf.count))
            outline.append(UInt8(truncatingIfNeeded: separator.count))
            outline.append(separator)
        }
        if count > 0 { ordered.leaves.append(.init(count: count, unit: try appendUnit())) }
        // Elements of the outline are not divided, and a part may exceed this slightly.
        var start = 0
        while start < outline.count {
            var end = start
            while end < outline.count, end - start < 256 << 10 {
                end += 3 + Int(outline.bytes[end + 2])
            }
            raw.append(UnsafeRawBufferPointer(rebasing: outline.bytes[start..<end]))
            ordered.outline.append(try appendUnit())
            start = end
        }
        return ordered
    }

    private mutating func writeBlocks(_ state: EngineState) throws(FileSystemError)
        -> [CheckpointUnit]
    {
        var units: [CheckpointUnit] = []
        var count = 0
        for entity in state.catalog.entities.indices {
            // Each list in its order, because restoring appends.
            for level in BlockLevel.allCases {
                for handle in state.blocks.blocks(ofEntity: entity, level) {
                    append(handle, state.blocks.entry(handle), level)
                    count += 1
                    if count % Self.blocksPerUnit == 0 { units.append(try appendUnit()) }
                }
            }
        }
        if raw.count > 0 { units.append(try appendUnit()) }
        return units
    }

    private mutating func append(_ handle: BlockHandle, _ entry: BlockEntry, _ level: BlockLevel) {
        raw.append(handle.raw)
        raw.append(entry.segment)
        raw.append(entry.offset8)
        raw.append(entry.entity)
        raw.append(entry.rows)
        raw.append(entry.live)
        raw.append(level.rawValue)
        raw.append(
            UInt8(entry.bitmap == 0 ? 0 : 1) | UInt8(entry.hasReferences ? 2 : 0)
                | UInt8(entry.patched.isNone ? 0 : 4))
        raw.append(entry.changed)
        raw.append(entry.schemaVersion)
        raw.append(entry.length)
        if !entry.patched.isNone {
            raw.append(entry.patched)
            raw.append(entry.borrowedBytes)
        }
        if entry.bitmap != 0 { for word in 0..<16 { raw.append(entry.liveWord(word)) } }
    }
}
