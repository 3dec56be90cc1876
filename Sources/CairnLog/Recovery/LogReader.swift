// Reads a store's log from its first frame to the end of its last commit.            Format 60
//
//   1. The segments in the folder form one chain. A last one without a valid header, or without a whole
//      start frame, is one whose creation did not finish: it is passed over.            (FS4)
//   2. Frames are read in order. Frames of a commit count when its commit frame is met.
//   3. In a segment with a successor every frame up to the stated end must be whole.
//   4. In the last one the first failure, X, ends the log, unless something says that the log was
//      durable beyond it: a mark in a frame behind, or the mark file. Then it is damage.
//   5. The end is the end of the last commit or close frame before X. What follows is left behind.
//
// Invariants: nothing is written (RC3). RC2: a torn tail never reaches below the durable mark.
// Threads: one reader in one thread.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore

struct LogReader {
    private let files: StoreFiles
    /// Where to stop: a reader beside a writer goes no further than what is durable.
    private let limit: UInt64?
    private var storeID: StoreID?
    private var segments: [Segment] = []
    private var chains: [UInt32] = []
    private var catalog: Catalog?
    private var blocks: [LoggedBlock] = []
    private var deaths: [(place: Place, slots: [UInt16])] = []
    private var counters: [UInt32: UInt32] = [:]
    private var report = RecoveryReport()
    private var end = LogEnd(segment: 0, offset: 0, lsn: 0, chain: 0)
    private var commit: UInt64 = 0
    private var durable: UInt64 = 0

    // The commit whose frames are being read.
    private var openBlocks: [LoggedBlock] = []
    private var openDeaths: [(place: Place, slots: [UInt16])] = []
    private var openCatalog: Catalog?
    private var openFrames: UInt32 = 0
    private var openStart: UInt64?
    private var rowsOfBlock: [Place: Int] = [:]

    init(_ files: StoreFiles, limit: UInt64?) {
        self.files = files
        self.limit = limit
    }

    /// Reads the log; nil if the folder holds no store, or one whose creation did not finish.
    mutating func read() throws(StoreError) -> OpenedLog? {
        try findSegments()
        guard !segments.isEmpty, let storeID else { return nil }
        for index in segments.indices {
            let isLast = index == segments.count - 1
            let stated = isLast ? nil : segments[index + 1].header.predecessorEnd
            try readSegment(index, end: stated, storeID: storeID)
            if !isLast { try checkSuccession(index) }
        }
        guard let catalog else { return nil }
        return OpenedLog(
            files: files, storeID: storeID, segments: segments, catalog: catalog, end: end,
            durable: durable, commit: commit, counters: counters, blocks: blocks, deaths: deaths,
            report: report)
    }

    // MARK: Segments

    private mutating func findSegments() throws(StoreError) {
        let numbers: [UInt32]
        do {
            numbers = try files.segmentNumbers()
        } catch {
            throw StoreError(error)
        }
        for (position, number) in numbers.enumerated() {
            let isLast = position == numbers.count - 1
            let file: any File
            let head = RawBytes(count: SegmentHeader.size)
            let count: Int
            do {
                file = try files.fileSystem.open(files.path(number), .read)
                count = try file.read(into: head.mutable, at: 0)
            } catch {
                throw StoreError(error)
            }
            do {
                head.trim(to: count)
                let header = try SegmentHeader(decoding: head.bytes)
                try check(header, number: number)
                let segment = Segment(header: header, file: file)
                let chain = SegmentHeader.chain(ofEncoded: head.bytes)
                if isLast, try !hasStartFrame(segment, chain: chain) {
                    report.bytesLeftBehind += try size(file)
                    continue
                }
                segments.append(segment)
                chains.append(chain)
                storeID = header.store
            } catch let error as FormatError {
                if error.code == .unsupportedVersion || error.code == .unsupportedFeature {
                    throw StoreError(
                        .openFailed, "\(error.what): \(error.found ?? 0) (\(error.rule))",
                        context: .init(path: "\(file.path)", segment: number))
                }
                if isLast, try !holdsFrames(file, number: number) {
                    report.bytesLeftBehind += try size(file)
                    continue
                }
                throw .damaged("\(error.what) (\(error.rule))", segment: number, offset: 0)
            } catch let error as StoreError {
                throw error
            } catch {
                preconditionFailure("a header gives format and store errors alone: \(error)")
            }
        }
    }

    private func check(_ header: SegmentHeader, number: UInt32) throws(StoreError) {
        guard header.number == number else {
            throw .damaged(
                "the file of this number holds segment \(header.number)", segment: number)
        }
        if let storeID, storeID != header.store {
            throw .damaged("the segment belongs to another store", segment: number, offset: 0)
        }
        guard header.kind == .main else {
            throw StoreError(
                .openFailed, "the store uses side segments, which this version lacks",
                context: .init(segment: number))
        }
        guard header.predecessor == segments.last?.number ?? 0 else {
            throw .damaged("segment \(header.predecessor) is missing", segment: header.predecessor)
        }
    }

    private func size(_ file: any File) throws(StoreError) -> UInt64 {
        do {
            return try file.size()
        } catch {
            throw StoreError(error)
        }
    }

    /// Whether the segment's first frame is a whole start frame, or whole frames follow a broken one.
    private func hasStartFrame(_ segment: Segment, chain: UInt32) throws(StoreError) -> Bool {
        var scanner = try FrameScanner(
            segment, chain: chain, storeTag: segment.header.store.tag, end: nil)
        if let frame = try scanner.next(), frame.header.kind == .start { return true }
        return try holdsFrames(segment.file, number: segment.number)
    }

    /// Whether a valid frame header of the segment is anywhere behind the first page.
    private func holdsFrames(_ file: any File, number: UInt32) throws(StoreError) -> Bool {
        var search = HeaderSearch(file, from: UInt64(SegmentHeader.size))
        while let (header, _) = try search.next() {
            if header.segment == number, header.kind != .start { return true }
        }
        return false
    }

    private func checkSuccession(_ index: Int) throws(StoreError) {
        let next = segments[index + 1].header
        let isRight =
            next.predecessorEnd == end.offset && next.predecessorChain == end.chain
            && next.baseLSN == end.lsn
        guard isRight else {
            throw .damaged(
                "the segment does not end where its successor says",
                segment: segments[index].number,
                offset: next.predecessorEnd)
        }
        segments[index].seal(at: end.offset, chain: end.chain)
    }

    // MARK: Frames

    private mutating func readSegment(_ index: Int, end stated: UInt64?, storeID: StoreID)
        throws(StoreError)
    {
        let segment = segments[index]
        var scanner = try FrameScanner(
            segment, chain: chains[index], storeTag: storeID.tag, end: stated)
        var isStopped = false
        while let (header, payload) = try scanner.next() {
            if let limit, header.lsn + UInt64(header.frameLength) > limit {
                isStopped = true
                break
            }
            durable = max(durable, header.mark)
            report.frames += 1
            do {
                try take(header, payload, segment)
            } catch let error as FormatError {
                throw .damaged(
                    "\(error.what) (\(error.rule))", segment: segment.number,
                    offset: header.lsn - segment.baseLSN)
            } catch let error as StoreError {
                throw error
            } catch {
                preconditionFailure("a frame gives format and store errors alone: \(error)")
            }
        }
        if stated != nil {
            if let failure = scanner.failure {
                throw .damaged(
                    "\(failure.what) (\(failure.rule))", segment: segment.number,
                    offset: scanner.position)
            }
            return
        }
        if isStopped {
            report.wasClosed = false
            return
        }
        try judgeTail(segment, scanner.position, failure: scanner.failure, size: scanner.end)
    }

    /// Decides whether what ends the log is a torn tail or damage.
    private mutating func judgeTail(
        _ segment: Segment, _ position: UInt64, failure: FormatError?, size: UInt64
    ) throws(StoreError) {
        let firstBad = segment.baseLSN + position
        var known = durable
        do {
            if let mark = try files.readMark(), mark.store == segment.header.store {
                known = max(known, mark.lsn)
            }
        } catch {
            throw StoreError(error)
        }
        if position < size {
            var search = HeaderSearch(segment.file, from: position)
            while let (header, offset) = try search.next() {
                guard header.segment == segment.number, header.storeTag == segment.header.store.tag,
                    header.lsn == segment.baseLSN + offset
                else { continue }
                known = max(known, header.mark)
            }
        }
        guard firstBad >= known else {
            throw .damaged(
                "\(failure?.what ?? "the log ends") though it was durable up to byte \(known - segment.baseLSN) (\(failure?.rule ?? "F-303"))",
                segment: segment.number, offset: position)
        }
        durable = known
        report.bytesLeftBehind += size - end.offset
        if size != end.offset { report.wasClosed = false }
    }

    private mutating func take(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let offset = header.lsn - segment.baseLSN
        guard let kind = try header.readableKind() else { return countFrame(header) }
        let place = Place(segment: segment.number, byteOffset: Int(offset))
        switch kind {
        case .start:
            let start = try StartPayload(decoding: payload)
            for counter in start.counters { counters[counter.tree] = counter.next }
            if !start.schema.isNone, start.schema != catalog?.place {
                throw StoreError.damaged(
                    "the start frame names another schema", segment: segment.number, offset: offset)
            }
            finishFrame(header, segment, isClose: false)
            return
        case .schema:
            openCatalog = try CatalogDocument.decode(payload).placed(at: place)
        case .block:
            let head = try BlockHead(decoding: payload)
            guard let entity = (openCatalog ?? catalog)?.entityIndex(id: head.entity) else {
                throw StoreError.damaged(
                    "a block of an entity that the schema lacks", segment: segment.number,
                    offset: offset)
            }
            openBlocks.append(
                LoggedBlock(
                    place: place, entity: entity, rows: head.rows,
                    schemaVersion: head.schemaVersion, commit: header.commit))
            rowsOfBlock[place] = head.rows
        case .deaths: try takeDeaths(payload, segment, offset)
        case .value: _ = try ValuePayload(decoding: payload)
        case .commit:
            try takeCommit(header, payload, segment)
            return
        case .close:
            let close = try ClosePayload(decoding: payload)
            for counter in close.counters { counters[counter.tree] = counter.next }
            guard openStart == nil else {
                throw StoreError.damaged(
                    "a close frame inside a commit", segment: segment.number, offset: offset)
            }
            finishFrame(header, segment, isClose: true)
            return
        case .patch, .changes, .reserve, .adopt, .retire, .metadata:
            preconditionFailure("version 0 does not define these kinds")
        }
        countFrame(header)
    }

    private mutating func countFrame(_ header: FrameHeader) {
        if openStart == nil { openStart = header.lsn }
        openFrames += 1
    }

    private mutating func takeDeaths(
        _ payload: UnsafeRawBufferPointer, _ segment: Segment, _ offset: UInt64
    ) throws {
        for entry in try DeathsPayload(decoding: payload).entries {
            if entry.form == .entity {
                guard let catalog = openCatalog ?? catalog,
                    let entity = catalog.entityIndex(id: entry.entity)
                else {
                    throw StoreError.damaged(
                        "the death of an entity that the schema lacks", segment: segment.number,
                        offset: offset)
                }
                // All rows that earlier commits left alive: every block of the entity so far.
                for block in blocks where block.entity == entity {
                    openDeaths.append((block.place, (0..<block.rows).map { UInt16($0) }))
                }
                continue
            }
            guard let rows = rowsOfBlock[entry.block] else {
                throw StoreError.damaged(
                    "a death in a block that is not there", segment: segment.number, offset: offset)
            }
            var slots: [UInt16] = []
            try entry.forEachSlot(rows: rows) { slots.append($0) }
            openDeaths.append((entry.block, slots))
        }
    }

    private mutating func takeCommit(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ segment: Segment
    ) throws {
        let record = try CommitPayload(decoding: payload)
        guard record.frameCount == openFrames, record.firstLSN == openStart ?? header.lsn,
            header.commit == commit + 1
        else {
            throw StoreError.damaged(
                "a commit frame that does not fit the frames before it", segment: segment.number,
                offset: header.lsn - segment.baseLSN)
        }
        blocks.append(contentsOf: openBlocks)
        deaths.append(contentsOf: openDeaths)
        if let openCatalog { catalog = openCatalog }
        for counter in record.counters { counters[counter.tree] = counter.next }
        commit = header.commit
        report.commits += 1
        report.lastCommitTime = record.time
        report.lastAuthor = record.author.isEmpty ? nil : record.author
        openBlocks.removeAll(keepingCapacity: true)
        openDeaths.removeAll(keepingCapacity: true)
        openCatalog = nil
        finishFrame(header, segment, isClose: false)
    }

    /// A frame that ends a commit, or stands by itself: the log may end behind it.
    private mutating func finishFrame(_ header: FrameHeader, _ segment: Segment, isClose: Bool) {
        openFrames = 0
        openStart = nil
        let lsn = header.lsn + UInt64(header.frameLength)
        end = LogEnd(
            segment: segment.number, offset: lsn - segment.baseLSN, lsn: lsn, chain: header.chain)
        report.wasClosed = isClose
    }
}
