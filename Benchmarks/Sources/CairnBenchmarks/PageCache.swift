// Takes files out of the system's memory, so that reading them waits for the disk.

import Foundation

enum PageCache {
    /// Drops a file, or the files of a folder.
    static func drop(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
        let files =
            isFolder.boolValue
            ? try FileManager.default.contentsOfDirectory(atPath: path).map { "\(path)/\($0)" } : [path]
        for file in files {
            let descriptor = Glibc.open(file, O_RDONLY)
            precondition(descriptor >= 0, "the file is there")
            // What is not written yet stays in memory.
            fsync(descriptor)
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            Glibc.close(descriptor)
        }
    }
}
