// An engine in memory that holds what a request to a store elsewhere touches, and carries the request out.
//
//   1. The request is carried out with what is here. If it asked for something unknown, nothing has changed, and the answer is
//      what it needs.
//   2. The owner of the store brings that, and asks again.
//   3. What the request has changed is told, for the owner to write it where the store is.
//
// So another kind of store decides nothing by itself: versions, merge policies, constraints, references, derived values and the
// order of lists are the business of the same code as in the log.
//
// Threads: one at a time.

import CairnFormat
package import CairnModel
package import CairnStore
package import FoundationEssentials

/// A part of a store that lies elsewhere.
package final class PartialStore {
    /// A row as it is stored.
    package struct PlacedRow: Sendable {
        /// Its entity, as an index of the schema.
        package var entity: Int
        package var number: UInt32
        package var version: UInt32
        /// By column of its entity.
        package var values: [Value]
        /// Its places in ordered lists, by the entity's ordered references.
        package var places: [Int64?]

        package init(
            entity: Int, number: UInt32, version: UInt32, values: [Value], places: [Int64?]
        ) {
            self.entity = entity
            self.number = number
            self.version = version
            self.values = values
            self.places = places
        }
    }

    /// A pair as it is stored.
    package struct PlacedPair: Sendable {
        /// As an index of the schema's pairs.
        package var pairs: Int
        package var source: UInt32
        package var destination: UInt32
        /// Its places in ordered lists, by the ends that have one.
        package var places: [Int64?]

        package init(pairs: Int, source: UInt32, destination: UInt32, places: [Int64?]) {
            self.pairs = pairs
            self.source = source
            self.destination = destination
            self.places = places
        }
    }

    /// An id that leads to another object than its own.
    package struct PlacedRedirect: Sendable {
        /// The tree of both, as an index of the catalog's.
        package let tree: Int
        package let number: UInt32
        /// 0: none any more.
        package let survivor: UInt32

        package init(tree: Int, number: UInt32, survivor: UInt32) {
            self.tree = tree
            self.number = number
            self.survivor = survivor
        }
    }

    /// What was brought.
    package struct Brought: Sendable {
        package var rows: [PlacedRow] = []
        package var pairs: [PlacedPair] = []
        package var redirects: [PlacedRedirect] = []
        /// What there is no more of than this.
        package var known = PartialKnowledge.Needs()
        /// By tree: numbers for new rows.
        package var numbers: [Int: [UInt32]] = [:]
        /// The number of the last commit; nil if that is known.
        package var lastCommit: UInt64?

        package init() {}
    }

    /// What a request has changed.
    package struct Changes: Sendable {
        /// New rows, and changed ones with the versions that they had.
        package var inserted: [PlacedRow] = []
        package var updated: [(row: PlacedRow, old: PlacedRow)] = []
        package var deleted: [PlacedRow] = []
        package var addedPairs: [PlacedPair] = []
        package var removedPairs: [PlacedPair] = []
        /// Pairs that have another place.
        package var movedPairs: [PlacedPair] = []
        package var redirects: [PlacedRedirect] = []
        /// The same for those who observe a store.
        package var told = StoreChanges(entities: [], rows: nil)
        /// The same for a history, if the part keeps one.
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
    private let tracksHistory: Bool
    private var engine: Engine { store.engine }
    /// The numbers by which needs name trees, references and keys: the same for every part of one store.
    package var catalog: Catalog { engine.registry.published().catalog }

    /// A part that holds nothing yet.
    ///
    /// - Parameter identifier: what the whole store is called by.
    package init(_ schema: Schema, identifier: UUID, tracksHistory: Bool = false)
        throws(StoreError)
    {
        self.tracksHistory = tracksHistory
        var options = LogStoreOptions()
        options.persistentHistoryTracking = tracksHistory
        options.partial = knowledge
        options.storeIdentifier = identifier
        options.scanThreads = 1
        options.cacheBytes = 16 << 20
        store = try LogStore.inMemory(schema: schema, options: options)
        let catalog = engine.registry.published().catalog
        // Numbers of objects are given by the owner of the store; those of pairs mean nothing there.
        for (index, tree) in catalog.trees.enumerated() where !catalog.entities[tree.root].isHidden
        {
            knowledge.give([], tree: index)
        }
    }

    package func close() { try? store.close() }

    /// What came before, if requests are parts of a batch.
    package var earlier: EarlierRows? {
        get { knowledge.earlier }
        set { knowledge.earlier = newValue }
    }

    /// The number of the last commit, if it was brought.
    package var lastCommit: UInt64? { knowledge.commit.map { $0 - 1 } }

    // MARK: Carrying out

    /// Carries a request out; if it has thrown for want of something, that is the answer.
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
        guard let result else { preconditionFailure("a request gives a result or throws") }
        let after = engine.registry.pin()
        var difference = PartialDifference(
            reader: engine.reader, old: before.state, new: after.state)
        var changes = try difference.run()
        changes.told = try StateDifference(
            StateTransition(before: before, after: after), engine.reader
        ).changes()
        if tracksHistory {
            let history = try store.historyCursor(after: before.state.commit)
            changes.history = try history.next()?.changes?.groups ?? []
        }
        return .done(result, changes)
    }

    // MARK: Bringing

    /// Takes what a request needs.
    package func bring(_ brought: Brought) throws(StoreError) {
        if !brought.redirects.isEmpty { try engine.allowRedirects() }
        _ = try engine.commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            var pending = PendingRows()
            // Several needs may bring one row.
            var known: Set<UInt64> = []
            for row in brought.rows
            where known.insert(UInt64(row.entity) << 32 | UInt64(row.number)).inserted {
                place(row, &builder, &pending)
            }
            var ends: Set<[UInt32]> = []
            for pair in brought.pairs
            where ends.insert([UInt32(pair.pairs), pair.source, pair.destination]).inserted {
                try place(pair, &builder, &pending)
            }
            for (entity, rows) in pending.byEntity.inKeyOrder() {
                try builder.write(rows, entity: entity)
            }
            try builder.redirect(
                brought.redirects.map {
                    Redirection(tree: $0.tree, number: $0.number, target: $0.survivor)
                })
            // Nobody else's number is given here.
            for (tree, numbers) in brought.numbers {
                if let last = numbers.max() { Self.raise(&builder, tree, above: last) }
            }
            for (tree, numbers) in brought.known.rows {
                if let last = numbers.max() { Self.raise(&builder, tree, above: last) }
            }
            builder.hasChanges = true
            // Nothing has happened to what was there before.
            builder.hasRecordedHistory = true
            // What the commit itself has asked for is no need of a request.
            _ = knowledge.takeNeeds()
        }
        knowledge.note(brought.known)
        if let last = brought.lastCommit { knowledge.commit = last + 1 }
        for (tree, numbers) in brought.numbers { knowledge.give(numbers, tree: tree) }
        // Who an id leads to counts only if it is there.
        let state = engine.registry.published()
        for redirect in brought.redirects
        where redirect.survivor != 0 && state.directories[redirect.tree][redirect.survivor].isEmpty
        {
            knowledge.miss(tree: redirect.tree, number: redirect.survivor)
        }
    }

    private static func raise(_ builder: inout CommitBuilder, _ tree: Int, above number: UInt32) {
        builder.state.nextNumbers[tree] = max(
            builder.state.nextNumbers[tree], number == .max ? number : number + 1)
    }

    private func place(
        _ row: PlacedRow, _ builder: inout CommitBuilder, _ pending: inout PendingRows
    ) {
        let entity = builder.catalog.entities[row.entity]
        // It may be here already.
        if !builder.state.directories[entity.tree][row.number].isEmpty { return }
        enter(row.entity, row.number, row.version, row.values, row.places, &builder, &pending)
    }

    private func place(
        _ pair: PlacedPair, _ builder: inout CommitBuilder, _ pending: inout PendingRows
    ) throws(StoreError) {
        let index = builder.catalog.entityIndex(ofPairs: pair.pairs)
        let entity = builder.catalog.entities[index]
        let known = try builder.findPair(
            entity: index, source: pair.source, destination: pair.destination)
        if known != nil { return }
        let number = builder.state.nextNumbers[entity.tree]
        let catalog = builder.catalog
        let values = zip(entity.columns, [pair.source, pair.destination]).map {
            column, end -> Value in
            guard let tree = column.target else {
                preconditionFailure("the columns of a pair are references")
            }
            let root = catalog.schemaEntity(catalog.trees[tree].root)
            return .objectID(store.identity.id(UInt64(end), entity: root))
        }
        enter(index, number, 1, values, pair.places, &builder, &pending)
    }

    private func enter(
        _ index: Int, _ number: UInt32, _ version: UInt32, _ values: [Value], _ places: [Int64?],
        _ builder: inout CommitBuilder, _ pending: inout PendingRows
    ) {
        let entity = builder.catalog.entities[index]
        var key = KeyBuffer()
        for unique in entity.uniques {
            let form = builder.catalog.uniques[unique].form
            if key.load(values, form, number: { $0.number }) {
                builder.insertKey(key.hash(seed: builder.seed), number: number, unique: unique)
            }
        }
        builder.moveReferences(entity: index, number: number, from: nil, to: values)
        // New members come behind those that have places.
        if let last = places.lazy.compactMap(\.self).max(), let before = OrderKeys.number(last) {
            Self.raise(&builder, entity.tree, above: before)
        }
        pending.byEntity[index, default: []].append(
            PendingRows.Row(
                number: number, version: version, values: values, keys: places, kept: nil))
        Self.raise(&builder, entity.tree, above: number)
    }
}
