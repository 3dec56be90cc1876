// A file that can only be read, on a disk that may have unreadable areas.
//
// A failed read is repeated in small pieces; an unreadable piece is returned as zeros, which are never a
// frame, and is recorded. The file cannot be changed through it.
//
// Threads: any; one lock around what is remembered.

import CairnFileSystem
import Synchronization
import SystemPackage

/// A view of a file that never writes, and whose reads never fail.
final class TolerantFile: File {
    private static let piece = 4096

    private let base: any File
    private let failed = Mutex<[UInt64]>([])

    init(_ base: any File) { self.base = base }

    /// Closes the underlying file until it is read again, if it supports that.
    func rest() { (base as? RestingFile)?.rest() }

    var path: FilePath { base.path }
    var identity: FileIdentity { base.identity }

    /// The unreadable pieces of 4 KiB found so far, by the offset of their first byte.
    var unreadable: [UInt64] { failed.withLock { $0 } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileSystemError)
        -> Int
    {
        do {
            return try base.read(into: buffer, at: offset)
        } catch  where error.code == .ioError {
            return try readPieces(into: buffer, at: offset)
        }
    }

    private func readPieces(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(FileSystemError) -> Int
    {
        let size = try base.size()
        guard offset < size else { return 0 }
        let end = Int(min(UInt64(buffer.count), size - offset))
        var position = 0
        while position < end {
            let start = offset + UInt64(position)
            let inPiece = Int(truncatingIfNeeded: start) & (Self.piece - 1)
            let length = min(Self.piece - inPiece, end - position)
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer[position..<position + length])
            let read = (try? base.read(into: part, at: start)) ?? 0
            if read < length {
                UnsafeMutableRawBufferPointer(rebasing: part[read...])
                    .initializeMemory(as: UInt8.self, repeating: 0)
                failed.withLock { failed in
                    if failed.last != start, failed.count < 1 << 16 { failed.append(start) }
                }
            }
            position += length
        }
        return end
    }

    func size() throws(FileSystemError) -> UInt64 { try base.size() }

    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        try base.isLocked(byte: byte)
    }

    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        try base.lockHolder(byte: byte)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        throw forbidden(.write)
    }

    func synchronizeData() throws(FileSystemError) { throw forbidden(.synchronize) }

    func truncate(to size: UInt64) throws(FileSystemError) { throw forbidden(.truncate) }

    func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
        throw forbidden(.lock)
    }

    func unlock(byte: UInt64) throws(FileSystemError) { throw forbidden(.unlock) }

    func close() throws(FileSystemError) { try base.close() }

    private func forbidden(_ operation: FileSystemError.Operation) -> FileSystemError {
        FileSystemError(operation, path, .readOnlyFileSystem)
    }
}
