// The files of a store, to be read without being changed.
//
//   1. Without a log beside it the file is read where it is, as one that nobody changes: see `SQLiteFile`.
//   2. With a write-ahead log, or the journal of a transaction that broke off, file and log are copied into a
//      folder of the import's own, and read there. The copies count only if the originals are afterwards what they
//      were before.
//
// Invariants: nothing is written into the source's folder.

import FoundationEssentials

/// The files of a store, where they may be read.
struct SourceCopy {
    /// The SQLite file to open.
    let path: String
    let isCopy: Bool
    /// Bytes of the log beside the file.
    let logBytes: UInt64
    /// What of the write-ahead log is not read, as a sentence; nil if all of it is.
    let logDamage: String?

    /// - Parameter folder: an empty folder for copies.
    init(of source: String, in folder: String) throws(CoreDataImportError) {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder) else {
            throw CoreDataImportError(.unreadable, "there is no such file", at: source)
        }
        guard !isFolder else {
            throw CoreDataImportError(
                .notAStore, "it is a folder: choose the store's SQLite file", at: source)
        }
        let logs = ["-wal", "-journal"].filter { Self.state(source + $0).size > 0 }
        logBytes = logs.reduce(0) { $0 + Self.state(source + $1).size }
        guard !logs.isEmpty else {
            path = source
            isCopy = false
            logDamage = nil
            return
        }
        let copy = folder + "/source.sqlite"
        let endings = [""] + logs
        let before = endings.map { Self.state(source + $0) }
        for ending in endings {
            do {
                try FileManager.default.copyItem(atPath: source + ending, toPath: copy + ending)
                // SQLite moves the log into the copy, also where nobody may write to the original.
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: copy + ending)
            } catch {
                throw CoreDataImportError(
                    .unreadable, "it cannot be copied to \(folder): \(error.reason)",
                    at: source + ending)
            }
        }
        guard before == endings.map({ Self.state(source + $0) }) else {
            throw CoreDataImportError(
                .inUse, "a program is writing to it: quit that program and try again",
                at: source)
        }
        // Before SQLite has it, which says nothing of what it passes over.
        do {
            logDamage =
                logs.contains("-wal")
                ? try WriteAheadLog(contentsOfFile: copy + "-wal").damage : nil
        } catch {
            throw CoreDataImportError(
                .unreadable, "it cannot be read: \(error.reason)", at: source + "-wal")
        }
        path = copy
        isCopy = true
    }

    private struct State: Equatable {
        var size: UInt64 = 0
        var changed: Date?
    }

    private static func state(_ path: String) -> State {
        guard let known = try? FileManager.default.attributesOfItem(atPath: path) else {
            return State()
        }
        return State(
            size: known[.size] as? UInt64 ?? 0, changed: known[.modificationDate] as? Date)
    }
}
