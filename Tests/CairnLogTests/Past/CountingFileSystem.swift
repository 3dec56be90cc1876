// A disk that counts how many files are open at once, around any other disk.

import CairnFileSystem
import Synchronization
import SystemPackage

final class CountingFileSystem: FileSystem {
    private struct Counts {
        var open = 0
        var most = 0
        /// Names of files that are open, as often as they are.
        var names: [String: Int] = [:]
    }

    private let base: any FileSystem
    private let counts = Mutex(Counts())

    init(over base: any FileSystem) { self.base = base }

    /// How many files are open now.
    var open: Int { counts.withLock { $0.open } }
    /// How many were at once, since it was last asked to begin anew.
    var most: Int { counts.withLock { $0.most } }
    /// The names of the files that are open.
    var names: Set<String> { counts.withLock { Set($0.names.keys) } }

    func beginAnew() { counts.withLock { $0.most = $0.open } }

    fileprivate func opened(_ path: FilePath) {
        counts.withLock {
            $0.open += 1
            $0.most = max($0.most, $0.open)
            $0.names[path.lastComponent?.string ?? "", default: 0] += 1
        }
    }

    fileprivate func closed(_ path: FilePath) {
        counts.withLock {
            $0.open -= 1
            let name = path.lastComponent?.string ?? ""
            let left = ($0.names[name] ?? 1) - 1
            $0.names[name] = left > 0 ? left : nil
        }
    }

    func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        CountedFile(try base.open(path, mode), self)
    }

    func syncDirectory(_ path: FilePath) throws(FileSystemError) { try base.syncDirectory(path) }
    func list(_ path: FilePath) throws(FileSystemError) -> [String] { try base.list(path) }
    func unlink(_ path: FilePath) throws(FileSystemError) { try base.unlink(path) }
    func makeDirectory(_ path: FilePath) throws(FileSystemError) { try base.makeDirectory(path) }
    func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try base.removeDirectory(path)
    }
    func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        try base.identity(of: path)
    }
}

private final class CountedFile: File {
    private let base: any File
    private let disk: CountingFileSystem

    init(_ base: any File, _ disk: CountingFileSystem) {
        self.base = base
        self.disk = disk
        disk.opened(base.path)
    }

    deinit { disk.closed(base.path) }

    var path: FilePath { base.path }
    var identity: FileIdentity { base.identity }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileSystemError)
        -> Int
    { try base.read(into: buffer, at: offset) }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try base.write(bytes, at: offset)
    }
    func synchronizeData() throws(FileSystemError) { try base.synchronizeData() }
    func truncate(to size: UInt64) throws(FileSystemError) { try base.truncate(to: size) }
    func size() throws(FileSystemError) -> UInt64 { try base.size() }
    func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
        try base.lock(byte: byte, exclusive: exclusive)
    }
    func unlock(byte: UInt64) throws(FileSystemError) { try base.unlock(byte: byte) }
    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        try base.isLocked(byte: byte)
    }
    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        try base.lockHolder(byte: byte)
    }
    func close() throws(FileSystemError) { try base.close() }
}
