// The contents of a store's folder when it is opened: the folder is listed once.
//
// Opening reads the beginning and the end of the newest segment and of the newest checkpoint. Both files are
// opened here, so that the disk can start reading one while the other is requested, and are passed to their
// readers.
//
// Invariants: nothing is read. Files that cannot be opened are left to their readers, which report the error.
// Threads: one opening in one thread.

import CairnFileSystem
import CairnFormat
import SystemPackage

package struct FolderContent {
    /// An open file, and its size at the time.
    struct Opened {
        let file: any File
        let size: UInt64
    }

    /// The numbers of all segments, in order.
    let segments: [UInt32]
    /// The commits of all checkpoints, newest first.
    let checkpoints: [UInt64]
    /// The newest ones, if they could be opened.
    let newestSegment: Opened?
    let newestCheckpoint: Opened?
    /// Whether the segment was opened for writing, too.
    let isWritable: Bool

    /// - Parameters:
    ///   - opensNewest: whether the newest segment and the newest checkpoint will be read.
    ///   - toWrite: whether the newest segment will be written, by the holder of the writer's lock.
    init(_ files: StoreFiles, opensNewest: Bool, toWrite: Bool = false) throws(FileSystemError) {
        var segments: [UInt32] = []
        var checkpoints: [UInt64] = []
        for name in try files.fileSystem.list(files.folder) {
            if let number = SegmentName.number(in: name) {
                segments.append(number)
            } else if let commit = CheckpointName.commit(in: name) {
                checkpoints.append(commit)
            }
        }
        segments.sort()
        checkpoints.sort(by: >)
        self.segments = segments
        self.checkpoints = checkpoints
        guard opensNewest else {
            newestSegment = nil
            newestCheckpoint = nil
            isWritable = false
            return
        }
        newestSegment = segments.last.flatMap {
            Self.open(files.path($0), toWrite ? .readWrite : .read, files)
        }
        newestCheckpoint = checkpoints.first.flatMap {
            Self.open(files.path(ofCheckpoint: $0), .read, files)
        }
        isWritable = toWrite
    }

    private static func open(_ path: FilePath, _ mode: OpenMode, _ files: StoreFiles) -> Opened? {
        guard let file = try? files.fileSystem.open(path, mode), let size = try? file.size() else {
            return nil
        }
        let part: UInt64 = 64 << 10
        file.advise(at: 0, count: part)
        file.advise(at: size - min(size, part), count: part)
        return Opened(file: file, size: size)
    }
}
