// A disk whose calls fail where a test says, around any other disk.
//
// The fault model:
//   1. A call told to fail throws the error number given and does nothing at the disk below, except
//      that a write may first do its beginning of so many bytes (a short write, then the error).
//   2. A failed sync has not synced. What was written before it is still in the disk below.
//   3. A crash is the end of the process at the start of a call, or in the middle of a write: what was
//      written before is there, nothing after happens. All later calls throw EIO. The files below are
//      closed and their locks dropped, as the kernel does; reopen through the disk below.
// Not in the model: loss of power (writes that a sync did not cover are kept, in order, whole), lost
// names, bit rot, syncs that lie.
//
// Calls are counted from 1. Those that change what is on the disk (opening in a mode that may create,
// writing, syncing a file or folder, truncating, making and deleting) are counted as mutations too, so
// that a test can crash at each in turn: crash(atMutation: 1), then 2, until the workload finishes.
//
// Threads: any; one lock around the plan, no call below is made inside it. A crash closes files, so over
// the real disk it must not meet another thread's call (over one in memory it may).

package import CairnFileSystem
import Synchronization
package import SystemPackage

package final class FaultInjectingFileSystem: FileSystem {
    /// One call as it was made.
    package struct Call: Sendable, Hashable {
        package let operation: FileSystemError.Operation
        package let path: FilePath
        package var offset: UInt64?
        package var length: Int?
        package var isMutation: Bool
    }

    private struct State: Sendable {
        var plan = FaultPlan()
        var open: [WeakFile] = []
        var availableBytes: UInt64?
        var sharedDisk: String?
        var host: Host?
        var gates: [(operation: FileSystemError.Operation, callsBefore: Int, gate: CallGate)] = []

        /// The gate that a call stops at.
        mutating func gate(for operation: FileSystemError.Operation) -> CallGate? {
            var found: CallGate?
            for index in gates.indices.reversed() where gates[index].operation == operation {
                if gates[index].callsBefore == 0 {
                    found = gates.remove(at: index).gate
                } else {
                    gates[index].callsBefore -= 1
                }
            }
            return found
        }
    }

    private struct WeakFile: Sendable {
        weak let file: FaultInjectingFile?
    }

    private let base: any FileSystem
    private let state = Mutex(State())

    package init(over base: any FileSystem) {
        self.base = base
    }

    // MARK: What shall happen

    /// Makes a call fail: the `number`-th from now of this operation, on any file or on those whose name
    /// ends in `file`. `afterWriting` is for writes; `repeats` lets all such calls after it fail too.
    package func fail(
        _ operation: FileSystemError.Operation, number: Int = 1, of file: String? = nil,
        with code: Errno, afterWriting bytes: Int = 0, repeats: Bool = false
    ) {
        state.withLock {
            $0.plan.fail(
                operation, number: number, of: file, with: code, afterWriting: bytes,
                repeats: repeats)
        }
    }

    /// Holds the `number`-th call from now of this operation at a gate until that is opened. What else shall
    /// happen to the call happens then.
    package func hold(_ operation: FileSystemError.Operation, number: Int = 1) -> CallGate {
        let gate = CallGate()
        state.withLock { $0.gates.append((operation, number - 1, gate)) }
        return gate
    }

    /// Crashes at the `number`-th mutation since this disk was made.
    package func crash(atMutation number: Int, afterWriting bytes: Int = 0) {
        state.withLock { $0.plan.crash(atMutation: number, afterWriting: bytes) }
    }

    /// Crashes now.
    package func crash() {
        state.withLock { $0.plan.crash() }
        closeAll()
    }

    /// Says how many bytes the disk has left: it is only said, nothing fails for it.
    package func say(availableBytes bytes: UInt64) {
        state.withLock { $0.availableBytes = bytes }
    }

    /// Says that it is of a kind that other machines may have too, and which machine uses it here: two of these over one disk
    /// are two machines, though the locks of each are seen by the other.
    package func say(sharedDisk kind: String, of host: Host) {
        state.withLock { ($0.sharedDisk, $0.host) = (kind, host) }
    }

    /// Forgets all that shall still happen; what has happened stays.
    package func clearFaults() {
        state.withLock { $0.plan.clear() }
    }

    // MARK: What has happened

    package var hasCrashed: Bool { state.withLock { $0.plan.hasCrashed } }
    package var mutationCount: Int { state.withLock { $0.plan.mutations } }
    /// All calls up to the crash, oldest first, those that were made to fail included.
    package var history: [Call] { state.withLock { $0.plan.history } }

    package func count(_ operation: FileSystemError.Operation) -> Int {
        state.withLock { $0.plan.history.count { $0.operation == operation } }
    }

    // MARK: The disk

    package func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        try enter(.open, path, isMutation: mode == .create || mode == .createOrOpen)
        let file = FaultInjectingFile(try base.open(path, mode), self)
        state.withLock {
            $0.open.removeAll { $0.file == nil }
            $0.open.append(WeakFile(file: file))
        }
        return file
    }

    package func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        try enter(.syncDirectory, path, isMutation: true)
        try base.syncDirectory(path)
    }

    package func list(_ path: FilePath) throws(FileSystemError) -> [String] {
        try enter(.list, path)
        return try base.list(path)
    }

    package func availableBytes(in path: FilePath) -> UInt64? {
        state.withLock { $0.availableBytes } ?? base.availableBytes(in: path)
    }

    package func sharedDisk(of path: FilePath) -> String? {
        state.withLock { $0.sharedDisk } ?? base.sharedDisk(of: path)
    }

    package var host: Host? { state.withLock { $0.host } ?? base.host }

    package func unlink(_ path: FilePath) throws(FileSystemError) {
        try enter(.unlink, path, isMutation: true)
        try base.unlink(path)
    }

    package func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        try enter(.makeDirectory, path, isMutation: true)
        try base.makeDirectory(path)
    }

    package func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try enter(.removeDirectory, path, isMutation: true)
        try base.removeDirectory(path)
    }

    package func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        try enter(.identify, path)
        return try base.identity(of: path)
    }

    // MARK: Deciding

    /// Counts a call; throws if it shall fail. A write that shall do a beginning does it by `beginning`.
    func enter(
        _ operation: FileSystemError.Operation, _ path: FilePath, isMutation: Bool = false,
        offset: UInt64? = nil, length: Int? = nil,
        beginning: (Int) throws(FileSystemError) -> Void = { (_) throws(FileSystemError) in }
    ) throws(FileSystemError) {
        let call = Call(
            operation: operation, path: path, offset: offset, length: length, isMutation: isMutation
        )
        state.withLock { $0.gate(for: operation) }?.pass()
        switch state.withLock({ $0.plan.decide(call) }) {
        case .goOn:
            return
        case .fail(let code, let bytes):
            if bytes > 0 { try beginning(bytes) }
            throw FileSystemError(operation, path, code, offset: offset)
        case .crash(let bytes):
            defer { closeAll() }
            if bytes > 0 { try beginning(bytes) }
            throw FileSystemError(operation, path, .ioError, offset: offset)
        }
    }

    private func closeAll() {
        let files = state.withLock { state in
            defer { state.open = [] }
            return state.open.compactMap(\.file)
        }
        for file in files { file.closeBase() }
    }
}

/// An open file of such a disk.
final class FaultInjectingFile: File {
    private let base: any File
    private let disk: FaultInjectingFileSystem

    init(_ base: any File, _ disk: FaultInjectingFileSystem) {
        self.base = base
        self.disk = disk
    }

    var path: FilePath { base.path }
    var identity: FileIdentity { base.identity }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        try disk.enter(.read, path, offset: offset, length: buffer.count)
        return try base.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try disk.enter(
            .write, path, isMutation: true, offset: offset, length: bytes.count,
            beginning: { (count) throws(FileSystemError) in
                try base.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
            })
        try base.write(bytes, at: offset)
    }

    func synchronizeData() throws(FileSystemError) {
        try disk.enter(.synchronize, path, isMutation: true)
        try base.synchronizeData()
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        try disk.enter(.truncate, path, isMutation: true, offset: size)
        try base.truncate(to: size)
    }

    func size() throws(FileSystemError) -> UInt64 {
        try disk.enter(.size, path)
        return try base.size()
    }

    func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
        try disk.enter(.lock, path, offset: byte)
        return try base.lock(byte: byte, exclusive: exclusive)
    }

    func unlock(byte: UInt64) throws(FileSystemError) {
        try disk.enter(.unlock, path, offset: byte)
        try base.unlock(byte: byte)
    }

    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        try disk.enter(.lockHolder, path, offset: byte)
        return try base.isLocked(byte: byte)
    }

    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        try disk.enter(.lockHolder, path, offset: byte)
        return try base.lockHolder(byte: byte)
    }

    func close() throws(FileSystemError) {
        try disk.enter(.close, path)
        try base.close()
    }

    /// The end of the process: what is closed already stays so.
    func closeBase() {
        try? base.close()
    }
}
