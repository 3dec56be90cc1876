// A disk of a few megabytes that a server can write to, gone afterwards.
//
// Only root may mount one.
//
// Threads: any.

import Foundation

package final class SmallDisk {
    /// Where it is.
    package let path: String

    /// Nil if none can be mounted here.
    package init?(megabytes: Int, for server: PostgresServer) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cairn-disk-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        path = folder.path
        let mount = [
            "/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0700", "tmpfs", path,
        ]
        guard (try? ServerProcess.run(mount)) != nil else {
            try FileManager.default.removeItem(at: folder)
            return nil
        }
        try server.handOver(folder)
    }

    deinit {
        // A server that still has files there keeps it until it ends.
        _ = try? ServerProcess.run(["/bin/umount", "--lazy", path])
        try? FileManager.default.removeItem(atPath: path)
    }
}
