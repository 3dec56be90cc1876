// Brings a store of Core Data over into a new store.
//
//   1. A folder beside the new store is the import's workplace: for a copy of the source, if it has a log, and for
//      the store while it is made. It goes in any case.
//   2. The model is the source's own, or one that was given and fits.
//   3. Objects, relationships and metadata are brought over: see `ImportRun`.
//   4. The store is closed, and moved to where it is to be: before that there is nothing there.
//
// Numbers and names stay: the new store is called by the same UUID, and an object has the number that it had. So
// x-coredata://UUID/Person/p7 and x-cairn://UUID/h1/p7 are one object, and no table of aliases is needed. The UUID
// is also among the new store's metadata as NSStoreUUID, in case the store is called otherwise later.
//
// Invariants: nothing is written into the source's folder, unless the new store is to be there.
// Threads: one.

import CairnFileSystem
import CairnLog
package import CairnModel
import CairnStore
import FoundationEssentials
import SystemPackage

/// An import of a store of Core Data.
package struct CoreDataImport {
    /// A model that the store may have been written with.
    package struct Candidate: Sendable {
        package let name: String
        package let schema: Schema

        package init(name: String, schema: Schema) {
            self.name = name
            self.schema = schema
        }
    }

    /// The SQLite file.
    package let source: String
    /// The folder of the new store, which must not be there yet.
    package let destination: String
    /// The models to choose from, the likeliest first; empty: the store's own.
    package let candidates: [Candidate]
    /// Whether what the model has and the store has not is left out and reported, as long as the rest can be read without it.
    package var skips = false
    /// Rows that are written at once, and about how many bytes of them.
    package var rowsPerSave = 4096
    package var bytesPerSave = 8 << 20

    package init(from source: String, to destination: String, candidates: [Candidate] = []) {
        self.source = source
        self.destination = destination
        self.candidates = candidates
    }

    /// The metadata key that has the UUID by which Core Data called the store.
    package static let identifierKey = "NSStoreUUID"

    /// Imports, and says what became of it.
    ///
    /// - Parameter progress: told the stage, how much of it is done, and how much there is.
    /// - Throws: `CoreDataImportError` about the source, `StoreError` about the new store, `ModelError` about the
    ///   source's own model. There is nothing at the destination then.
    package func run(
        progress: (_ stage: String, _ done: Int, _ total: Int) -> Void = { _, _, _ in }
    ) throws -> CoreDataImportReport {
        var target = destination
        while target.count > 1, target.hasSuffix("/") { target.removeLast() }
        let files = FileManager.default
        guard (try? files.attributesOfItem(atPath: target)) == nil else {
            throw CoreDataImportError(
                .destinationExists, "the destination already exists: an import creates a new store",
                at: target)
        }
        let slash = target.lastIndex(of: "/")
        let parent = slash.map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "."
        let name = slash.map { String(target[target.index(after: $0)...]) } ?? target
        let workplace = "\(parent)/.\(name).import-\(UUID().uuidString)"
        do {
            try files.createDirectory(
                atPath: workplace, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CoreDataImportError(
                .unwritable, "no folder can be created in \(parent): \(error.reason)", at: target)
        }
        defer { try? files.removeItem(atPath: workplace) }
        let report = try bring(to: workplace + "/store", workplace, progress)
        do {
            try files.moveItem(atPath: workplace + "/store", toPath: target)
            try POSIXFileSystem().syncDirectory(FilePath(parent))
        } catch {
            throw CoreDataImportError(
                .unwritable, "the finished store cannot be moved there: \(error.reason)", at: target
            )
        }
        return report
    }

    private func bring(
        to path: String, _ workplace: String, _ progress: (String, Int, Int) -> Void
    ) throws -> CoreDataImportReport {
        let opened = try CoreDataSource(path: source, workingIn: workplace)
        let (layout, origin, remarks) = try layout(of: opened)
        var options = LogStoreOptions()
        options.storeIdentifier = opened.metadata.identifier
        // Nobody sees it before it is closed, which makes it durable.
        options.durability = .relaxed
        options.allowsSharedDisk = true
        let store = try LogStore.open(at: path, schema: layout.schema, options: options)
        var report: CoreDataImportReport
        do {
            let run = try ImportRun(
                opened, layout, store, rowsPerSave: rowsPerSave, bytesPerSave: bytesPerSave)
            report = try run.bringAll(progress)
        } catch {
            // What went wrong first is what is told.
            try? store.close()
            throw error
        }
        try store.close()
        report.modelOrigin = origin
        let parts = remarks.map {
            CoreDataImportReport.Loss(kind: .model, place: "model", message: $0, count: 1)
        }
        let log = opened.logDamage.map {
            CoreDataImportReport.Loss(kind: .log, place: source + "-wal", message: $0, count: 1)
        }
        report.losses = (log.map { [$0] } ?? []) + parts + report.losses
        return report
    }

    // MARK: The model

    private func layout(of source: CoreDataSource) throws -> (
        SourceLayout, CoreDataImportReport.ModelOrigin, [String]
    ) {
        let cached = try source.cachedModel()
        guard candidates.isEmpty else { return (try chosen(source, cached), .given, []) }
        switch cached {
        case .none:
            throw CoreDataImportError(
                .noModel,
                "the store does not contain its model: provide the one that it was written with",
                at: self.source)
        case .unreadable:
            throw CoreDataImportError(
                .noModel,
                "the model in the store cannot be read: provide the one that it was written with",
                at: "\(self.source), Z_MODELCACHE")
        case .model(var model):
            let schema = try model.schema()
            return (try SourceLayout(schema, of: source, skips: skips), .store, model.remarks)
        }
    }

    /// The first of the given models that fits.
    private func chosen(_ source: CoreDataSource, _ cached: CoreDataSource.CachedModel) throws
        -> SourceLayout
    {
        var failures: [(name: String, error: CoreDataImportError)] = []
        var skipping: [SourceLayout] = []
        for candidate in candidates {
            do throws(CoreDataImportError) {
                if case .model(let own) = cached {
                    let differences = ModelComparison.differences(
                        candidate.schema, from: own.model)
                    guard differences.isEmpty else {
                        throw CoreDataImportError(
                            .wrongModel,
                            "the store was written with another model: "
                                + differences.joined(separator: "; "), at: self.source)
                    }
                }
                let layout = try SourceLayout(candidate.schema, of: source, skips: skips)
                if layout.problems.isEmpty { return layout }
                skipping.append(layout)
            } catch {
                failures.append((candidate.name, error))
            }
        }
        // Of several versions that one which leaves out least.
        if let least = skipping.min(by: { $0.problems.count < $1.problems.count }) { return least }
        if failures.count == 1 { throw failures[0].error }
        throw CoreDataImportError(
            .wrongModel,
            "none of the model's versions matches the store:"
                + failures.map { failure in
                    let text = failure.error.message.replacing("\n", with: "\n  ")
                    return "\n  \(failure.name): \(text)"
                }.joined(), at: self.source)
    }
}
