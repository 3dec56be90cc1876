// Creates a log store with the contents of another store.                                      Format 20.5, 60, 77
//
//   1. The folder is made; its mark says that there is no store here.                                     F-220
//   2. The history: for each transaction a commit with its number, which says nothing else. Numbers may be left out (F-602).
//   3. All rows, pairs and redirects in one commit, which has the number of the store's last one. So the history is told before
//      the objects are there; nobody reads it before all of it is.
//   4. The mark says that the store is whole.
//
// Invariants: whatever stops it, the folder opens not at all, or as the whole store.
// Memory: some megabytes of rows, beside what a store on the log has of its state.
// Threads: one.

import CairnFileSystem
import CairnFormat
package import CairnLog
import CairnModel
package import CairnStore
import SystemPackage

extension LogStore {
    /// Creates a store in a new folder with the contents and the identifier of another store.
    ///
    /// - Throws: `StoreError`: `.openFailed` if the path exists already; the errors of reading the contents.
    @discardableResult
    package static func make(
        at path: String, of content: some StoreContent, options: LogStoreOptions = LogStoreOptions()
    ) throws(StoreError) -> StoreCopyReport {
        let folder = FilePath(path)
        let fileSystem = options.fileSystem
        do throws(FileSystemError) {
            if try fileSystem.exists(folder) {
                throw FileSystemError(.makeDirectory, folder, .fileExists)
            }
        } catch {
            throw StoreError(
                .openFailed,
                error.code == .fileExists
                    ? "the destination already exists: choose another folder" : "\(error)",
                context: .init(path: path))
        }
        var options = options
        options.isReadOnly = false
        options.createsIfMissing = true
        options.persistentHistoryTracking = nil
        options.pastStates = nil
        // Nobody relies on a part of it: it is made durable at the end.
        options.durability = .relaxed
        options.isUnfinished = true
        // Nobody else opens it meanwhile.
        options.allowsSharedDisk = true
        options.storeIdentifier = content.identity.identifier
        options.newCatalog = try EncodedCatalog(content.catalog)
        let store = try open(at: path, schema: content.catalog.schema, options: options)
        do throws(StoreError) {
            var intake = ContentIntake(content, store.engine)
            try intake.run()
            try store.engine.finishStore()
            try store.close()
            return intake.report
        } catch {
            try? store.close()
            try? StoreRemoval(folder: folder, fileSystem: fileSystem, force: false).remove()
            throw error
        }
    }
}

/// Writes the content of another store.
private struct ContentIntake<Content: StoreContent> {
    private let content: Content
    private let engine: Engine
    private let head: StoreContentHead
    private(set) var report = StoreCopyReport()
    /// Whether the settings of the history are in force.
    private var isHistoryBegun = false

    init(_ content: Content, _ engine: Engine) {
        self.content = content
        self.engine = engine
        head = content.head
    }

    mutating func run() throws(StoreError) {
        if !head.metadata.isEmpty { try engine.allowMetadata() }
        if head.history != nil { try engine.allowHistory() }
        // The transaction of the last commit is told in the commit that has its number.
        var last: PersistentHistoryTransaction?
        try content.forEachTransaction { transaction throws(StoreError) in
            report.transactions += 1
            if transaction.transactionNumber >= head.lastCommit {
                last = transaction
            } else {
                try commit(transaction.transactionNumber) { intake, builder throws(StoreError) in
                    try intake.beginHistory(&builder)
                    try builder.record(transaction)
                }
            }
        }
        var redirects: [PartialStore.PlacedRedirect] = []
        try content.forEachRedirect { redirects.append($0) }
        if !redirects.isEmpty { try engine.allowRedirects() }
        report.redirects = redirects.count
        try writeRows(last, redirects)
    }

    private mutating func commit(
        _ number: UInt64,
        _ body: (inout ContentIntake, inout CommitBuilder) throws(StoreError) -> Void
    ) throws(StoreError) {
        _ = try engine.commit(author: nil, contextName: nil, isSilent: true, number: number) {
            builder throws(StoreError) in
            builder.hasRecordedHistory = true
            try body(&self, &builder)
        }
    }

    /// Has the history begin where it does.
    private mutating func beginHistory(_ builder: inout CommitBuilder) throws(StoreError) {
        guard !isHistoryBegun, let history = head.history else { return }
        isHistoryBegun = true
        // Who has seen how much is said when all of it is there.
        try builder.write(HistorySettings(isTracked: true, horizon: history.horizon))
    }

    // MARK: Rows

    private mutating func writeRows(
        _ last: PersistentHistoryTransaction?, _ redirects: [PartialStore.PlacedRedirect]
    ) throws(StoreError) {
        try commit(head.lastCommit) { intake, builder throws(StoreError) in
            try intake.beginHistory(&builder)
            try intake.write(&builder)
            try builder.redirect(redirects)
            for (tree, next) in intake.head.nextNumbers.enumerated() where next > 1 {
                builder.raiseNumbers(tree, above: next - 1)
            }
            if !intake.head.metadata.isEmpty || intake.head.history != nil {
                try builder.write(
                    intake.head.metadata, identifier: nil, history: intake.head.history, asOf: nil)
            }
            if let last { try builder.record(last) }
            builder.hasChanges = true
        }
    }

    private mutating func write(_ builder: inout CommitBuilder) throws(StoreError) {
        let catalog = content.catalog
        var rows = PlacedRowWriter()
        for tree in catalog.trees.indices {
            let root = catalog.trees[tree].root
            guard root < catalog.schema.entities.count else { continue }
            try content.forEachRow(ofTree: tree) { row throws(StoreError) in
                rows.add(row, &builder)
                report.objects += 1
                builder.insertedCount += 1
                if rows.isFull { try rows.finish(&builder) }
            }
        }
        for pairs in catalog.schema.pairs.indices {
            try content.forEachPair(of: pairs) { pair throws(StoreError) in
                rows.add(pair, &builder)
                report.pairs += 1
                if rows.isFull { try rows.finish(&builder) }
            }
        }
        try rows.finish(&builder)
    }
}
