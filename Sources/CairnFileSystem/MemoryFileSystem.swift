// An in-memory disk, for in-memory stores, and as the fast disk of tests.
//
// It behaves exactly like the real disk, including error numbers; one test suite runs on both. Folders are
// dictionaries by folder number; a file is an object that the folder's entry and all open files share, so an
// unlinked file exists as long as it is open.
//
// Relative paths start at the root; there are no links. A sync does nothing: content is as durable as the
// process.
//
// Invariants: each folder has an entry in `folders` and in `parents` until it is removed; numbers of files,
// folders and opens are never reused.
// Threads: the tree has one lock, each file has its own; the tree's is never taken inside a file's.

internal import Synchronization
package import SystemPackage

/// Files and folders in memory. Use one instance for everything that must see the same disk.
package final class MemoryFileSystem: FileSystem {
    private let device: UInt64
    private let tree = Mutex(MemoryTree())

    /// Above all device numbers of a real system, so that identities of files here and there never collide.
    private static let nextDevice = Atomic<UInt64>(1 << 63)

    package init() {
        device = Self.nextDevice.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    package func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        let device = device
        let (content, number) = try changing(.open, path) { (tree) throws(Errno) in
            try tree.open(path, mode, on: device)
        }
        return MemoryFile(content, path, number: number, mayWrite: mode != .read)
    }

    package func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        try changing(.syncDirectory, path) { (tree) throws(Errno) in _ = try tree.folder(path) }
    }

    package func list(_ path: FilePath) throws(FileSystemError) -> [String] {
        try changing(.list, path) { (tree) throws(Errno) in try tree.list(path) }
    }

    package func unlink(_ path: FilePath) throws(FileSystemError) {
        try changing(.unlink, path) { (tree) throws(Errno) in try tree.unlink(path) }
    }

    package func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        try changing(.makeDirectory, path) { (tree) throws(Errno) in try tree.makeFolder(path) }
    }

    package func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try changing(.removeDirectory, path) { (tree) throws(Errno) in try tree.removeFolder(path) }
    }

    package func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        let device = device
        return try changing(.identify, path) { (tree) throws(Errno) in
            FileIdentity(device: device, inode: try tree.inode(path))
        }
    }

    private func changing<Result: Sendable>(
        _ operation: FileSystemError.Operation, _ path: FilePath,
        _ body: (inout MemoryTree) throws(Errno) -> Result
    ) throws(FileSystemError) -> Result {
        do {
            return try tree.withLock { (tree) throws(Errno) in try body(&tree) }
        } catch {
            throw FileSystemError(operation, path, error)
        }
    }
}
