// Folders with the files of a peer.

import Foundation

enum Folder {
    /// Where runs put their files if nothing else is said: on the disk that the program was built on, since
    /// the system's folder for temporary files is often no disk at all.
    static let usual = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    /// The files in a folder and below it.
    static func files(_ folder: String) -> [String] {
        let names =
            FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.map { "\(folder)/\($0)" }.filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    /// The bytes of all files.
    static func size(_ folder: String) -> Int {
        files(folder).reduce(0) { sum, file in
            let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber
            return sum + (size?.intValue ?? 0)
        }
    }

    /// Waits until all files are on the disk, so that nothing of theirs is written later.
    static func synchronize(_ folder: String) {
        for file in files(folder) { withDescriptor(file) { fsync($0) } }
    }

    /// Takes the files out of the system's memory, so that reading them waits for the disk.
    static func dropFromMemory(_ folder: String) {
        for file in files(folder) {
            withDescriptor(file) {
                // What is not written yet stays in memory.
                fsync($0)
                posix_fadvise($0, 0, 0, POSIX_FADV_DONTNEED)
            }
        }
    }

    /// Reads the files, so that they are in the system's memory: it may have given that to others.
    static func readIntoMemory(_ folder: String) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 20, alignment: 4096) { piece in
            for file in files(folder) {
                withDescriptor(file) {
                    while Glibc.read($0, piece.baseAddress, piece.count) > 0 {}
                }
            }
        }
    }

    private static func withDescriptor(_ file: String, _ body: (Int32) -> Void) {
        let descriptor = Glibc.open(file, O_RDONLY)
        precondition(descriptor >= 0, "the file is there")
        body(descriptor)
        Glibc.close(descriptor)
    }

    /// A new folder that is removed after the closure; also removes what killed programs have left there.
    static func temporary<R>(in parent: String, _ body: (String) throws -> R) throws -> R {
        let prefix = "cairn-bench-"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        where name.hasPrefix(prefix) && kill(Int32(name.dropFirst(prefix.count)) ?? 0, 0) != 0 {
            try? FileManager.default.removeItem(atPath: "\(parent)/\(name)")
        }
        let folder = "\(parent)/\(prefix)\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(folder)
    }
}
