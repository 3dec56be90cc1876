// What is measured of migrations, each beginning with a closed store.

import ArgumentParser
import Cairn

enum MigrationPart: String, CaseIterable, ExpressibleByArgument {
    case open, attribute, compaction, upgrade, index, constraint, refused, folded

    static let longestTitle = allCases.map(\.title.count).max() ?? 0

    var title: String {
        switch self {
        case .open: "opening with the same model"
        case .attribute: "opening with one more attribute: metadata only"
        case .compaction: "compaction, half of all rows dead"
        case .upgrade: "the same after one more attribute: the upgrade"
        case .index: "opening with a new fetch index"
        case .constraint: "opening with a new constraint, no duplicates"
        case .refused: "the same, 1 % of the rows duplicated: refused"
        case .folded: "the same with deduplicateWhenMigrating, .first"
        }
    }

    var start: MigrationStart {
        switch self {
        case .open, .attribute, .index: .keyed
        case .compaction: .sparse
        case .upgrade: .sparseUpgraded
        case .constraint: .loose
        case .refused, .folded: .doubled
        }
    }

    /// The model that the store is opened with.
    private var model: ManagedObjectModel {
        switch self {
        case .open, .compaction, .constraint, .refused, .folded: CairnPeer.model
        case .attribute, .upgrade: .withAttribute
        case .index: .withIndex
        }
    }

    /// Opens a store as a container does.
    static func open(
        _ folder: String, _ model: ManagedObjectModel, deduplicating: [DeduplicationRequest] = []
    ) throws -> LogStore {
        var options = LogStoreOptions()
        options.shouldMigrateStoreAutomatically = true
        options.deduplicateWhenMigrating(deduplicating)
        return try LogStore.open(at: "\(folder)/store", schema: Schema(model), options: options)
    }

    func measure(_ folder: String, rows: Int) throws -> MigrationFigures {
        switch self {
        case .compaction, .upgrade:
            let store = try Self.open(folder, model)
            return try figures(closing: { try store.close() }) {
                let result = try store.compact()
                // Of fewer rows too little is dead.
                precondition(rows < 100_000 || result.retiredSegments > 0, "all of it is moved")
            }
        case .refused:
            return try figures {
                do {
                    _ = try Self.open(folder, model)
                    preconditionFailure("the store cannot follow")
                } catch let error as StoreError {
                    precondition(error.code == .migrationConstraintViolation, "\(error)")
                }
            }
        case .open, .attribute, .index, .constraint, .folded:
            var requests: [DeduplicationRequest] = []
            if self == .folded {
                requests = [DeduplicationRequest(Item.self, by: [\.serialCode], keeping: .first)]
            }
            var store: LogStore?
            return try figures(closing: { try check(store, rows) }) {
                store = try Self.open(folder, model, deduplicating: requests)
            }
        }
    }

    /// Sees that all objects are there, and closes the store.
    private func check(_ store: LogStore?, _ rows: Int) throws {
        guard let store, let product = store.schema.entity(named: "Product") else {
            preconditionFailure("the store is open, and has products")
        }
        let count = try store.snapshot().count(StoreFetch(entity: product.index))
        let gone = self == .folded ? MigrationStart.doubledKeys(of: rows) : 0
        precondition(count == rows - gone, "\(count) objects are there")
        try store.close()
    }

    private func figures(
        closing: () throws -> Void = {}, _ work: () throws -> Void
    ) throws -> MigrationFigures {
        var figures = MigrationFigures()
        let written = ProcessFigures.written
        ProcessFigures.resetPeak()
        let before = ProcessFigures.resident
        let start = ContinuousClock.now
        try work()
        figures.seconds = (ContinuousClock.now - start).seconds
        figures.peakKiB = max(0, ProcessFigures.peak - before)
        try closing()
        figures.writtenBytes = ProcessFigures.written - written
        return figures
    }
}
