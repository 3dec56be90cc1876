// The files of a store's folder as values: copied, changed and put on another disk.

package import CairnFileSystem
package import SystemPackage

/// What is in a store's folder.
package struct DiskImage: Equatable, Sendable {
    package static let folder: FilePath = "/store"

    /// By name; what is in a folder inside begins with that one's name and a slash.
    package var files: [String: [UInt8]] = [:]
    /// The folders inside.
    package var folders: Set<String> = []

    package init() {}

    /// Reads a folder. Nothing is there if the folder is not.
    package init(of disk: any FileSystem, _ folder: FilePath = Self.folder) throws {
        guard try disk.exists(folder) else { return }
        try read(disk, folder, "")
    }

    private mutating func read(_ disk: any FileSystem, _ folder: FilePath, _ prefix: String) throws
    {
        for name in try disk.list(folder) {
            let path = folder.appending(name)
            if (try? disk.list(path)) != nil {
                folders.insert(prefix + name)
                try read(disk, path, prefix + name + "/")
                continue
            }
            let file = try disk.open(path, .read)
            var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            precondition(count == bytes.count, "a file is read whole")
            files[prefix + name] = bytes
        }
    }

    /// The names of the segments, in order.
    package var segments: [String] {
        files.keys.filter { $0.hasSuffix(".segment") && !$0.contains("/") }.sorted()
    }

    /// A new disk in memory with these files.
    package func disk() throws -> MemoryFileSystem {
        let disk = MemoryFileSystem()
        try write(to: disk, Self.folder)
        return disk
    }

    /// Puts the files into a new folder.
    package func write(to disk: any FileSystem, _ folder: FilePath) throws {
        try disk.makeDirectory(folder)
        for name in folders.sorted() {
            try disk.makeDirectory(folder.pushing(FilePath(name)))
        }
        for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
            let file = try disk.open(folder.pushing(FilePath(name)), .create)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        }
    }
}
