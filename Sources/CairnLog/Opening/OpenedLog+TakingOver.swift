// What a writer does with a log before it can write.                                        Format 95.7
//
// A log that was not closed: the process that created a segment may have been stopped before its name was
// durable (FS1), and after a failed sync the page cache may show what the disk lacks. So the folder is
// synced, and the bytes above the durable mark are rewritten and synced.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

extension OpenedLog {
    /// Takes over the log for writing.
    ///
    /// - Precondition: the caller holds the write lock, and the state was built from the log: from here on the disk
    ///   changes.
    mutating func takeOver() throws(StoreError) {
        let fileSystem = files.fileSystem
        do {
            if !report.wasClosed, !wasHandedOver { try fileSystem.syncDirectory(files.folder) }
            let file = try openCurrent()
            for segment in segments.mains {
                try files.rewrite(
                    segment, from: durable,
                    to: segment.number == end.segment ? end.offset : segment.knownEnd ?? 0)
            }
            durable = end.lsn
            let former = try self.mark ?? files.readMark()
            let role = former?.role ?? .writer
            if role == .unfinishedCopy {
                // What was copied after the end must be gone before the mark stops excluding it.
                try file.truncate(to: end.offset)
                try file.synchronizeData()
            }
            // Other processes may have values there that wait for a commit.
            let isAlone = !files.hasOtherWriters
            // What follows the adopted part of a segment was written for a commit that never happened.
            for side in segments.sides where isAlone {
                guard try side.segment.file.size() > side.end else { continue }
                let file = try fileSystem.open(files.path(side.segment.number), .readWrite)
                try file.truncate(to: side.end)
            }
            // The segments of the checkpoint that was opened are kept until there is a newer one.
            if isAlone, !needless.isEmpty {
                let needless = needless
                try files.removeSegments { needless.contains($0) }
            }
            let mark = MarkRecord(
                store: storeID, commit: commit, lsn: end.lsn, chain: end.chain, segment: end.segment
            )
            if !role.isCopy {
                // A closed store already has this mark.
                if mark != former { try files.putMark(mark) }
            } else {
                // The store must never again be treated as a copy without writes.
                try files.writeMarkDurably(mark)
            }
            MigrationFolder(of: files.folder, fileSystem).clear()
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("taking over only throws file system and store errors: \(error)")
        }
    }

    /// Opens the segment that takes commits for writing: files are opened for reading.
    mutating func openCurrentToWrite() throws(StoreError) {
        do throws(FileSystemError) {
            _ = try openCurrent()
        } catch {
            throw StoreError(error)
        }
    }

    private mutating func openCurrent() throws(FileSystemError) -> any File {
        let last = segments.current
        // The newest file in the folder was opened for writing, and is usually this one.
        if last.file === writable { return last.file }
        let file = try files.fileSystem.open(files.path(last.number), .readWrite)
        segments.replaceCurrent(with: Segment(header: last.header, file: file))
        return file
    }
}
