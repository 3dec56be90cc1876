// The single entry point to the operating system.
//
// The engine accesses a disk only through these two protocols, so that a test can inject every disk fault.
// There is no rename and no memory mapping: nothing requires them, and each would add a way to lose data in a
// crash.
//
// Calls are coarse (one per read or write), so the cost of existentials is negligible.
//
// Every implementation guarantees:
//   1. A call completes or throws `FileSystemError`; callers see no interruptions and no short transfers.
//   2. A read past the end returns fewer bytes and never throws. Bytes that were never written read as zero.
//   3. An unlinked file stays readable and writable through its open files.
//   4. Locks belong to the open file: another open file is another lock owner, also within this process.
//   5. Offsets that no file can have (over `Int64.max`) throw and never trap.
//
// Threads: a file system and its files may be used from any thread at once. What a reader gets of
// bytes that another thread is writing is not defined, as with the system's own calls.

package import SystemPackage

/// Folders and files of one kind of disk.
package protocol FileSystem: Sendable {
    /// Opens a regular file. Throws EISDIR for a folder, and EINVAL for anything else that is not a regular
    /// file.
    func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File

    /// Makes the names in a folder durable: those of files created and unlinked there before the call.
    func syncDirectory(_ path: FilePath) throws(FileSystemError)

    /// Returns the names in a folder without "." and "..", sorted by their bytes.
    func list(_ path: FilePath) throws(FileSystemError) -> [String]

    /// Removes the name of a file; the content exists until the last open file is closed.
    func unlink(_ path: FilePath) throws(FileSystemError)

    /// Creates one folder; its parent must exist.
    func makeDirectory(_ path: FilePath) throws(FileSystemError)

    /// Removes an empty folder.
    func removeDirectory(_ path: FilePath) throws(FileSystemError)

    /// Returns the identity of the file or folder at a path, independent of its name.
    func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity

    /// Returns the bytes that are free for unprivileged users on the disk of a folder; nil if unknown.
    /// Ignores their quotas.
    func availableBytes(in path: FilePath) -> UInt64?

    /// Returns the kind of the disk that a folder is on, or will be on once it is created, if other machines
    /// may share that disk: their locks may not be visible here. Nil for a local disk, and if the system does
    /// not report it.
    func sharedDisk(of path: FilePath) -> String?

    /// The machine that this process runs on; nil if the system does not report it.
    var host: Host? { get }

    /// Returns the processes that hold locks in a file, as far as the system reports them to the caller.
    func users(of file: any File) -> [FileUser]

    /// Calls a closure soon after a write to a file, on a thread of the system's, until the watch is stopped
    /// or deallocated; returns nil if the system does not report writes.
    func watch(_ path: FilePath, _ body: @escaping @Sendable () -> Void) -> (any FileWatch)?
}

extension FileSystem {
    package func users(of file: any File) -> [FileUser] { [] }

    package func watch(_ path: FilePath, _ body: @escaping @Sendable () -> Void)
        -> (any FileWatch)?
    { nil }
    package func availableBytes(in path: FilePath) -> UInt64? { nil }
    package func sharedDisk(of path: FilePath) -> String? { nil }
    package var host: Host? { nil }
}

/// An open regular file. It closes when the last reference goes away; `close` also reports errors.
package protocol File: AnyObject, Sendable {
    /// The path that the file was opened with, for messages; it may refer to another file by now.
    var path: FilePath { get }

    /// The file's identity, as `FileSystem.identity(of:)` returns it.
    var identity: FileIdentity { get }

    /// Fills `buffer` from `offset` on. Returns the bytes read: fewer than requested only at the end of the
    /// file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileSystemError)
        -> Int

    /// Announces that a range will be read soon, so that the disk can start. A hint: nothing depends on it.
    func advise(at offset: UInt64, count: UInt64)

    /// Maps a part of the file into memory, which may extend past the end of the file; nil if it cannot be
    /// mapped.
    ///
    /// - Parameter offset: a multiple of the system's page size.
    func map(at offset: UInt64, count: Int) -> FileMapping?

    /// Writes all of `bytes` at `offset`, and extends the file where needed. If it throws, any prefix of
    /// `bytes` may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError)

    /// Announces that a written range will be synced soon, so that the disk can start. A hint: nothing
    /// depends on it.
    func beginWriting(at offset: UInt64, count: UInt64)

    /// Returns once content and size are on the medium. After it has thrown, the state of all writes since
    /// the last success is unknown, and another call proves nothing.
    func synchronizeData() throws(FileSystemError)

    /// Truncates or extends (with zeros) the file to `size` bytes.
    func truncate(to size: UInt64) throws(FileSystemError)

    func size() throws(FileSystemError) -> UInt64

    /// Locks one byte (which need not exist) without waiting; returns false if another open file holds a
    /// conflicting lock. Replaces a lock that this open file already holds on the byte.
    func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool

    /// Whether `lockWaiting` is supported.
    var canWaitForLocks: Bool { get }

    /// Locks one byte exclusively, and waits in the system while another open file holds a conflicting lock:
    /// the longest waiter is next. It may overlap with `close`, and then throws EBADF, though only once the
    /// byte is free.
    func lockWaiting(byte: UInt64) throws(FileSystemError)

    /// Releases the lock on one byte, if this open file holds it.
    func unlock(byte: UInt64) throws(FileSystemError)

    /// Returns whether another open file has locked the byte, shared or exclusively.
    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool

    /// Returns the process that has locked the byte through another open file; nil if there is none, and if
    /// the system does not report it.
    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32?

    /// Closes the file now and releases its locks. Every later call throws EBADF. No other call on this
    /// object except `lockWaiting` may be in progress.
    func close() throws(FileSystemError)
}

extension File {
    package var canWaitForLocks: Bool { false }
    package func lockWaiting(byte: UInt64) throws(FileSystemError) {
        preconditionFailure("the system does not support waiting for locks")
    }
    package func advise(at offset: UInt64, count: UInt64) {}
    package func map(at offset: UInt64, count: Int) -> FileMapping? { nil }
    package func beginWriting(at offset: UInt64, count: UInt64) {}
}

/// How a file is opened.
package enum OpenMode: Sendable, Hashable, CaseIterable {
    /// Reads an existing file.
    case read
    /// Reads and writes an existing file.
    case readWrite
    /// Creates a file to read and write; throws EEXIST if the name exists.
    case create
    /// Reads and writes a file, and creates it empty if it does not exist.
    case createOrOpen
}

/// The identity of a file or folder on this machine, the same for every path to it. It is unique while the
/// file has a name or is open; a disk may reuse it after that.
package struct FileIdentity: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

extension FileSystem {
    /// Opens an existing file; returns nil if nothing exists at this path.
    package func openIfPresent(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError)
        -> (any File)?
    {
        do {
            return try open(path, mode)
        } catch  where error.code == .noSuchFileOrDirectory {
            return nil
        }
    }

    /// Returns whether a file or folder exists at this path.
    package func exists(_ path: FilePath) throws(FileSystemError) -> Bool {
        do {
            _ = try identity(of: path)
            return true
        } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
            return false
        }
    }
}

extension File {
    /// Writes all of `bytes` at `offset`, like the requirement above.
    package func write(_ bytes: RawSpan, at offset: UInt64) throws(FileSystemError) {
        try bytes.withUnsafeBytes { (bytes) throws(FileSystemError) in
            try write(bytes, at: offset)
        }
    }
}
