// One open descriptor of the real disk.
//
// Transfers are split into pieces of at most 1 GiB (the systems cap a call just under 2 GiB, some with an
// error). After a short transfer they continue until done or until the end of the file.
//
// Invariant: the descriptor is open exactly as long as `isClosed` is false; it is closed once.
// Threads: any; `close` must not meet another call (a reused descriptor would be somebody else's file).

internal import CCairn
internal import Synchronization
package import SystemPackage

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

package final class POSIXFile: File {
    package let path: FilePath
    package let identity: FileIdentity
    private let descriptor: CInt
    private let isClosed = Atomic(false)
    /// The number of threads that wait for a lock.
    private let waiting = Mutex(0)

    private static let longestTransfer = 1 << 30

    init(_ descriptor: CInt, _ path: FilePath, _ identity: FileIdentity) {
        self.descriptor = descriptor
        self.path = path
        self.identity = identity
    }

    deinit {
        if !isClosed.load(ordering: .relaxed) { _ = closeDescriptor(descriptor) }
    }

    package func close() throws(FileSystemError) {
        let code = waiting.withLock { count -> CInt? in
            guard !isClosed.exchange(true, ordering: .relaxed) else { return nil }
            // The open file exists as long as a thread waits.
            if count > 0 { _ = repeatingInterrupted { cairn_ofd_unlock_all(descriptor) } }
            return closeDescriptor(descriptor)
        }
        try check(.close, code ?? EBADF)
    }

    // MARK: Content

    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        try checkOpen(.read)
        guard let start = buffer.baseAddress, let first = Int64(exactly: offset) else { return 0 }
        // No byte can exist past the largest offset.
        let count = Int(min(Int64(buffer.count), Int64.max - first))
        var done = 0
        while done < count {
            let piece = min(count - done, Self.longestTransfer)
            let moved = pread(descriptor, start + done, piece, off_t(first) + off_t(done))
            if moved == 0 { break }
            if moved > 0 {
                done += moved
            } else if errno != EINTR {
                throw error(.read, errno, at: offset + UInt64(done))
            }
        }
        return done
    }

    package func advise(at offset: UInt64, count: UInt64) {
        #if canImport(Glibc) || canImport(Musl)
            guard !isClosed.load(ordering: .relaxed) else { return }
            _ = posix_fadvise(
                descriptor, off_t(clamping: offset), off_t(clamping: count), POSIX_FADV_WILLNEED)
        #endif
    }

    package func map(at offset: UInt64, count: Int) -> FileMapping? {
        guard !isClosed.load(ordering: .relaxed), let first = Int64(exactly: offset) else {
            return nil
        }
        return FileMapping(descriptor, at: first, count: count)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try checkOpen(.write)
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        guard let first = Int64(exactly: offset), Int64(bytes.count) <= Int64.max - first else {
            throw error(.write, EFBIG, at: offset)
        }
        var done = 0
        while done < bytes.count {
            let piece = min(bytes.count - done, Self.longestTransfer)
            let moved = pwrite(descriptor, start + done, piece, off_t(first) + off_t(done))
            if moved > 0 {
                done += moved
            } else if moved == 0 {
                // Not known to happen for a regular file; another attempt could loop forever.
                throw error(.write, EIO, at: offset + UInt64(done))
            } else if errno != EINTR {
                throw error(.write, errno, at: offset + UInt64(done))
            }
        }
    }

    package func beginWriting(at offset: UInt64, count: UInt64) {
        guard !isClosed.load(ordering: .relaxed) else { return }
        cairn_begin_writing(descriptor, Int64(clamping: offset), Int64(clamping: count))
    }

    package func synchronizeData() throws(FileSystemError) {
        try checkOpen(.synchronize)
        try check(.synchronize, repeatingInterrupted { cairn_sync_data(descriptor) })
    }

    package func truncate(to size: UInt64) throws(FileSystemError) {
        try checkOpen(.truncate)
        guard let length = Int64(exactly: size) else { throw error(.truncate, EFBIG, at: size) }
        let code = repeatingInterrupted { ftruncate(descriptor, off_t(length)) == -1 ? errno : 0 }
        try check(.truncate, code, at: size)
    }

    package func size() throws(FileSystemError) -> UInt64 {
        try checkOpen(.size)
        var status = stat()
        try check(.size, fstat(descriptor, &status) == -1 ? errno : 0)
        return UInt64(clamping: status.st_size)
    }

    // MARK: Locks

    package func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
        let place = try lockPlace(.lock, byte)
        let code = repeatingInterrupted { cairn_ofd_lock(descriptor, place, exclusive ? 2 : 1) }
        if code == EAGAIN || code == EACCES { return false }
        try check(.lock, code, at: byte)
        return true
    }

    package var canWaitForLocks: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    package func lockWaiting(byte: UInt64) throws(FileSystemError) {
        let place = try lockPlace(.lock, byte)
        // The lock belongs to the open file, whichever descriptor it is taken through. The wait uses a copy,
        // because the number of a closed descriptor may belong to another file by the time the byte is free.
        let (copy, failure) = waiting.withLock { count -> (CInt, CInt) in
            if isClosed.load(ordering: .relaxed) { return (-1, EBADF) }
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            if copy < 0 { return (-1, errno) }
            count += 1
            return (copy, 0)
        }
        try check(.lock, failure, at: byte)
        let code = repeatingInterrupted { cairn_ofd_lock_waiting(copy, place) }
        let isOver = waiting.withLock { count in
            count -= 1
            _ = closeDescriptor(copy)
            return isClosed.load(ordering: .relaxed)
        }
        try check(.lock, isOver ? EBADF : code, at: byte)
    }

    package func unlock(byte: UInt64) throws(FileSystemError) {
        let place = try lockPlace(.unlock, byte)
        try check(.unlock, repeatingInterrupted { cairn_ofd_lock(descriptor, place, 0) }, at: byte)
    }

    package func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        try testLock(byte) != 0
    }

    /// Returns the process that has locked the byte through another open file; 0 if there is none, negative
    /// if the system does not report it.
    private func testLock(_ byte: UInt64) throws(FileSystemError) -> Int32 {
        let place = try lockPlace(.lockHolder, byte)
        var holder: Int32 = 0
        let code = repeatingInterrupted { cairn_ofd_test(descriptor, place, &holder) }
        try check(.lockHolder, code, at: byte)
        return holder
    }

    package func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        let place = try lockPlace(.lockHolder, byte)
        let holder = try testLock(byte)
        if holder > 0 { return holder }
        guard holder < 0 else { return nil }
        #if os(Linux)
            return LockHolderSearch.process(
                locking: place, of: identity, named: path.lastComponent?.string, except: descriptor)
        #else
            return nil
        #endif
    }

    private func lockPlace(
        _ operation: FileSystemError.Operation, _ byte: UInt64
    ) throws(FileSystemError) -> Int64 {
        try checkOpen(operation)
        // The end of the range, one past the byte, must be a valid offset.
        guard byte < UInt64(Int64.max) else { throw error(operation, EOVERFLOW, at: byte) }
        return Int64(byte)
    }

    // MARK: Errors

    private func checkOpen(_ operation: FileSystemError.Operation) throws(FileSystemError) {
        if isClosed.load(ordering: .relaxed) { throw error(operation, EBADF) }
    }

    private func check(
        _ operation: FileSystemError.Operation, _ code: CInt, at offset: UInt64? = nil
    ) throws(FileSystemError) {
        if code != 0 { throw error(operation, code, at: offset) }
    }

    private func error(
        _ operation: FileSystemError.Operation, _ code: CInt, at offset: UInt64? = nil
    ) -> FileSystemError {
        FileSystemError(operation, path, Errno(rawValue: code), offset: offset)
    }
}
