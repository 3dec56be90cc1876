// A disk that is a value: every fault of a disk, by one seed, at any call.
//
// The fault model:
//   1. Power cut, between any two calls that change something. Of what was not synced, each sector of 512
//      bytes of a write is lost or not, in any combination (so writes are reordered), and some are torn. A change
//      of size is there or not, also before the data, with zeros or blocks of a file that was removed. Of names
//      made and removed since the folder was synced any part is there, or a beginning. A folder whose parent was
//      not synced may be gone. Syncing a file says nothing of its name.
//   2. End of the process, between any two calls and in the middle of a write: the page cache stays.
//   3. A call that fails, once or from then on: EIO, ENOSPC, any other number. A write may do its beginning
//      before (a short write). EINTR and short transfers without an error are the business of the file system
//      below the seam, and never seen above it.
//   4. A sync that fails, once: part of what it should have made durable is on the medium, the rest will never
//      be, though it can be read until the page cache forgets it, and the next sync succeeds.
//   5. A sync that lies: it returns, and nothing was done.
//
// Not in the model: bit rot and misdirected writes (the damage tests), two processes at once. Locks are always
// granted.
//
// Every call is shown to the order checker, which knows what the protocol demands of it.
// Threads: any; one lock around everything.

import CairnFileSystem
import CairnTestSupport
import Synchronization
import SystemPackage

final class SimulatedDisk: FileSystem {
    static let folder: FilePath = "/store"

    /// A call that fails.
    struct Fault: Sendable {
        /// Nil: any.
        var operation: FileSystemError.Operation?
        /// Which of these calls, from 1.
        var number: Int
        var code: Errno
        /// How much of a write is done before.
        var bytesFirst = 0
        /// Whether all such calls after it fail too.
        var repeats = false
    }

    /// The state before a call that changes something, and what was promised then.
    struct CrashPoint: Sendable {
        var state: DiskState
        var promise: Promise
        var call: String
        /// The write that was about to be made.
        var write: (file: Int, offset: Int, bytes: [UInt8])?
    }

    struct Contents: Sendable {
        var state: DiskState
        var random: RandomSource
        var checker = OrderChecker()
        var checksOrder = true
        var lyingSites: Set<SyncSite> = []
        var fault: Fault?
        var hasFailed = false
        /// The operation that failed, and those that fail with it.
        var failing: FileSystemError.Operation?
        /// Whether calls are those of somebody who only looks: they neither count nor fail.
        var isWatched = false
        var calls = 0
        var promise = Promise()
        var records = false
        var points: [CrashPoint] = []
        var syncs: [SyncSite: Int] = [:]
    }

    private let device: UInt64
    private let contents: Mutex<Contents>

    /// Apart from those of a system and of disks in memory.
    private static let nextDevice = Atomic<UInt64>(1 << 62)

    init(_ state: DiskState = DiskState(), seed: UInt64) {
        device = Self.nextDevice.wrappingAdd(1, ordering: .relaxed).oldValue
        contents = Mutex(Contents(state: state, random: RandomSource(seed: seed)))
    }

    func with<R: Sendable>(_ body: (inout Contents) -> R) -> R { contents.withLock { body(&$0) } }

    // MARK: Calls

    /// A call: counted, failed or carried out. The body gives an error number of its own.
    fileprivate func call<R: Sendable>(
        _ operation: FileSystemError.Operation, _ path: FilePath, offset: UInt64? = nil,
        _ body: (inout Contents) -> Result<R, Errno>
    ) throws(FileSystemError) -> R {
        let result = contents.withLock { contents -> Result<R, Errno> in
            if let code = contents.enter(operation) { return .failure(code) }
            return body(&contents)
        }
        switch result {
        case .success(let value): return value
        case .failure(let code): throw FileSystemError(operation, path, code, offset: offset)
        }
    }

    private static func name(_ path: FilePath) -> String { path.lastComponent?.string ?? "" }

    func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        let name = Self.name(path)
        let file = try call(.open, path) { contents -> Result<Int, Errno> in
            guard contents.state.folder != .missing else { return .failure(.noSuchFileOrDirectory) }
            if let file = contents.state.names[name] {
                return mode == .create ? .failure(.fileExists) : .success(file)
            }
            guard mode == .create || mode == .createOrOpen else {
                return .failure(.noSuchFileOrDirectory)
            }
            contents.note("create \(name)")
            let file = contents.state.create(name)
            contents.check { checker, _ in checker.didCreate(file) }
            return .success(file)
        }
        return SimulatedFile(
            self, file, path, FileIdentity(device: device, inode: UInt64(file) + 10))
    }

    func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        let isFolder = path == Self.folder
        try call(.syncDirectory, path) { contents -> Result<Void, Errno> in
            let site = isFolder ? SyncSite(namesOf: contents.state) : .parent
            contents.note("sync folder \(path)")
            guard contents.sync(site) else { return .success(()) }
            if !isFolder {
                if contents.state.folder == .unsynced { contents.state.folder = .durable }
            } else if contents.state.folder == .missing {
                return .failure(.noSuchFileOrDirectory)
            } else {
                contents.check { $0.willSyncNames($1) }
                contents.state.syncNames()
            }
            return .success(())
        }
    }

    func list(_ path: FilePath) throws(FileSystemError) -> [String] {
        try call(.list, path) { contents in
            contents.state.folder == .missing
                ? .failure(.noSuchFileOrDirectory) : .success(contents.state.names.keys.sorted())
        }
    }

    func unlink(_ path: FilePath) throws(FileSystemError) {
        let name = Self.name(path)
        try call(.unlink, path) { contents -> Result<Void, Errno> in
            guard contents.state.names[name] != nil else { return .failure(.noSuchFileOrDirectory) }
            contents.note("unlink \(name)")
            // What could not be read is as good as not there, and may be replaced.
            let couldRead = ![.read, .open, .size, .list, .identify].contains(contents.failing)
            contents.check { $0.willUnlink(name, couldRead: couldRead, $1) }
            contents.state.remove(name)
            return .success(())
        }
    }

    func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        try call(.makeDirectory, path) { contents -> Result<Void, Errno> in
            guard contents.state.folder == .missing else { return .failure(.fileExists) }
            contents.note("make folder")
            contents.state.folder = .unsynced
            return .success(())
        }
    }

    func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try call(.removeDirectory, path) { contents -> Result<Void, Errno> in
            guard contents.state.folder != .missing else { return .failure(.noSuchFileOrDirectory) }
            guard contents.state.names.isEmpty else { return .failure(.directoryNotEmpty) }
            precondition(
                contents.state.folder == .unsynced, "only a folder that was just made is removed")
            contents.note("remove folder")
            contents.state.folder = .missing
            return .success(())
        }
    }

    func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        let name = path == Self.folder ? nil : Self.name(path)
        let inode = try call(.identify, path) { contents -> Result<Int, Errno> in
            guard contents.state.folder != .missing else { return .failure(.noSuchFileOrDirectory) }
            guard let name else { return .success(1) }
            guard let file = contents.state.names[name] else {
                return .failure(.noSuchFileOrDirectory)
            }
            return .success(file + 10)
        }
        return FileIdentity(device: device, inode: UInt64(inode))
    }
}

extension SimulatedDisk.Contents {
    /// Counts a call; gives the error that it is to fail with.
    mutating func enter(_ operation: FileSystemError.Operation) -> Errno? {
        if isWatched { return nil }
        calls += 1
        guard var fault, fault.operation == nil || fault.operation == operation else { return nil }
        if let failing {
            return failing == operation && fault.repeats ? fault.code : nil
        }
        fault.number -= 1
        self.fault = fault
        guard fault.number == 0 else { return nil }
        failing = operation
        hasFailed = true
        return fault.code
    }

    /// Keeps the state before a change.
    mutating func note(
        _ call: String, write: (file: Int, offset: Int, bytes: [UInt8])? = nil
    ) {
        guard records else { return }
        points.append(
            SimulatedDisk.CrashPoint(state: state, promise: promise, call: call, write: write))
    }

    mutating func check(_ body: (inout OrderChecker, DiskState) -> Void) {
        if checksOrder { body(&checker, state) }
    }

    /// Counts a sync; false if it only pretends.
    mutating func sync(_ site: SyncSite) -> Bool {
        syncs[site, default: 0] += 1
        return !lyingSites.contains(site)
    }

    /// The name of a file, for messages.
    func name(of file: Int) -> String { state.names.first { $0.value == file }?.key ?? "?" }
}

/// An open file of such a disk.
private final class SimulatedFile: File {
    private let disk: SimulatedDisk
    private let file: Int
    let path: FilePath
    let identity: FileIdentity

    init(_ disk: SimulatedDisk, _ file: Int, _ path: FilePath, _ identity: FileIdentity) {
        self.disk = disk
        self.file = file
        self.path = path
        self.identity = identity
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(FileSystemError) -> Int
    {
        nonisolated(unsafe) let buffer = buffer
        // It is used before the call returns.
        return try disk.call(.read, path, offset: offset) { contents in
            contents.state.files[file].seen.withUnsafeBytes { bytes in
                guard let start = Int(exactly: offset), start < bytes.count else {
                    return .success(0)
                }
                let count = min(buffer.count, bytes.count - start)
                buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
                return .success(count)
            }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        nonisolated(unsafe) let bytes = bytes
        // It is used before the call returns.
        let offset = Int(offset)
        let beginning = disk.with { min($0.fault?.bytesFirst ?? 0, bytes.count) }
        do throws(FileSystemError) {
            try disk.call(.write, path, offset: UInt64(offset)) { contents in
                contents.write(bytes, to: file, at: offset)
                return .success(())
            }
        } catch {
            if beginning > 0 {
                disk.with {
                    $0.write(
                        UnsafeRawBufferPointer(rebasing: bytes[..<beginning]), to: file, at: offset)
                }
            }
            throw error
        }
    }

    func synchronizeData() throws(FileSystemError) {
        do throws(FileSystemError) {
            try disk.call(.synchronize, path) { contents in
                let name = contents.name(of: file)
                contents.note("sync \(name)")
                if contents.sync(SyncSite(of: contents.state.files[file], name)) {
                    contents.state.sync(file)
                    contents.check { $0.didSync(file, name, $1) }
                }
                return .success(())
            }
        } catch {
            disk.with { contents in
                let name = contents.name(of: file)
                contents.note("failed sync \(name)")
                var random = contents.random
                contents.state.failToSync(file, &random)
                contents.random = random
            }
            throw error
        }
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        try disk.call(.truncate, path, offset: size) { contents in
            let name = contents.name(of: file)
            contents.note("cut \(name)")
            contents.check { $0.willResize(file, name, to: Int(size), $1) }
            contents.state.resize(file, to: Int(size))
            return .success(())
        }
    }

    func size() throws(FileSystemError) -> UInt64 {
        try disk.call(.size, path) { .success(UInt64($0.state.files[file].seen.count)) }
    }

    func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
        try disk.call(.lock, path, offset: byte) { _ in .success(true) }
    }

    func unlock(byte: UInt64) throws(FileSystemError) {
        try disk.call(.unlock, path, offset: byte) { _ in .success(()) }
    }

    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        try disk.call(.lockHolder, path, offset: byte) { _ in .success(false) }
    }

    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        try disk.call(.lockHolder, path, offset: byte) { _ in .success(nil) }
    }

    func close() throws(FileSystemError) {
        try disk.call(.close, path) { _ in .success(()) }
    }
}

extension SimulatedDisk.Contents {
    fileprivate mutating func write(_ bytes: UnsafeRawBufferPointer, to file: Int, at offset: Int) {
        let name = name(of: file)
        if records {
            note(
                "write \(bytes.count) bytes at \(offset) of \(name)",
                write: (file, offset, Array(bytes)))
        }
        check { $0.willWrite(bytes, to: file, name, at: offset, $1) }
        state.write(bytes, to: file, at: offset)
        // The mark file is never synced; the system writes it back some day.
        if name == "lock" { state.writeBack(file, keeping: 4) }
    }
}
