// One file of the log, open as long as a state of this process refers to it.
//
// Threads: immutable; its file may be read from any thread.

package import CairnFileSystem
package import CairnFormat
package import CairnStore
import Synchronization
import SystemPackage

/// A segment of the log.
package final class Segment: Sendable {
    package let number: UInt32
    /// The LSN of the segment's first byte, over all main segments.
    package let baseLSN: UInt64
    package let header: SegmentHeader
    package let file: any File
    /// The end of the segment, and the chain value there; nil as long as it takes commits.
    private let sealed = Mutex<(end: UInt64, chain: UInt32)?>(nil)
    /// The offset from which on zeros are being written; the largest number if none are.
    private let fillStart = Atomic<UInt64>(.max)
    private let fillEnded = Monitor(())
    /// The error of a failed sync, after which the state of written bytes is unknown.
    private let failedSync = LongLock<FileSystemError?>(nil)
    /// Its mapped windows, by position.
    let windows = Mutex<[Window]>([])

    package init(header: SegmentHeader, file: any File) {
        number = header.number
        baseLSN = header.baseLSN
        self.header = header
        self.file = file
    }

    /// The end of the segment, once a successor records it.
    var knownEnd: UInt64? { sealed.withLock { $0?.end } }

    /// The chain value at the segment's end.
    var sealedChain: UInt32 { sealed.withLock { $0?.chain } ?? 0 }

    /// Sets the end of the segment.
    func seal(at end: UInt64, chain: UInt32) { sealed.withLock { $0 = (end, chain) } }

    // MARK: Writing

    /// Writes bytes, but not concurrently where zeros are being written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        if offset + UInt64(bytes.count) > fillStart.load(ordering: .acquiring) { waitForFilling() }
        try file.write(bytes, at: offset)
    }

    /// Sets the offset from which on zeros will be written: no thread has written there, or is about to.
    func beginFilling(at start: UInt64) { fillStart.store(start, ordering: .releasing) }

    /// Notes that the zeros are written.
    func endFilling() { fillEnded.update { _ in fillStart.store(.max, ordering: .releasing) } }

    /// Waits until no zeros are being written.
    func waitForFilling() {
        fillEnded.wait { _ in fillStart.load(ordering: .acquiring) == .max ? () : nil }
    }

    /// Makes written bytes durable. A failed sync fails for all later callers as well: the system reports a
    /// lost write once, and a second sync could report success for the bytes of another thread.
    func synchronize() throws(FileSystemError) {
        try failedSync.withLock { failure throws(FileSystemError) in
            if let failure { throw failure }
            do throws(FileSystemError) {
                try file.synchronizeData()
            } catch {
                failure = error
                throw error
            }
        }
    }

    // MARK: Reading

    /// Opens its file if that rests, so that it can be read even after another process has removed it.
    ///
    /// - Throws: `StoreError` with `.damaged` if it no longer exists.
    func wake() throws(StoreError) {
        guard let resting = file as? RestingFile else { return }
        do {
            try resting.wake()
        } catch {
            throw failure(error)
        }
    }

    /// Lets its file rest again, if it can. No code that must be able to read it may hold it.
    func rest() {
        guard let resting = file as? RestingFile else { return }
        windows.withLock { $0 = [] }
        resting.rest()
    }

    /// Returns the size of its file in bytes.
    func size() throws(StoreError) -> UInt64 {
        do {
            return try file.size()
        } catch {
            throw failure(error)
        }
    }

    /// Converts the error of a call: a file that cannot be reopened was removed since it was found.
    private func failure(_ error: FileSystemError) -> StoreError {
        if error.operation == .open, error.code == .noSuchFileOrDirectory {
            return .damaged("segment \(number) is missing (F-216)", segment: number)
        }
        return StoreError(error)
    }

    /// Returns the payload of the frame at an offset, checked against header and checksums.
    ///
    /// - Throws: `StoreError` with `.damaged` and the place.
    func payload(at offset: UInt64, kind: FrameKind, storeTag: UInt32) throws(StoreError)
        -> RawBytes
    {
        let (header, bytes) = try frame(at: offset, storeTag: storeTag)
        guard header.kind == kind else {
            throw .damaged("there is a frame of another kind here", segment: number, offset: offset)
        }
        return bytes
    }

    /// Returns a frame's header and payload.
    ///
    /// - Parameters:
    ///   - verifies: whether the payload's checksum is verified, which is unnecessary if all its parts have
    ///     their own.
    ///   - reading: how the payload gets into memory.
    package func frame(
        at offset: UInt64, storeTag: UInt32, verifies: Bool = true, _ reading: Reading = .copied
    )
        throws(StoreError) -> (FrameHeader, RawBytes)
    {
        do {
            if case .mapped(let length, let isScan) = reading,
                let (header, payload) = try mappedFrame(at: offset, storeTag, length, isScan)
            {
                if verifies { _ = try header.payload(of: payload.bytes) }
                payload.trim(to: Int(header.payloadLength))
                return (header, payload)
            }
            let head = RawBytes(count: FrameHeader.size)
            try read(head.mutable, at: offset, ofFrameAt: offset)
            let header = try self.header(head.bytes, at: offset, storeTag)
            let padded = RawBytes(count: header.paddedLength)
            // The system predicts from past reads what comes next, and increases its predictions step by
            // step.
            if padded.count > Self.guessedBytes {
                file.advise(
                    at: offset + UInt64(FrameHeader.size), count: UInt64(padded.count))
            }
            try read(padded.mutable, at: offset + UInt64(FrameHeader.size), ofFrameAt: offset)
            if verifies { _ = try header.payload(of: padded.bytes) }
            padded.trim(to: Int(header.payloadLength))
            return (header, padded)
        } catch let error as FormatError {
            throw .damaged("\(error.what) (\(error.rule))", segment: number, offset: offset)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("decoding only throws format errors: \(error)")
        }
    }

    /// Returns the header of the frame at an offset.
    func header(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ storeTag: UInt32)
        throws -> FrameHeader
    {
        let header = try FrameHeader(decoding: bytes)
        guard header.segment == number, header.storeTag == storeTag,
            header.lsn == baseLSN + offset
        else {
            throw StoreError.damaged(
                "a frame that belongs elsewhere", segment: number, offset: offset)
        }
        return header
    }

    /// Reads as many bytes as there are.
    func readSome(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError)
        -> Int
    {
        do {
            return try file.read(into: buffer, at: offset)
        } catch {
            throw failure(error)
        }
    }

    /// Fills a buffer from the file.
    ///
    /// - Throws: `StoreError` with `.damaged` if the file ends before that.
    package func read(
        _ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64, ofFrameAt frame: UInt64? = nil
    ) throws(StoreError) {
        guard try readSome(buffer, at: offset) == buffer.count else {
            throw .damaged(
                "the file ends inside a frame (F-303)", segment: number, offset: frame ?? offset)
        }
    }
}
