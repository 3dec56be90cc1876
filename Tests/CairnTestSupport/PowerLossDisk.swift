// A disk whose power fails: what was not synced may be lost, in any combination.
//
//   1. Every change is recorded while it is made on a disk in memory.
//   2. After any of them an image of the store's folder, of which alone changes are recorded, can be asked
//      for: changes of a file up to its last sync are there; of the later ones each 512-byte sector of a
//      write, and each change of size, is there or not, as chance will have it, and some sectors are torn;
//      of the names made and removed in a folder since its last sync a beginning is there.
//
// Not in the model: syncs that lie.
// Threads: any for the file system; images are made when nobody writes.

package import CairnFileSystem
import Synchronization
package import SystemPackage

package final class PowerLossDisk: FileSystem {
    private enum Change: Sendable {
        case makeFolder(FilePath)
        case removeFolder(FilePath)
        case syncFolder(FilePath)
        case create(FilePath, file: FileIdentity)
        case unlink(FilePath)
        case write(file: FileIdentity, offset: Int, bytes: [UInt8])
        case resize(file: FileIdentity, size: Int)
        case sync(file: FileIdentity)
    }

    private let base = MemoryFileSystem()
    private let log = Mutex<[Change]>([])

    package init() {}

    /// A disk that holds a folder for sure.
    package init(holding image: DiskImage) throws {
        try image.write(to: self, DiskImage.folder)
        for name in image.files.keys {
            try open(DiskImage.folder.pushing(FilePath(name)), .readWrite).synchronizeData()
        }
        for name in image.folders { try syncDirectory(DiskImage.folder.pushing(FilePath(name))) }
        try syncDirectory(DiskImage.folder)
        try syncDirectory(DiskImage.folder.removingLastComponent())
    }

    package var changeCount: Int { log.withLock { $0.count } }

    private func record(_ change: Change) { log.withLock { $0.append(change) } }

    /// Whether a path is the store's folder, or something in it.
    private func isWatched(_ path: FilePath) -> Bool { path.starts(with: DiskImage.folder) }

    // MARK: The disk

    package func open(_ path: FilePath, _ mode: OpenMode) throws(FileSystemError) -> any File {
        let isNew = try !base.exists(path)
        let file = try base.open(path, mode)
        if isNew, isWatched(path) { record(.create(path, file: file.identity)) }
        return RecordedFile(file, self)
    }

    package func syncDirectory(_ path: FilePath) throws(FileSystemError) {
        try base.syncDirectory(path)
        record(.syncFolder(path))
    }

    package func list(_ path: FilePath) throws(FileSystemError) -> [String] { try base.list(path) }

    package func unlink(_ path: FilePath) throws(FileSystemError) {
        try base.unlink(path)
        if isWatched(path) { record(.unlink(path)) }
    }

    package func makeDirectory(_ path: FilePath) throws(FileSystemError) {
        try base.makeDirectory(path)
        if isWatched(path) { record(.makeFolder(path)) }
    }

    package func removeDirectory(_ path: FilePath) throws(FileSystemError) {
        try base.removeDirectory(path)
        if isWatched(path) { record(.removeFolder(path)) }
    }

    package func identity(of path: FilePath) throws(FileSystemError) -> FileIdentity {
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
        func isLocked(byte: UInt64) throws(FileSystemError) -> Bool {
            try base.isLocked(byte: byte)
        }
        func lockHolder(byte: UInt64) throws(FileSystemError) -> Int32? {
            try base.lockHolder(byte: byte)
        }
        func close() throws(FileSystemError) { try base.close() }
    }

    // MARK: After the power has failed

    /// What is on the disk if the power fails after so many changes; nil if the folder is not.
    package func image(after count: Int, _ random: inout RandomSource) -> DiskImage? {
        let changes = log.withLock { Array($0[..<count]) }
        var folders = Folders()
        for change in changes { folders.apply(change) }
        var image = DiskImage()
        let top = folders.resolve(Folders.outside, &random)
        guard case .folder(let store)? = top[DiskImage.folder.lastComponent?.string ?? ""] else {
            return nil
        }
        func add(_ folder: Int, _ prefix: String) {
            let names = folders.resolve(folder, &random)
            for (name, entry) in names.sorted(by: { $0.key < $1.key }) {
                switch entry {
                case .file(let file):
                    image.files[prefix + name] = content(of: file, changes, &random)
                case .folder(let inner):
                    image.folders.insert(prefix + name)
                    add(inner, prefix + name + "/")
                }
            }
        }
        add(store, "")
        return image
    }

    /// The names in folders: those that are there for sure, and what has happened since the folder's last sync.
    private struct Folders {
        enum Entry {
            case file(FileIdentity)
            case folder(Int)
        }

        private struct Folder {
            var durable: [String: Entry] = [:]
            var pending: [(name: String, entry: Entry?)] = []
        }

        /// The folder that the store's is in.
        static let outside = 0

        /// By number, which a folder that is made anew at the same path does not share.
        private var all = [Folder()]
        private var numbers = [DiskImage.folder.removingLastComponent(): outside]

        mutating func apply(_ change: Change) {
            switch change {
            case .makeFolder(let path):
                note(path, .folder(all.count))
                numbers[path] = all.count
                all.append(Folder())
            case .create(let path, let file): note(path, .file(file))
            case .removeFolder(let path), .unlink(let path): note(path, nil)
            case .syncFolder(let path):
                guard let folder = numbers[path] else { return }
                for (name, entry) in all[folder].pending { all[folder].durable[name] = entry }
                all[folder].pending = []
            case .write, .resize, .sync: break
            }
        }

        private mutating func note(_ path: FilePath, _ entry: Entry?) {
            guard let folder = numbers[path.removingLastComponent()],
                let name = path.lastComponent?.string
            else { return }
            all[folder].pending.append((name, entry))
        }

        /// The names in a folder when the power is back.
        func resolve(_ folder: Int, _ random: inout RandomSource) -> [String: Entry] {
            var names = all[folder].durable
            let pending = all[folder].pending
            for (name, entry) in pending.prefix(Int.random(in: 0...pending.count, using: &random)) {
                names[name] = entry
            }
            return names
        }
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
                        var part = start..<end
                        if share < 8, random.oneIn(16) {
                            let torn = Int.random(in: part, using: &random)
                            part = random.oneIn(2) ? start..<torn : torn..<end
                        }
                        put(written[part], at: offset + part.lowerBound)
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
