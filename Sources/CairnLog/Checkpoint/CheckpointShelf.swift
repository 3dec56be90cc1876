// Which of several checkpoints to keep for past states.                                         Format 79, 85
//
// A past state is built from the newest checkpoint before it. So one at or before the horizon is kept, if the
// log can be read from there on, and as many after it as are needed to keep the log between two of them from
// exceeding what opening would read. The newest one is always kept. Without past states it is the only one.
//
//   The log can be read from a checkpoint on if nothing is missing that was retired after it: all its
//   segments exist, the main segments follow each other up to the horizon, and every side segment that was
//   adopted on the way exists. After the horizon nothing is missing (PS1).
//
// Threads: one at a time, as the folder is.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

struct CheckpointShelf {
    /// The header of a checkpoint.
    private struct Entry {
        let commit: UInt64
        let end: LogEnd
        let bytes: UInt64
        let segments: [UInt32]
    }

    let files: StoreFiles
    let storeID: StoreID
    /// The oldest commit whose state is kept; nil if none is.
    var horizon: UInt64?
    /// The number of bytes of log from one to the next.
    var step = UInt64.max
    /// Segments whose files still exist, but will soon be removed.
    var leaving: Set<UInt32> = []

    /// Removes the checkpoints that are not worth their space.
    ///
    /// - Parameters:
    ///   - newest: of those up to this commit, the last one is kept. A later one belongs to another process and is
    ///     left alone.
    ///   - keepsNewest: false to keep only those for past states.
    func prune(upTo newest: UInt64, keepsNewest: Bool = true) {
        guard let all = try? CheckpointReader.commits(in: files) else { return }
        let commits = all.filter { $0 <= newest }
        guard let last = commits.first, commits.count > 1 || !keepsNewest else { return }
        var kept: Set<UInt64> = keepsNewest ? [last] : []
        if let horizon {
            let present = Set((try? files.segmentNumbers()) ?? []).subtracting(leaving)
            let usable = commits.compactMap(entry).filter {
                present.isSuperset(of: $0.segments)
            }
            let base = usable.first { $0.commit <= horizon && leads($0, to: horizon, present) }
            if let base { kept.insert(base.commit) }
            var last = base?.end.lsn
            for entry in usable.reversed() where entry.commit > horizon {
                let lsn = entry.end.lsn
                if let last, lsn - min(lsn, last) < max(step, 2 * entry.bytes) { continue }
                kept.insert(entry.commit)
                last = lsn
            }
        }
        for commit in commits where !kept.contains(commit) {
            try? files.fileSystem.unlink(files.folder.appending(CheckpointName.name(of: commit)))
        }
    }

    private func entry(_ commit: UInt64) -> Entry? {
        guard
            let file = try? files.fileSystem.open(
                files.folder.appending(CheckpointName.name(of: commit)), .read),
            let size = try? file.size()
        else { return nil }
        let head = RawBytes(count: CheckpointHeader.size)
        guard (try? file.read(into: head.mutable, at: 0)) == head.count,
            let header = try? CheckpointHeader(decoding: head.bytes, fileLength: size),
            header.store == storeID, header.commit == commit,
            let raw = try? header.contents.read(from: file),
            let contents = try? CheckpointContents(decoding: raw.bytes, fileLength: size)
        else { return nil }
        return Entry(
            commit: commit,
            end: LogEnd(
                segment: header.segment, offset: header.endOffset, lsn: header.lsn,
                chain: header.chain),
            bytes: size, segments: contents.live.map(\.number))
    }

    // MARK: The log

    /// Whether nothing is missing that is needed to read the log from a checkpoint up to a commit. Of most
    /// frames only the headers are read.
    private func leads(_ entry: Entry, to commit: UInt64, _ present: Set<UInt32>) -> Bool {
        let numbers = present.sorted()
        var reached = entry.commit
        var start = entry.end
        while reached < commit {
            guard let main = whole(start.segment) else { return false }
            let next = numbers.lazy.filter { $0 > start.segment }.compactMap(whole)
                .first { $0.segment.header.predecessor == start.segment }
            var walk = FrameWalk(
                main.segment.file, segment: start.segment, storeTag: storeID.tag,
                baseLSN: main.segment.baseLSN, from: start.offset, chain: start.chain,
                to: next?.segment.header.predecessorEnd ?? (try? main.segment.size()) ?? 0,
                readsPayloads: false)
            while reached < commit, case .frame(let frame)? = try? walk.next() {
                if frame.header.kind == .commit { reached = frame.header.commit }
                guard frame.header.kind == .adopt else { continue }
                guard
                    let payload = try? main.segment.payload(
                        at: frame.offset, kind: .adopt, storeTag: storeID.tag),
                    let adopt = try? AdoptPayload(decoding: payload.bytes),
                    adopt.parts.allSatisfy({ present.contains($0.segment) })
                else { return false }
            }
            guard let next else { break }
            start = LogEnd(
                segment: next.segment.number, offset: UInt64(SegmentHeader.size),
                lsn: next.segment.baseLSN + UInt64(SegmentHeader.size), chain: next.chain)
        }
        return reached >= commit
    }

    /// A main segment of the store.
    private func whole(_ number: UInt32) -> FoundSegment? {
        var search = SegmentSearch(files)
        guard let found = (try? search.whole(number)) ?? nil, found.segment.header.kind == .main,
            found.segment.header.store == storeID
        else { return nil }
        return found
    }
}

extension StoreSizes {
    /// The number of bytes of log between two checkpoints that are both kept for past states.
    var checkpointStep: UInt64 { checkpointBytes == .max ? 64 << 20 : checkpointBytes }
}
