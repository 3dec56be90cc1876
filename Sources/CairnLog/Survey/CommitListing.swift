// The commits in the files of a store, with their times and counts.
//
// It only reads headers and the payloads of commits: it takes no lock, opens no engine, and works on a store
// that does not open. After a damaged header it searches for the next one. Compaction removes old commits
// with their segments: no file contains those any longer.
//
// Threads: one listing in one thread.

import CairnFileSystem
import CairnFormat
import CairnStore
import SystemPackage

/// A commit, as described by its frame.
package struct CommitSummary: Sendable {
    /// Its number.
    package let number: UInt64
    /// The time of the commit, in seconds since 2001, by the writer's clock.
    package let time: Double
    /// The number of inserted objects.
    package let inserted: UInt64
    /// The number of changed objects.
    package let updated: UInt64
    /// The number of deleted objects.
    package let deleted: UInt64
}

/// Reads the commits of a store's folder.
package enum CommitListing {
    /// Passes each commit to the body, starting with the oldest segment.
    ///
    /// - Throws: `StoreError` if the folder cannot be read, and what the body throws.
    /// - Complexity: O(frames); only payloads of commits are read.
    package static func forEach(
        at path: String, options: LogStoreOptions = LogStoreOptions(),
        _ body: (CommitSummary) throws -> Void
    ) throws {
        let folder = FilePath(path)
        do {
            let numbers = try options.fileSystem.list(folder)
                .compactMap { SegmentName.number(in: $0) }.sorted()
            for number in numbers {
                let name = folder.appending(SegmentName.name(of: number))
                try list(try options.fileSystem.open(name, .read), number, body)
            }
        } catch let error as FileSystemError {
            throw StoreError(error)
        }
    }

    private static func list(
        _ file: any File, _ number: UInt32, _ body: (CommitSummary) throws -> Void
    ) throws {
        let head = RawBytes(count: FrameHeader.size)
        var position = UInt64(SegmentHeader.size)
        while let frame = try frame(of: file, number, at: &position, head) {
            if frame.kind == .commit, let commit = try commit(of: file, frame, at: position) {
                try body(commit)
            }
            position += UInt64(frame.frameLength)
        }
    }

    /// Returns the frame at a position, or else the next one after it; nil if there is none.
    private static func frame(
        of file: any File, _ number: UInt32, at position: inout UInt64, _ head: RawBytes
    ) throws -> FrameHeader? {
        guard try file.read(into: head.mutable, at: position) == head.count else { return nil }
        if let frame = try? FrameHeader(decoding: head.bytes), frame.segment == number {
            return frame
        }
        var search = HeaderSearch(file, from: position + 8)
        while let (frame, offset) = try search.next() {
            guard frame.segment == number else { continue }
            position = offset
            return frame
        }
        return nil
    }

    /// Returns the contents of a commit's frame; nil if its payload is damaged.
    private static func commit(of file: any File, _ frame: FrameHeader, at position: UInt64) throws
        -> CommitSummary?
    {
        let bytes = RawBytes(count: frame.paddedLength)
        let start = position + UInt64(FrameHeader.size)
        guard try file.read(into: bytes.mutable, at: start) == bytes.count,
            let payload = try? frame.payload(of: bytes.bytes),
            let commit = try? CommitPayload(decoding: payload)
        else { return nil }
        return CommitSummary(
            number: frame.commit, time: commit.time, inserted: commit.inserted,
            updated: commit.updated, deleted: commit.deleted)
    }
}
