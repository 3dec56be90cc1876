// The disk as one simulated process has it: each call passes the gate of the interleaving, and the process can end at any.
//
// Below it are a disk that a process can die on, and the one that all share.
//
// Threads: those of one interleaving.

import CairnFileSystem
import CairnTestSupport
import SystemPackage

final class InterleavedDisk: FileSystem, @unchecked Sendable {
    let number: Int
    fileprivate let world: InterleavedWorld
    private let faults: FaultInjectingFileSystem
    /// How many calls are made until the process ends; nil: it does not.
    private var callsToDeath: Int?
    private var watches: [InterleavedWatch] = []

    init(_ world: InterleavedWorld, _ number: Int, over base: any FileSystem) {
        self.world = world
        self.number = number
        faults = FaultInjectingFileSystem(over: base)
    }

    // MARK: Death

    var isDead: Bool { faults.hasCrashed }

    /// Ends the process.
    func kill() { faults.crash() }

    /// Ends the process at one of its next calls.
    func kill(afterCalls count: Int) { callsToDeath = count }

    /// Ends the process at one of the next calls that change the disk: a write does so many bytes.
    func kill(afterMutations count: Int, writing bytes: Int) {
        faults.crash(atMutation: faults.mutationCount + count, afterWriting: bytes)
    }

    /// It lives on.
    func spare() {
        faults.clearFaults()
        callsToDeath = nil
    }

    // MARK: The gate

    fileprivate func pass(
        _ operation: FileSystemError.Operation, _ path: FilePath, _ offset: UInt64? = nil
    ) {
        // Who is dead does nothing that anybody could see.
        if world.isQuiet || isDead { return }
        world.pass(number, operation, path, offset)
        guard let calls = callsToDeath else { return }
        callsToDeath = calls - 1
        if calls == 0 { kill() }
    }

    // MARK: The disk

    func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        pass(.open, path)
        return InterleavedFile(try faults.open(path, mode), self)
    }

    func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        pass(.syncDirectory, path)
        try faults.syncDirectory(path)
    }

    func list(_ path: FilePath) throws(FileSystemError) -> [String] {
        pass(.list, path)
        return try faults.list(path)
    }

    func unlink(_ path: FilePath) throws(FileSystemError) {
        pass(.unlink, path)
        try faults.unlink(path)
    }

    func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        pass(.makeDirectory, path)
        try faults.makeDirectory(path)
    }

    func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        pass(.removeDirectory, path)
        try faults.removeDirectory(path)
    }

    func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        pass(.identify, path)
        return try faults.identity(of: path)
    }

    // MARK: Watches

    func watch(_ path: FilePath, _ body: @escaping @Sendable () -> Void) -> (any FileWatch)? {
        guard world.tellsOfWrites, !isDead else { return nil }
        let watch = InterleavedWatch(path, body)
        watches.append(watch)
        return watch
    }

    func tellOfWrite(to path: FilePath) {
        watches.removeAll { $0.isOver }
        for watch in watches where watch.path == path { watch.body() }
    }
}

private final class InterleavedWatch: FileWatch, @unchecked Sendable {
    let path: FilePath
    let body: @Sendable () -> Void
    private(set) var isOver = false

    init(_ path: FilePath, _ body: @escaping @Sendable () -> Void) {
        self.path = path
        self.body = body
    }

    func stop() { isOver = true }
}

/// An open file of such a disk.
private final class InterleavedFile: File {
    private let base: any File
    private let disk: InterleavedDisk

    init(_ base: any File, _ disk: InterleavedDisk) {
        self.base = base
        self.disk = disk
    }

    var path: FilePath { base.path }
    var identity: FileIdentity { base.identity }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(FileSystemError) -> Int {
        disk.pass(.read, path, offset)
        return try base.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        disk.pass(.write, path, offset)
        try base.write(bytes, at: offset)
        disk.world.tellOfWrite(to: path)
    }

    func synchronizeData() throws(FileSystemError) {
        disk.pass(.synchronize, path)
        try base.synchronizeData()
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        disk.pass(.truncate, path, size)
        try base.truncate(to: size)
    }

    func size() throws(FileSystemError) -> UInt64 {
        disk.pass(.size, path)
        return try base.size()
    }

    func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
        disk.pass(.lock, path, byte)
        let isOurs = try base.lock(byte: byte, exclusive: exclusive)
        if !isOurs { disk.world.interleaving.rest(disk.number) }
        return isOurs
    }

    func unlock(byte: UInt64) throws(FileSystemError) {
        disk.pass(.unlock, path, byte)
        try base.unlock(byte: byte)
        disk.world.interleaving.wake()
    }

    func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
        disk.pass(.lockHolder, path, byte)
        return try base.isLocked(byte: byte)
    }

    func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
        disk.pass(.lockHolder, path, byte)
        return try base.lockHolder(byte: byte)
    }

    func close() throws(FileSystemError) {
        disk.pass(.close, path)
        try base.close()
    }
}
