// Writes the remains of a damaged store into a new one.
//
//   1. The folder and everything in it is read, whatever is wrong with it (FolderSurvey, SalvageInventory).
//   2. Which of the content to keep is decided (SalvageContent).
//   3. It is written into a new store (SalvageWriter), which is removed again if that fails.
//
// Invariants: nothing of the damaged store is written, locked or removed; the new folder contains no store
// before it contains all of it (F-220).
// Threads: one salvage in one thread.

import CairnFileSystem
import CairnFormat
import CairnModel
public import CairnStore
import FoundationEssentials
import SystemPackage

/// The current stage of a salvage.
public enum SalvageStage: String, Sendable {
    /// Reading what exists.
    case reading
    /// Deciding what to keep.
    case deciding
    /// Writing it.
    case writing
}

extension LogStore {
    /// Writes the remains of a damaged store into a new one, and reports what is lost.
    ///
    /// It works even if the store cannot be opened because segments are missing or corrupt anywhere. The damaged store is
    /// only read: no lock is taken and no byte of it changes. Objects keep their numbers and row versions; the new store
    /// gets a new identifier unless the options specify otherwise.
    ///
    /// If the newest model is lost, the rows are read with the previous one. A derived attribute keeps its value until its
    /// object is saved again, although members that it counts may be lost. The new store does not know from which older
    /// versions of its model it was migrated, so a program with one of them may migrate it back.
    ///
    /// ```swift
    /// let report = try LogStore.salvage(at: "shop.cairn", to: "shop-salvaged.cairn")
    /// print(report.rowsKept, "objects kept,", report.rowsLost, "lost")
    /// ```
    ///
    /// - Parameters:
    ///   - path: the damaged store's folder.
    ///   - destination: the new store's folder, which must not exist.
    ///   - progress: called with the current stage and its progress: units done and total units.
    /// - Throws: `StoreError`: `.openFailed` if there is no store, the destination exists, or no schema can be read and
    ///   none was provided; `.storeInUse` if another process has the store open for writing; `.noSpace` and `.inputOutput`
    ///   for the new store, which is removed in that case.
    /// - Complexity: O(size of the store); memory for 8 bytes per object, and the frames of deaths.
    public static func salvage(
        at path: String, to destination: String, options: SalvageOptions = SalvageOptions(),
        progress: ((SalvageStage, Int, Int) -> Void)? = nil
    ) throws(StoreError) -> SalvageReport {
        let salvage = StoreSalvage(
            source: FilePath(path), destination: FilePath(destination), options: options)
        return try salvage.run { progress?($0, $1, $2) }
    }
}

struct StoreSalvage {
    let source: FilePath
    let destination: FilePath
    let options: SalvageOptions
    private var fileSystem: any FileSystem { options.store.fileSystem }

    func run(progress: (SalvageStage, Int, Int) -> Void) throws(StoreError) -> SalvageReport {
        try checkDestination()
        let lock = try lockOut()
        defer { lock?.release() }
        progress(.reading, 0, 1)
        let folder = try FolderSurvey(source, fileSystem)
        let inventory = try SalvageInventory(
            folder, takesUnpromised: options.takesUnpromised)
        progress(.reading, 1, 1)
        guard let catalog = inventory.catalog ?? options.schema.map({ Catalog(new: $0) }) else {
            throw StoreError(
                .damaged,
                "no schema is left in the store: provide the model that it was created with",
                context: .init(path: "\(source)"))
        }
        var content = SalvageContent(
            inventory, catalog: catalog, report: try report(inventory))
        do throws(StoreError) {
            try content.decide { progress(.deciding, $0, $1) }
        } catch {
            _ = content.finish()
            throw error
        }
        return try write(content, catalog.schema) { progress(.writing, $0, $1) }
    }

    /// Ensures that no process writes to the store during the salvage: what is read at different times would
    /// not be consistent.
    ///
    /// - Returns: nil if the lock file is not available, which does not affect the other files.
    private func lockOut() throws(StoreError) -> StoreFiles? {
        let path = source.appending(SegmentName.lock)
        var file: (any File)?
        for mode: OpenMode in [.readWrite, .read] where file == nil {
            file = try? fileSystem.open(path, mode)
        }
        guard let file else { return nil }
        let files = StoreFiles(
            folder: source, fileSystem: fileSystem, lock: file,
            isShared: fileSystem.sharedDisk(of: source) != nil)
        do throws(StoreError) {
            try files.refuseOtherHosts()
        } catch {
            files.release()
            throw error
        }
        // If the file cannot be written, its locks can still be queried.
        let isFree = (try? files.lease.take(within: 0)) ?? true
        guard isFree, !files.hasOtherWriters else {
            files.release()
            throw files.isInUse()
        }
        return files
    }

    // MARK: Report

    private func report(_ inventory: SalvageInventory) throws(StoreError) -> SalvageReport {
        var report = SalvageReport()
        report.destination = "\(destination)"
        report.sourceIdentifier = inventory.folder.storeID?.uuid
        report.segments = inventory.segments.values.sorted { $0.number < $1.number }
        for (index, segment) in report.segments.enumerated() {
            let file = inventory.folder.segments.first { $0.number == segment.number }?.file
            for start in file?.unreadable ?? [] where report.segments[index].unusable.count < 1000 {
                report.segments[index].unusable.append(
                    .init(
                        start: start, end: start + 4096, kind: nil,
                        reason: "the disk cannot read it"))
            }
        }
        report.damagedCommits = UInt64(inventory.damagedCommits.count)
        report.hasUnknownLosses = inventory.hasUnknownLosses
        report.unpromisedCommits = inventory.unpromisedCommits
        report.isEndKnown =
            inventory.folder.mark != nil
            || inventory.outline.progress.isClosed && inventory.outline.tail == nil
        let end = inventory.outline.progress.end
        for segment in inventory.folder.segments
        where segment.role == .main && segment.number >= end.segment {
            let from = segment.number == end.segment ? end.offset : 0
            report.bytesLeftBehind += try TailMeasure.bytes(
                of: segment.file, from: min(from, segment.size))
        }
        return report
    }

    // MARK: Destination

    private func checkDestination() throws(StoreError) {
        do throws(FileSystemError) {
            if try fileSystem.exists(destination) {
                throw FileSystemError(.makeDirectory, destination, .fileExists)
            }
            guard let inside = try? fileSystem.identity(of: source) else { return }
            var parent = destination.removingLastComponent()
            for _ in 0..<destination.components.count {
                if try fileSystem.exists(parent), try fileSystem.identity(of: parent) == inside {
                    throw FileSystemError(.makeDirectory, destination, .invalidArgument)
                }
                parent = parent.removingLastComponent()
            }
        } catch {
            throw StoreError(
                .openFailed,
                error.code == .fileExists
                    ? "the new store's folder already exists: choose another one"
                    : error.code == .invalidArgument
                        ? "the new store cannot be inside the damaged one" : "\(error)",
                context: .init(path: "\(destination)"))
        }
    }

    private func write(
        _ content: consuming SalvageContent, _ schema: Schema, progress: (Int, Int) -> Void
    ) throws(StoreError) -> SalvageReport {
        var options = options.store
        options.isReadOnly = false
        options.createsIfMissing = true
        // No process relies on a part of it: it is made durable at the end.
        options.durability = .relaxed
        // An interrupted salvage leaves no store: a part of one would be treated as everything that was left.
        options.isUnfinished = true
        // No other process opens it during the salvage.
        options.allowsSharedDisk = true
        options.storeIdentifier =
            self.options.keepsIdentifier ? content.inventory.folder.storeID?.uuid : nil
        let store: LogStore
        do throws(StoreError) {
            store = try LogStore.open(at: "\(destination)", schema: schema, options: options)
        } catch {
            _ = content.finish()
            // A store that another process has created there in the meantime must not be removed.
            if error.code != .storeInUse, error.code != .incompatibleModel { removeDestination() }
            throw error
        }
        do throws(StoreError) {
            var report = try SalvageWriter(
                content, store.engine, keepsIdentifier: self.options.keepsIdentifier
            ).run(progress: progress)
            report.identifier = store.identity.identifier
            try store.engine.finishStore()
            try store.close()
            return report
        } catch {
            try? store.close()
            removeDestination()
            throw error
        }
    }

    private func removeDestination() {
        try? StoreRemoval(folder: destination, fileSystem: fileSystem, force: false).remove()
    }
}
