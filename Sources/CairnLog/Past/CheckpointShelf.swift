// Which of several checkpoints stay, where past states are kept.                                  Format 79, 85
//
// A past state is made from the newest checkpoint before it. So one at or before the horizon stays, if all its segments are
// there, and of those behind it as many as keep the log between two of them from growing beyond what opening would read.
// The newest one always stays. Without past states it is the only one.
//
// Threads: one at a time, as the folder is.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

struct CheckpointShelf {
    /// What a checkpoint says of itself.
    private struct Entry {
        let commit: UInt64
        let lsn: UInt64
        let bytes: UInt64
        let segments: [UInt32]
    }

    let files: StoreFiles
    let storeID: StoreID

    /// Removes those that are not worth their space.
    ///
    /// - Parameters:
    ///   - newest: the commit behind which there can be none: of those up to it the last one stays.
    ///   - horizon: the oldest commit whose state is kept; nil: none is.
    ///   - step: bytes of log from one to the next.
    func prune(upTo newest: UInt64, horizon: UInt64?, step: UInt64) {
        guard let commits = try? CheckpointReader.commits(in: files),
            let last = commits.first(where: { $0 <= newest })
        else { return }
        if commits.count == 1 { return }
        var kept: Set<UInt64> = [last]
        if let horizon {
            let present = Set((try? files.segmentNumbers()) ?? [])
            let usable = commits.reversed().filter { $0 <= newest }.compactMap(entry).filter {
                present.isSuperset(of: $0.segments)
            }
            let base = usable.last { $0.commit <= horizon }
            if let base { kept.insert(base.commit) }
            var last = base?.lsn
            for entry in usable where entry.commit > horizon {
                if let last, entry.lsn - min(entry.lsn, last) < max(step, 2 * entry.bytes) {
                    continue
                }
                kept.insert(entry.commit)
                last = entry.lsn
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
            header.store == storeID, header.commit == commit
        else { return nil }
        let stored = RawBytes(count: Int(header.contents.storedLength))
        let raw = RawBytes(count: Int(header.contents.rawLength))
        guard (try? file.read(into: stored.mutable, at: header.contents.offset)) == stored.count,
            (try? header.contents.expand(stored.bytes, into: raw.mutable)) != nil,
            let contents = try? CheckpointContents(decoding: raw.bytes, fileLength: size)
        else { return nil }
        return Entry(
            commit: commit, lsn: header.lsn, bytes: size, segments: contents.live.map(\.number))
    }
}

extension StoreSizes {
    /// Bytes of log between two checkpoints that both stay for past states.
    var checkpointStep: UInt64 { checkpointBytes == .max ? 64 << 20 : checkpointBytes }
}
