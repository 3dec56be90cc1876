// Writes the changes of a port: all of them, or none.
//
//   1. Each new text is written beside its file, under a temporary name and with the file's permissions.
//   2. If that has worked for all, they are renamed, which neither a full disk nor a missing right stops any more.

import Foundation

/// Writes the files of a port.
package enum PortWriter {
    /// Writes changes.
    ///
    /// - Throws: `PortError` if a file cannot be written; then none has been changed.
    package static func write(_ changes: [FileChange]) throws {
        var temporaries: [(temporary: String, path: String)] = []
        do {
            for change in changes {
                // A link stays one: the file that it leads to is written.
                let path = URL(fileURLWithPath: change.path).resolvingSymlinksInPath().path
                let temporary = "\(path).cairn-port-\(UUID().uuidString)"
                temporaries.append((temporary, path))
                try write(change, to: temporary, path)
            }
        } catch {
            for (temporary, _) in temporaries {
                try? FileManager.default.removeItem(atPath: temporary)
            }
            throw PortError("nothing was changed: \(error)")
        }
        for (temporary, path) in temporaries where rename(temporary, path) != 0 {
            throw PortError("\(path) cannot be replaced: \(String(cString: strerror(errno)))")
        }
    }

    private static func write(_ change: FileChange, to temporary: String, _ path: String) throws {
        let files = FileManager.default
        if change.isNew {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
        } else if !files.isWritableFile(atPath: path) {
            throw PortError("\(change.path) is read-only")
        }
        try Data(change.new.utf8).write(to: URL(fileURLWithPath: temporary))
        if let permissions = try? files.attributesOfItem(atPath: path)[.posixPermissions] {
            try files.setAttributes([.posixPermissions: permissions], ofItemAtPath: temporary)
        }
    }
}
