// The real disk.
//
//   1. Every descriptor is opened close-on-exec: a child process must not inherit locks.
//   2. Calls are repeated after EINTR, except for close, where the descriptor is closed either way.
//   3. A folder is synced through its own descriptor.
//
// Threads: no state; the kernel does the locking.

package import SystemPackage

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Files and folders of the operating system.
package struct POSIXFileSystem: FileSystem {
    package init() {}

    package func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        let descriptor = try openDescriptor(path, flags(mode), .open)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = Errno(rawValue: errno)
            _ = closeDescriptor(descriptor)
            throw FileSystemError(.open, path, code)
        }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else {
            _ = closeDescriptor(descriptor)
            throw FileSystemError(.open, path, kind == S_IFDIR ? .isDirectory : .invalidArgument)
        }
        return POSIXFile(descriptor, path, FileIdentity(status))
    }

    package func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        let descriptor = try openDescriptor(path, O_RDONLY | O_DIRECTORY, .syncDirectory)
        let code = repeatingInterrupted { fsync(descriptor) == 0 ? 0 : errno }
        _ = closeDescriptor(descriptor)
        // Some network and FUSE disks cannot sync folders: their names are already as durable as possible.
        if code != 0 && code != EINVAL && code != ENOTSUP {
            throw FileSystemError(.syncDirectory, path, Errno(rawValue: code))
        }
    }

    package func list(_ path: FilePath) throws(FileSystemError) -> [String] {
        guard let folder = path.withPlatformString({ opendir($0) }) else {
            throw FileSystemError(.list, path, Errno(rawValue: errno))
        }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                let code = errno
                guard code == 0 else {
                    throw FileSystemError(.list, path, Errno(rawValue: code))
                }
                break
            }
            // By address: the entry may be shorter than its type, so a copy would read out of bounds.
            let name = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
            let text = String(cString: name.assumingMemoryBound(to: CChar.self))
            if text != "." && text != ".." { names.append(text) }
        }
        return sortedByBytes(names)
    }

    package func unlink(_ path: FilePath) throws(FileSystemError) {
        try call(.unlink, path) { unlinkFile($0) }
    }

    package func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        try call(.makeDirectory, path) { mkdir($0, 0o777) }
    }

    package func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try call(.removeDirectory, path) { rmdir($0) }
    }

    package func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        var status = stat()
        try call(.identify, path) { stat($0, &status) }
        return FileIdentity(status)
    }

    #if os(Linux)
        package func sharedDisk(of path: FilePath) -> String? { SharedDisks.kind(of: path) }

        package var host: Host? { Host.current() }

        package func users(of file: any File) -> [FileUser] {
            LockHolderSearch.users(of: file.identity, named: file.path.lastComponent?.string)
        }

        package func watch(_ path: FilePath, _ body: @escaping @Sendable () -> Void)
            -> (any FileWatch)?
        { InotifyWatch(path, body) }
    #endif

    package func availableBytes(in path: FilePath) -> UInt64? {
        var status = statvfs()
        let code = repeatingInterrupted {
            path.withPlatformString { statvfs($0, &status) == -1 ? errno : 0 }
        }
        // Some network disks report that they have no blocks at all.
        guard code == 0, status.f_blocks > 0 else { return nil }
        let (bytes, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return isTooLarge ? .max : bytes
    }

    // MARK: Calls

    private func flags(_ mode: OpenMode) -> CInt {
        switch mode {
        case .read: O_RDONLY
        case .readWrite: O_RDWR
        case .create: O_RDWR | O_CREAT | O_EXCL
        case .createOrOpen: O_RDWR | O_CREAT
        }
    }

    private func openDescriptor(
        _ path: FilePath, _ flags: CInt, _ operation: FileSystemError.Operation
    ) throws(FileSystemError) -> CInt {
        var descriptor: CInt = -1
        try call(operation, path) {
            // The user's umask restricts the permissions, as for every file of theirs.
            descriptor = openFile($0, flags | O_CLOEXEC, 0o666)
            return descriptor
        }
        return descriptor
    }

    /// Makes a call that returns -1 and sets `errno` on failure.
    private func call(
        _ operation: FileSystemError.Operation, _ path: FilePath,
        _ body: (UnsafePointer<CChar>) -> CInt
    ) throws(FileSystemError) {
        let code = repeatingInterrupted {
            path.withPlatformString { body($0) == -1 ? errno : 0 }
        }
        if code != 0 { throw FileSystemError(operation, path, Errno(rawValue: code)) }
    }
}

// The system's functions under names that the methods above do not hide.

private func openFile(_ path: UnsafePointer<CChar>, _ flags: CInt, _ mode: mode_t) -> CInt {
    open(path, flags, mode)
}

private func unlinkFile(_ path: UnsafePointer<CChar>) -> CInt {
    unlink(path)
}

/// Repeats `body`, which returns an error number or 0, while a signal interrupts it.
func repeatingInterrupted(_ body: () -> CInt) -> CInt {
    while true {
        let code = body()
        if code != EINTR { return code }
    }
}

/// Closes a descriptor once: it is closed after EINTR too, and a second close could hit another file.
func closeDescriptor(_ descriptor: CInt) -> CInt {
    guard close(descriptor) == -1 else { return 0 }
    return errno == EINTR ? 0 : errno
}

/// Returns names sorted by their UTF-8 bytes, independent of the folder's order.
func sortedByBytes(_ names: [String]) -> [String] {
    names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}

extension FileIdentity {
    init(_ status: stat) {
        self.init(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino))
    }
}
