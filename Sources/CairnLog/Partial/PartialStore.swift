// An engine in memory with the part of another store that a request touches; it executes the request.
//
//   1. The request is executed with what is available. If it requested something unknown, nothing has
//      changed, and the result is what it needs.
//   2. The owner of the store brings that, and repeats the request.
//   3. The changes of the request are returned, for the owner to write them to the store.
//
// So another kind of store decides nothing by itself: versions, merge policies, constraints, references,
// derived values and the order of lists are handled by the same code as in the log.
//
// Threads: one at a time.

import CairnFormat
import CairnModel
package import CairnStore
package import FoundationEssentials

/// A part of a store that is located elsewhere.
package final class PartialStore {
    /// What the owner of the store has brought.
    package struct Brought: Sendable {
        package var rows: [PlacedRow] = []
        package var pairs: [PlacedPair] = []
        package var redirects: [PlacedRedirect] = []
        /// The needs of which this is everything.
        package var known = PartialKnowledge.Needs()
        /// By tree: numbers for new rows.
        package var numbers: [Int: [UInt32]] = [:]
        /// The number of the last commit; nil if it is known already.
        package var lastCommit: UInt64?

        package init() {}
    }

    /// The changes of a request.
    package struct Changes: Sendable {
        /// New rows, and changed ones with their previous versions.
        package var inserted: [PlacedRow] = []
        package var updated: [(row: PlacedRow, old: PlacedRow)] = []
        package var deleted: [PlacedRow] = []
        package var addedPairs: [PlacedPair] = []
        package var removedPairs: [PlacedPair] = []
        /// Pairs whose position has changed.
        package var movedPairs: [PlacedPair] = []
        package var redirects: [PlacedRedirect] = []
        /// The same for observers of a store.
        package var told = StoreChanges(entities: [], rows: nil)
        /// The same for a history.
        package var history: [PersistentHistoryChanges.Group] = []

        package var isEmpty: Bool {
            inserted.isEmpty && updated.isEmpty && deleted.isEmpty && addedPairs.isEmpty
                && removedPairs.isEmpty && movedPairs.isEmpty && redirects.isEmpty
                && told.entities.isEmpty
        }
    }

    package enum Outcome<R> {
        case done(R, Changes)
        case lacking(PartialKnowledge.Needs)
    }

    package let store: LogStore
    private let knowledge = PartialKnowledge()
    private var engine: Engine { store.engine }
    /// The numbers by which needs name trees, references and keys: the same for every part of one store.
    package var catalog: Catalog { engine.registry.published().catalog }

    /// Creates an empty part.
    ///
    /// - Parameters:
    ///   - catalog: that of the whole store.
    ///   - identifier: the identifier of the whole store.
    package init(_ catalog: EncodedCatalog, identifier: UUID) throws(StoreError) {
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        options.partial = knowledge
        options.storeIdentifier = identifier
        options.newCatalog = catalog
        options.scanThreads = 1
        options.cacheBytes = 16 << 20
        store = try LogStore.inMemory(schema: catalog.catalog.schema, options: options)
        let catalog = engine.registry.published().catalog
        // The owner of the store issues the numbers of objects; those of pairs mean nothing there.
        for (index, tree) in catalog.trees.enumerated() where !catalog.entities[tree.root].isHidden
        {
            knowledge.give([], tree: index)
        }
    }

    package func close() { try? store.close() }

    /// The earlier rows, if requests are parts of a batch.
    package var earlier: EarlierRows? {
        get { knowledge.earlier }
        set { knowledge.earlier = newValue }
    }

    /// The number of the last commit, if it was brought.
    package var lastCommit: UInt64? { knowledge.commit.map { $0 - 1 } }

    // MARK: Carrying out

    /// Executes a request; if it threw because something is missing, returns what it needs.
    package func perform<R>(_ body: (LogStore) throws(StoreError) -> R) throws(StoreError)
        -> Outcome<R>
    {
        let before = engine.registry.pin()
        var result: R?
        var failure: StoreError?
        do throws(StoreError) {
            result = try body(store)
        } catch {
            failure = error
        }
        if failure == nil { knowledge.spend() }
        let needs = knowledge.takeNeeds()
        if !needs.isEmpty { return .lacking(needs) }
        if let failure { throw failure }
        guard let result else { preconditionFailure("a request returns or throws") }
        let after = engine.registry.pin()
        var difference = PartialDifference(
            reader: engine.reader, old: before.state, new: after.state)
        var changes = try difference.run()
        changes.told = try StateDifference(
            StateTransition(before: before, after: after), engine.reader
        ).changes()
        let history = try store.historyCursor(after: before.state.commit)
        changes.history = try history.next()?.changes?.groups ?? []
        return .done(result, changes)
    }

    // MARK: Bringing

    /// Adds what a request needs.
    package func bring(_ brought: Brought) throws(StoreError) {
        if !brought.redirects.isEmpty { try engine.allowRedirects() }
        _ = try engine.commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            var rows = PlacedRowWriter()
            // Several needs may bring the same row.
            var known: Set<UInt64> = []
            for row in brought.rows
            where known.insert(UInt64(row.entity) << 32 | UInt64(row.number)).inserted {
                place(row, &builder, &rows)
            }
            var ends: Set<[UInt32]> = []
            for pair in brought.pairs
            where ends.insert([UInt32(pair.pairs), pair.source, pair.destination]).inserted {
                try place(pair, &builder, &rows)
            }
            try rows.finish(&builder)
            try builder.redirect(brought.redirects)
            // Numbers of other objects must not be issued here.
            for (tree, numbers) in brought.numbers {
                if let last = numbers.max() { builder.raiseNumbers(tree, above: last) }
            }
            for (tree, numbers) in brought.known.rows {
                if let last = numbers.max() { builder.raiseNumbers(tree, above: last) }
            }
            builder.hasChanges = true
            // Nothing has happened to the existing rows.
            builder.hasRecordedHistory = true
            // What the commit itself requested is not needed by a request.
            _ = knowledge.takeNeeds()
        }
        knowledge.note(brought.known)
        if let last = brought.lastCommit { knowledge.commit = last + 1 }
        for (tree, numbers) in brought.numbers { knowledge.give(numbers, tree: tree) }
        // The target of a redirect counts only if it exists.
        let state = engine.registry.published()
        for redirect in brought.redirects
        where redirect.survivor != 0 && state.directories[redirect.tree][redirect.survivor].isEmpty
        {
            knowledge.miss(tree: redirect.tree, number: redirect.survivor)
        }
    }

    private func place(
        _ row: PlacedRow, _ builder: inout CommitBuilder, _ rows: inout PlacedRowWriter
    ) {
        let entity = builder.catalog.entities[row.entity]
        // It may be here already.
        if !builder.state.directories[entity.tree][row.number].isEmpty { return }
        rows.add(row, &builder)
    }

    private func place(
        _ pair: PlacedPair, _ builder: inout CommitBuilder, _ rows: inout PlacedRowWriter
    ) throws(StoreError) {
        let index = builder.catalog.entityIndex(ofPairs: pair.pairs)
        let known = try builder.findPair(
            entity: index, source: pair.source, destination: pair.destination)
        if known != nil { return }
        var pair = pair
        // Its number in the whole store determines its position; here it has another one.
        pair.places = pair.places.map { $0 ?? OrderKeys.key(of: pair.number) }
        pair.number = builder.state.nextNumbers[builder.catalog.entities[index].tree]
        pair.version = 1
        rows.add(pair, &builder)
    }
}
