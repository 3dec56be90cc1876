// A disk whose power fails: what was not synced may be lost, in any combination.
//
//   1. Every change is recorded while it is made on a disk in memory.
//   2. After any of them an image of the store's folder, of which alone changes are recorded, can be asked
//      for: changes of a file up to its last sync are there; of the later ones each 512-byte sector of a
//      write, and each change of size, is there or not, as chance will have it; of the names made and
//      removed since the folder's last sync a beginning is there.
//
// Not in the model: sectors that are torn, syncs that lie.
// Threads: any for the file system; images are made when nobody writes.

import CairnFileSystem
import CairnTestSupport
import Synchronization
import SystemPackage

final class PowerLossDisk: FileSystem {
    enum Change: Sendable {
        case makeFolder
        case removeFolder
        case syncParent
        case create(name: String, file: FileIdentity)
        case unlink(name: String)
        case syncFolder
        case write(file: FileIdentity, offset: Int, bytes: [UInt8])
        case resize(file: FileIdentity, size: Int)
        case sync(file: FileIdentity)
    }

    private let base = MemoryFileSystem()
    private let log = Mutex<[Change]>([])

    var changeCount: Int { log.withLock { $0.count } }

    private func record(_ change: Change) { log.withLock { $0.append(change) } }

    /// Whether a path is the store's folder, or a file in it.
    private func isWatched(_ path: FilePath) -> Bool {
        path == DiskImage.folder || path.removingLastComponent() == DiskImage.folder
    }

    // MARK: The disk

    func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        let isNew = try !base.exists(path)
        let file = try base.open(path, mode)
        if isNew, isWatched(path) {
            record(.create(name: path.lastComponent!.string, file: file.identity))
        }
        return RecordedFile(file, self)
    }

    func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        try base.syncDirectory(path)
        record(path == DiskImage.folder ? .syncFolder : .syncParent)
    }

    func list(_ path: FilePath) throws(FileSystemError) -> [String] { try base.list(path) }

    func unlink(_ path: FilePath) throws(FileSystemError) {
        try base.unlink(path)
        if isWatched(path) { record(.unlink(name: path.lastComponent!.string)) }
    }

    func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        try base.makeDirectory(path)
        if isWatched(path) { record(.makeFolder) }
    }

    func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try base.removeDirectory(path)
        if isWatched(path) { record(.removeFolder) }
    }

    func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
        try base.identity(of: path)
    }

    private final class RecordedFile: File {
        private let base: any File
        private let disk: PowerLossDisk

        init(_ base: any File, _ disk: PowerLossDisk) {
            self.base = base
            self.disk = disk
        }

        var path: FilePath { base.path }
        var identity: FileIdentity { base.identity }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
            throws(FileSystemError) -> Int
        { try base.read(into: buffer, at: offset) }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
            try base.write(bytes, at: offset)
            disk.record(.write(file: identity, offset: Int(offset), bytes: Array(bytes)))
        }

        func synchronizeData() throws(FileSystemError) {
            try base.synchronizeData()
            disk.record(.sync(file: identity))
        }

        func truncate(to size: UInt64) throws(FileSystemError) {
            try base.truncate(to: size)
            disk.record(.resize(file: identity, size: Int(size)))
        }

        func size() throws(FileSystemError) -> UInt64 { try base.size() }
        func lock(byte: UInt64, exclusive: Bool) throws(FileSystemError) -> Bool {
            try base.lock(byte: byte, exclusive: exclusive)
        }
        func unlock(byte: UInt64) throws(FileSystemError) { try base.unlock(byte: byte) }
        func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
            try base.lockHolder(byte: byte)
        }
        func close() throws(FileSystemError) { try base.close() }
    }

    // MARK: After the power has failed

    /// What is on the disk if the power fails after so many changes; nil if the folder is not.
    func image(after count: Int, _ random: inout RandomSource) -> DiskImage? {
        let changes = log.withLock { Array($0[..<count]) }
        guard hasFolder(changes, &random) else { return nil }
        var image = DiskImage()
        for (name, file) in names(changes, &random) {
            image.files[name] = content(of: file, changes, &random)
        }
        return image
    }

    private func hasFolder(_ changes: [Change], _ random: inout RandomSource) -> Bool {
        var (isMade, isDurablyMade) = (false, false)
        for change in changes {
            switch change {
            case .makeFolder: isMade = true
            case .removeFolder: isMade = false
            case .syncParent: isDurablyMade = isMade
            default: break
            }
        }
        return isMade == isDurablyMade ? isMade : random.oneIn(2)
    }

    private func names(_ changes: [Change], _ random: inout RandomSource) -> [String: FileIdentity]
    {
        var names: [String: FileIdentity] = [:]
        var later: [Change] = []
        func apply(_ change: Change) {
            switch change {
            case .create(let name, let file): names[name] = file
            case .unlink(let name): names[name] = nil
            default: break
            }
        }
        for change in changes {
            switch change {
            case .create, .unlink: later.append(change)
            case .syncFolder:
                for change in later { apply(change) }
                later = []
            default: break
            }
        }
        for change in later.prefix(Int.random(in: 0...later.count, using: &random)) {
            apply(change)
        }
        return names
    }

    private func content(of file: FileIdentity, _ changes: [Change], _ random: inout RandomSource)
        -> [UInt8]
    {
        let last = changes.lastIndex {
            if case .sync(file) = $0 { true } else { false }
        }
        // In some images nearly all is lost, in others nearly nothing.
        let share = Int.random(in: 0...8, using: &random)
        var bytes: [UInt8] = []
        func put(_ part: ArraySlice<UInt8>, at offset: Int) {
            if bytes.count < offset + part.count {
                bytes += [UInt8](repeating: 0, count: offset + part.count - bytes.count)
            }
            bytes.replaceSubrange(offset..<offset + part.count, with: part)
        }
        for (index, change) in changes.enumerated() {
            let isSure = last.map { index <= $0 } ?? false
            switch change {
            case .write(file, let offset, let written):
                if isSure {
                    put(written[...], at: offset)
                    continue
                }
                var start = 0
                while start < written.count {
                    let end = min(written.count, (offset + start) / 512 * 512 + 512 - offset)
                    if Int.random(in: 0..<8, using: &random) < share {
                        put(written[start..<end], at: offset + start)
                    }
                    start = end
                }
            case .resize(file, let size):
                guard isSure || Int.random(in: 0..<8, using: &random) < share else { continue }
                if size < bytes.count { bytes.removeSubrange(size...) }
            default: break
            }
        }
        return bytes
    }
}
