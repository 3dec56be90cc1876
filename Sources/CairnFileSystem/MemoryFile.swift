// One open file of an in-memory disk.
//
// Checks run in the same order as on the real disk, so that errors are the same.
// Threads: any.

internal import Synchronization
package import SystemPackage

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

package final class MemoryFile: File {
    package let path: FilePath
    private let content: MemoryContent
    /// The lock owner's number.
    private let number: UInt64
    private let mayWrite: Bool
    private let isClosed = Atomic(false)

    init(_ content: MemoryContent, _ path: FilePath, number: UInt64, mayWrite: Bool) {
        self.content = content
        self.path = path
        self.number = number
        self.mayWrite = mayWrite
    }

    deinit {
        if !isClosed.load(ordering: .relaxed) { content.withLocks { $0.unlockAll(by: number) } }
    }

    package var identity: FileIdentity { content.identity }

    package func close() throws(FileSystemError) {
        guard !isClosed.exchange(true, ordering: .relaxed) else {
            throw FileSystemError(.close, path, .badFileDescriptor)
        }
        content.withLocks { $0.unlockAll(by: number) }
    }

    // MARK: Content

    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        try checkOpen(.read)
        return content.withBytes { $0.read(into: buffer, at: offset) }
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try checkOpen(.write)
        if bytes.isEmpty { return }
        guard let first = Int64(exactly: offset), Int64(bytes.count) <= Int64.max - first else {
            throw FileSystemError(.write, path, .fileTooLarge, offset: offset)
        }
        guard mayWrite else {
            throw FileSystemError(.write, path, .badFileDescriptor, offset: offset)
        }
        content.withBytes { $0.write(bytes, at: offset) }
    }

    package func synchronizeData() throws(FileSystemError) {
        try checkOpen(.synchronize)
    }

    package func truncate(to size: UInt64) throws(FileSystemError) {
        try checkOpen(.truncate)
        guard size <= UInt64(Int64.max) else {
            throw FileSystemError(.truncate, path, .fileTooLarge, offset: size)
        }
        guard mayWrite else {
            throw FileSystemError(.truncate, path, .invalidArgument, offset: size)
        }
        content.withBytes { $0.resize(to: size) }
    }

    package func size() throws(FileSystemError) -> UInt64 {
        try checkOpen(.size)
        return content.withBytes { $0.size }
    }

    // MARK: Locks

    package func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
        try checkLock(.lock, byte)
        guard mayWrite || !exclusive else {
            throw FileSystemError(.lock, path, .badFileDescriptor, offset: byte)
        }
        return content.withLocks { $0.lock(byte, exclusive: exclusive, by: number) }
    }

    package func unlock(byte: UInt64) throws(FileSystemError) {
        try checkLock(.unlock, byte)
        content.withLocks { $0.unlock(byte, by: number) }
    }

    package func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        try checkLock(.lockHolder, byte)
        return content.withLocks { $0.isHeld(byte, byOtherThan: number) }
    }

    package func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        try checkLock(.lockHolder, byte)
        // An in-memory disk has only this process.
        return content.withLocks { $0.isHeld(byte, byOtherThan: number) } ? getpid() : nil
    }

    private func checkLock(
        _ operation: FileSystemError.Operation, _ byte: UInt64
    ) throws(FileSystemError) {
        try checkOpen(operation)
        guard byte < UInt64(Int64.max) else {
            throw FileSystemError(operation, path, .overflow, offset: byte)
        }
    }

    private func checkOpen(_ operation: FileSystemError.Operation) throws(FileSystemError) {
        if isClosed.load(ordering: .relaxed) {
            throw FileSystemError(operation, path, .badFileDescriptor)
        }
    }
}
