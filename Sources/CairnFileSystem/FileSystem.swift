// The one door to the operating system.
//
// Everything the engine asks of a disk goes through these two protocols, so that every fault of a
// disk can be a test. There is no rename and no mapping of files into memory: nothing needs them, and
// each would be one more way to lose data in a crash.
//
// Calls are coarse (one per read or write), so existentials cost nothing that matters.
//
// What every implementation keeps:
//   1. A call is whole or throws `FileSystemError`; interruptions and short transfers are not seen.
//   2. Reading past the end gives fewer bytes, never an error. What was never written reads as zero.
//   3. A file that was unlinked stays readable and writable through what is open.
//   4. Locks belong to the open file: another open, of this process too, is somebody else.
//   5. Numbers that no file can have (offsets over `Int64.max`) throw and never trap.
//
// Threads: a file system and its files may be used from any thread at once. What a reader gets of
// bytes that another thread is writing is not defined, as with the system's own calls.

package import SystemPackage

/// Folders and files of one kind of disk.
package protocol FileSystem: Sendable {
    /// Opens a regular file; a folder is EISDIR, anything else that is no regular file EINVAL.
    func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File

    /// Makes the names in a folder durable: files created and unlinked there before the call.
    func syncDirectory(_ path: FilePath) throws(FileSystemError)

    /// The names in a folder without "." and "..", in the order of their bytes.
    func list(_ path: FilePath) throws(FileSystemError) -> [String]

    /// Takes the name of a file away; the content lives until nobody has it open.
    func unlink(_ path: FilePath) throws(FileSystemError)

    /// Makes one folder; its parent must exist.
    func makeDirectory(_ path: FilePath) throws(FileSystemError)

    /// Removes a folder that is empty.
    func removeDirectory(_ path: FilePath) throws(FileSystemError)

    /// Which file or folder a path leads to, whatever it is called.
    func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity

    /// How many bytes the disk that a folder is on has free for users without privileges; nil where that is not known. Their
    /// shares of the disk are not looked at.
    func availableBytes(in path: FilePath) -> UInt64?

    /// The kind of the disk that a folder is on, or will be once it is made, if other machines may have that disk too: locks of
    /// theirs may not be seen here. Nil for a disk of this machine's own, and where the system does not tell.
    func sharedDisk(of path: FilePath) -> String?

    /// The machine that this process runs on; nil where the system does not tell.
    var host: Host? { get }

    /// Who has something of a file locked, as far as the system tells whoever asks.
    func users(of file: any File) -> [FileUser]

    /// Has a closure called soon after a file was written to, in a thread of the system's own, until the watch is stopped or
    /// goes; nil where the system tells of no writes.
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

/// An open regular file. It closes when the last reference goes; `close` does so with an error to see.
package protocol File: AnyObject, Sendable {
    /// The path it was opened by, for messages; it may lead elsewhere by now.
    var path: FilePath { get }

    /// Which file this is, as `FileSystem.identity(of:)` tells it.
    var identity: FileIdentity { get }

    /// Fills `buffer` from `offset` on. Gives the bytes read: fewer than asked only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(FileSystemError)
        -> Int

    /// Says that a part will be read soon, so that a disk can begin. A hint: nothing depends on it.
    func advise(at offset: UInt64, count: UInt64)

    /// Writes all of `bytes` at `offset`, making the file longer where needed. When it throws, any
    /// beginning of `bytes` may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError)

    /// Says that a part that was written will be synced soon, so that a disk can begin. A hint: nothing depends on it.
    func beginWriting(at offset: UInt64, count: UInt64)

    /// Returns when content and size are on the medium. After it has thrown, nothing is known of any
    /// write since the last success, and calling again proves nothing.
    func synchronizeData() throws(FileSystemError)

    /// Cuts or lengthens (with zeros) the file to `size` bytes.
    func truncate(to size: UInt64) throws(FileSystemError)

    func size() throws(FileSystemError) -> UInt64

    /// Locks one byte (which need not exist) without waiting; false where another open file is in the
    /// way. A lock this open file already has on the byte is replaced.
    func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool

    /// Whether `lockWaiting` is there.
    var canWaitForLocks: Bool { get }

    /// Locks one byte exclusively, and waits in the system while another open file is in the way: who has waited longest comes
    /// next. It may meet `close`, and throws EBADF then, though only when the byte is free.
    func lockWaiting(byte: UInt64) throws(FileSystemError)

    /// Drops the lock of one byte, if this open file has it.
    func unlock(byte: UInt64) throws(FileSystemError)

    /// Whether another open file has the byte locked, in whatever way.
    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool

    /// The process that has the byte locked through another open file: nil for nobody, and where the
    /// system does not tell.
    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32?

    /// Closes now and drops the locks. Everything after it throws EBADF. No other call of this object but `lockWaiting`
    /// may be under way.
    func close() throws(FileSystemError)
}

extension File {
    package var canWaitForLocks: Bool { false }
    package func lockWaiting(byte: UInt64) throws(FileSystemError) {
        preconditionFailure("the system does not support waiting for locks")
    }
    package func advise(at offset: UInt64, count: UInt64) {}
    package func beginWriting(at offset: UInt64, count: UInt64) {}
}

/// How a file is opened.
package enum OpenMode: Sendable, Hashable, CaseIterable {
    /// To read what exists.
    case read
    /// To read and write what exists.
    case readWrite
    /// A new file to read and write; EEXIST where the name is taken.
    case create
    /// To read and write, made empty where it does not exist.
    case createOrOpen
}

/// A file's or folder's identity on this machine, the same whatever path leads to it. No other has it
/// while the file has a name or is open; a disk may give it again after that.
package struct FileIdentity: Sendable, Hashable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

extension FileSystem {
    /// Opens what exists; nil if nothing has this path.
    package func openIfPresent(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError)
        -> (any File)?
    {
        do {
            return try open(path, mode)
        } catch  where error.code == .noSuchFileOrDirectory {
            return nil
        }
    }

    /// Whether something (file or folder) has this path.
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
    /// Writes all of `bytes` at `offset`, as the call above.
    package func write(_ bytes: RawSpan, at offset: UInt64) throws(FileSystemError) {
        try bytes.withUnsafeBytes { (bytes) throws(FileSystemError) in
            try write(bytes, at: offset)
        }
    }
}
