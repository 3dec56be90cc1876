// Whether git can bring back what is about to be changed.
//
// Without git nothing can, which is the same to whoever has changed files: both are refused without --force.

import Foundation

/// What git knows of a folder.
package enum GitState {
    /// Throws if the folders have changes that are not committed, or files that are to be changed and not in git.
    package static func check(_ paths: [String], _ changes: [FileChange]) throws {
        for path in paths {
            guard let lines = status(of: path) else {
                throw PortError(
                    "\(path) is not in a git repository, so nothing could undo the changes: commit it, or use --force"
                )
            }
            if let first = lines.first {
                let more = lines.count > 1 ? " and \(lines.count - 1) more" : ""
                throw PortError(
                    "\(path) has changes that are not committed (\(first.dropFirst(3))\(more)): commit them, or use --force"
                )
            }
        }
        // They may lie outside the folders, or in a repository of their own. All of a folder are asked for at once.
        let files = changes.filter { !$0.isNew }.map { URL(fileURLWithPath: $0.path) }
        for (folder, files) in Dictionary(
            grouping: files, by: { $0.deletingLastPathComponent().path }
        ).sorted(by: { $0.key < $1.key }) {
            let names = files.map(\.lastPathComponent)
            if run(["-C", folder, "ls-files", "--error-unmatch", "--"] + names) == nil {
                let ignored = files.first { !isTracked($0) }?.path ?? folder
                throw PortError(
                    "\(ignored) is ignored by git, so nothing could undo the changes: use --force")
            }
            if let line = run(["-C", folder, "status", "--porcelain", "--"] + names)?.first {
                throw PortError(
                    "\(folder) has changes that are not committed (\(line.dropFirst(3))): commit them, or use --force"
                )
            }
        }
    }

    /// What git says of a folder or file, one line for each file that differs; nil if it is in no repository.
    private static func status(of path: String) -> [String]? {
        let (folder, name) = parts(path)
        return run(["-C", folder, "status", "--porcelain", "--", name])
    }

    private static func isTracked(_ file: URL) -> Bool {
        run([
            "-C", file.deletingLastPathComponent().path, "ls-files", "--error-unmatch", "--",
            file.lastPathComponent,
        ]) != nil
    }

    private static func parts(_ path: String) -> (folder: String, name: String) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
        {
            return (path, ".")
        }
        let url = URL(fileURLWithPath: path)
        return (url.deletingLastPathComponent().path, url.lastPathComponent)
    }

    /// The lines that git prints; nil if it fails, or is not there.
    private static func run(_ arguments: [String]) -> [String]? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
