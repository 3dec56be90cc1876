// A file that is opened when it is first read.
//
// A store that keeps past states has a file for each segment that left it since then, and a search of the
// folder reads the beginning of each. Few of them are needed after that, and a process may have only so many
// open.
//
//   1. It is created from an open file, which is then closed.
//   2. The first read opens it again, and it stays open until `rest` is called.
//
// A resting file is gone when another process removes it: code that must be able to read it later wakes it.
//
// Invariants: it is the same file that it was created from, or nothing. It is never written to.
// Threads: any; one lock.

import CairnFileSystem
import Synchronization
import SystemPackage

/// A file that is closed until it is needed.
final class RestingFile: File {
    let path: FilePath
    let identity: FileIdentity
    /// Its size in bytes when it was last known to be open.
    let restingSize: UInt64
    private let fileSystem: any FileSystem
    private let opened: Mutex<(any File)?>

    /// - Parameter stays: whether it stays open for now.
    init(_ file: any File, on fileSystem: any FileSystem, stays: Bool = false)
        throws(FileSystemError)
    {
        path = file.path
        identity = file.identity
        restingSize = try file.size()
        self.fileSystem = fileSystem
        opened = Mutex<(any File)?>(stays ? file : nil)
    }

    /// Opens it, unless it is open.
    ///
    /// - Throws: `.noSuchFileOrDirectory` of `.open` if it was removed.
    func wake() throws(FileSystemError) { _ = try file() }

    /// Closes it until it is read again.
    func rest() {
        // The lock is not needed for closing.
        let file = opened.withLock { $0.take() }
        withExtendedLifetime(file) {}
    }

    private func file() throws(FileSystemError) -> any File {
        try opened.withLock { opened throws(FileSystemError) in
            if let opened { return opened }
            let file = try fileSystem.open(path, .read)
            // A reused number belongs to another segment.
            guard file.identity == identity else {
                throw FileSystemError(.open, path, .noSuchFileOrDirectory)
            }
            opened = file
            return file
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileSystemError)
        -> Int
    {
        try file().read(into: buffer, at: offset)
    }

    func advise(at offset: UInt64, count: UInt64) {
        try? file().advise(at: offset, count: count)
    }

    func map(at offset: UInt64, count: Int) -> FileMapping? {
        try? file().map(at: offset, count: count)
    }

    func size() throws(FileSystemError) -> UInt64 { try file().size() }

    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        try file().isLocked(byte: byte)
    }

    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        try file().lockHolder(byte: byte)
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

    func close() throws(FileSystemError) { rest() }

    private func forbidden(_ operation: FileSystemError.Operation) -> FileSystemError {
        FileSystemError(operation, path, .readOnlyFileSystem)
    }
}
