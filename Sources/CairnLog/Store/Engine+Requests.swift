// The requests of the store's contract, as commits.

import CairnFileSystem
import CairnFormat
import CairnModel
package import CairnStore

extension Engine {
    // MARK: Saving

    func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        if request.isEmpty, !tools.metadata.isWaiting {
            return .saved(SaveResult())
        }
        try checkDerivations()
        if !request.redirects.isEmpty { try allowRedirects() }
        /// Conflicts are thrown as an error, so that the commit is discarded like any other that fails.
        struct Standing {
            var conflicts: [SaveConflict] = []
            /// Whether it has redirects to write, and the newest segment cannot contain any.
            var needsRedirects = false
        }
        var standing = Standing()
        let staged = request.hasStagedValues ? StagedUse() : nil
        do {
            let (result, commit) = try commitSave(
                author: request.author, contextName: request.contextName,
                isSilent: request.isEmpty
            ) { builder throws(StoreError) in
                if let staged { try builder.adopt(staged, of: request) }
                var planner = SavePlanner(request, catalog: builder.catalog, identity: identity)
                let conflicts = try planner.plan(&builder)
                guard conflicts.isEmpty else {
                    standing.conflicts = conflicts
                    throw StoreError.conflicts(conflicts)
                }
                if !planner.redirections.isEmpty, !builder.allowsRedirects {
                    standing.needsRedirects = true
                    throw StoreError(.constraintConflict, "a policy has redirected ids")
                }
                return try SaveWriter.write(planner, &builder)
            }
            if let staged, commit != nil { staged.settle(in: tools.staging) }
            var saved = result
            saved.commit = commit
            return .saved(saved)
        } catch {
            if standing.needsRedirects {
                // The first redirects of the store: from now on, every segment can contain them.
                try allowRedirects()
                return try save(request)
            }
            if request.resolution == .report, !standing.conflicts.isEmpty {
                return .conflicts(standing.conflicts)
            }
            throw error
        }
    }

    /// Inserts new objects as columns; returns nil if there is a conflict.
    func insert(
        _ rows: inout some NewRowSource, merging: NewRowMerging, author: String?,
        contextName: String?
    ) throws(StoreError) -> NewNumbers? {
        // Only the result of a save contains computed values.
        if derivationUse != .none {
            try checkDerivations()
            let concerns = schema.derivations.concerns
            if rows.groups.contains(where: { concerns[$0.entity] }) { return nil }
        }
        let contest = NewRowsWriter.Contest()
        do {
            var (numbers, commit) = try commitSave(author: author, contextName: contextName) {
                builder throws(StoreError) in
                var writer = NewRowsWriter(
                    catalog: builder.catalog, merging: merging, contest)
                return try writer.write(&rows, &builder)
            }
            numbers.commit = commit
            return numbers
        } catch {
            if contest.isThere { return nil }
            throw error
        }
    }

    // MARK: Batches

    func insert(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        // A copy of the request retains everything in it, so it is only made if it differs.
        guard request.mergePolicy == .declared else { return try insertFolding(request) }
        return try insertFolding(request.carriedOut)
    }

    /// The maximum number of restarts of a batch without the rows that change nothing.
    private static let mostFoldings = 4

    private func insertFolding(_ request: BatchInsertRequest) throws(StoreError)
        -> BatchInsertResult
    {
        guard request.canRepeat else { return try insertRows(request, folds: false) }
        var restated: RestatedObjects?
        for _ in 0..<Self.mostFoldings {
            do throws(StoreError) {
                return try insertRows(request, folds: true, restated)
            } catch {
                guard let found = error.cause as? RestatedObjects else { throw error }
                restated = found
            }
        }
        // Other writers change the store all the time: some rows are written unnecessarily.
        return try insertRows(request, folds: false)
    }

    /// Inserts and updates rows. They are filled and checked before acquiring the write lock, as long as they
    /// fit the staging memory; the rest is filled while the batch holds the write lock.
    ///
    /// - Parameters:
    ///   - folds: whether the batch fails if several rows together leave an object as it is stored.
    ///   - restated: the objects for which that happened before: their rows are skipped, if the store has not
    ///     changed since.
    private func insertRows(
        _ request: BatchInsertRequest, folds: Bool, _ restated: RestatedObjects? = nil
    ) throws(StoreError) -> BatchInsertResult {
        try checkDerivations()
        let schema = schema
        guard let entity = schema.entity(named: request.entityName) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: request.entityName))
        }
        var filler = try request.makeFiller(for: entity)
        let missing = request.concernsMissing ? try request.missingPlan(in: schema) : nil
        // Updated rows keep their order keys.
        let orders = schema.orderedReferences[entity.index].count
        // The first batch is usually the only one.
        let first = reader.batches.take(entity, orders: orders)
        var isEnd = try filler.fill(first, firstRow: 0)
        try first.seal(
            firstRow: 0, setOnly: request.setOnly, validates: request.validatesValues)
        var more: [ColumnBatch] = []
        var items: [ListLine.Item] = []
        var bytes = first.byteCount
        var rows = first.rows
        // A complete list mostly equals what is stored.
        let line = isEnd || missing == nil ? nil : ListLine(entity.index, of: request, reader)
        // All stored rows will be read to find the missing ones.
        let readsAll = missing.map { $0.scope == nil } ?? false
        func stage() throws(StoreError) {
            while !isEnd, bytes < sizes.stagingBytes {
                let batch = reader.batches.take(entity, orders: orders)
                isEnd = try filler.fill(batch, firstRow: rows)
                try batch.seal(
                    firstRow: rows, setOnly: request.setOnly, validates: request.validatesValues)
                if let line { items.append(line.add(batch, firstRow: rows)) }
                bytes += batch.byteCount
                rows += batch.rows
                more.append(batch)
            }
        }
        if let line {
            items.append(line.add(first, firstRow: 0))
            let pinned = registry.pin()
            let ahead =
                readsAll ? ReadingAhead(comparing: entity.index, pinned.state, reader) : nil
            try withExtendedLifetime(pinned) { () throws(StoreError) in
                try line.whileComparing(ahead, stage)
            }
        } else {
            try stage()
        }
        if rows == 0, let missing, !request.allowsEmpty { throw missing.emptyList(hasRows: false) }
        let (result, commit) = try commit(
            author: request.author, contextName: request.contextName
        ) { builder throws(StoreError) in
            // A single row mentions its object once.
            let restating =
                folds && (rows > 1 || !isEnd)
                ? RestatingRows(
                    before: builder.state,
                    leftOut: restated?.commit == builder.number ? restated?.numbers ?? [] : [])
                : nil
            func insertAll() throws(StoreError) -> BatchInsertResult {
                var inserter = BatchInserter(
                    request, missing, policy: request.mergePolicy ?? .error, entity: entity.index,
                    restating: restating, memory: tools.memory, now: clock.now(), builder)
                try inserter.insert(
                    first, firstRow: 0, compared: items.first.flatMap { line?.take($0) },
                    isLast: isEnd && more.isEmpty, &builder)
                var firstRow = first.rows
                inserter.expect(rows - firstRow, &builder)
                for (index, batch) in more.enumerated() {
                    let count = batch.rows
                    let compared = line?.take(items[index + 1])
                    try inserter.insert(batch, firstRow: firstRow, compared: compared, &builder)
                    firstRow += count
                }
                if !isEnd {
                    // Staged rows have been written: only a few batches are needed for the rest.
                    let last = more.last
                    more = []
                    items = []
                    var rest = RestOfRows(
                        filler, request, line, reader.batches,
                        free: last.map { [first, $0] } ?? [first], orders: orders,
                        firstRow: firstRow)
                    try rest.insert(into: &inserter, &builder)
                    if let last { more = [last] }
                }
                line?.end()
                try inserter.finish(&builder)
                let result = inserter.end(tools.memory)
                if request.isTrial { throw BatchTrial(result: result).error }
                return result
            }
            if let line {
                let ahead = readsAll ? ReadingAhead(comparing: entity.index, builder) : nil
                return try line.whileComparing(ahead, insertAll)
            }
            if !readsAll { return try insertAll() }
            return try whileReading(ReadingAhead(comparing: entity.index, builder), insertAll)
        }
        reader.batches.give(first)
        if let last = more.last { reader.batches.give(last) }
        var inserted = result
        inserted.commit = commit
        return inserted
    }

    func delete(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        try checkDerivations()
        let request = try request.resolved(in: schema) { identity.entity(of: $0) }
        let (result, commit) = try commit(
            author: request.author, contextName: request.contextName
        ) { builder throws(StoreError) in
            let derivations =
                builder.catalog.schema.derivations.isEmpty ? nil : BatchDerivations()
            var planner = DeletePlanner(
                catalog: builder.catalog, identity: identity, derivations: derivations,
                listsNumbers: request.reportsIDs)
            let outcome = try delete(request, &planner, &builder)
            try derivations?.settle(identity, &builder)
            if builder.catalog.hasKeyRules { try planner.checkKeys(&builder) }
            var result = BatchDeleteResult()
            result.deletedCount = outcome.requested
            result.cascadedCount = outcome.cascaded
            if request.reportsIDs {
                result.objectIDs = outcome.numbers.map {
                    identity.id(UInt64($0.number), entity: $0.entity)
                }
            }
            return result
        }
        var deleted = result
        deleted.commit = commit
        return deleted
    }

    /// Deletes the objects of a batch delete from the newest state, which may be unwritten.
    private func delete(
        _ request: BatchDeleteRequest, _ planner: inout DeletePlanner,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> DeletePlanner.Outcome {
        let catalog = builder.catalog
        switch request.target {
        case .fetch(let fetch):
            let tree = catalog.entities[fetch.entity].tree
            let runner = try FetchRunner(
                reader: reader, state: builder.state, fetch: fetch, writtenLSN: builder.writtenLSN)
            // If an order or only a part is requested, the objects must be known before the first is deleted.
            let isWhole =
                fetch.limit == nil && fetch.offset == 0
                && (fetch.sort.isEmpty || !request.reportsIDs)
            guard isWhole, planner.needsNoRules(tree) else {
                let numbers = try runner.hits().hits.map(\.number)
                return try planner.delete(numbers, tree: tree, &builder)
            }
            if let found = try runner.indexed() {
                let numbers = found.hits.map(\.number).sorted()
                return try planner.delete(numbers, tree: tree, &builder)
            }
            let ahead = ReadingAhead(deleting: runner, writtenLSN: builder.writtenLSN)
            return try whileReading(ahead) { () throws(StoreError) in
                try planner.delete(runner, tree: tree, &builder)
            }
        case .ids(let ids, let entity):
            let tree = catalog.entities[entity].tree
            var numbers: [UInt32] = []
            for id in ids {
                guard identity.owns(id, entity: entity), let number = UInt32(exactly: id.reference)
                else {
                    throw StoreError(
                        .foreignObject, "the object belongs to another store or entity",
                        context: .init(entity: catalog.entities[entity].name, objectID: id))
                }
                numbers.append(number)
            }
            return try planner.delete(numbers, tree: tree, &builder)
        case .matching, .objectIDs:
            preconditionFailure("a condition is resolved before it is evaluated")
        }
    }

    // MARK: Derived attributes

    /// Throws if a write could not keep derived attributes correct.
    @inline(__always)
    func checkDerivations() throws(StoreError) {
        if derivationUse == .refused { throw refusedDerivation() }
    }

    @inline(never)
    private func refusedDerivation() -> StoreError {
        guard let refusal = schema.derivations.refusal else {
            preconditionFailure("a rejection has a reason")
        }
        return StoreError(
            .incompatibleModel,
            "the store is read-only, because it was created with a derived attribute that cannot be computed: "
                + "\(refusal)",
            context: .init(path: "\(files.folder)"))
    }

    // MARK: Numbers

    func obtainPermanentIDs(_ entities: [Int]) throws(StoreError) -> [ObjectID] {
        try commit(author: nil, contextName: nil, isSilent: true) { builder throws(StoreError) in
            var ids: [ObjectID] = []
            for entity in entities {
                let number = try builder.handOutNumber(tree: builder.catalog.entities[entity].tree)
                ids.append(identity.id(UInt64(number), entity: entity))
            }
            return ids
        }.0
    }

    /// Issues all numbers of a hierarchy up to one at once.
    func reserveNumbers(upTo number: UInt32, entity: Int) throws(StoreError) {
        precondition(number < FormatLimits.maximumNumber, "the next object has a free number")
        _ = try commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            let tree = builder.catalog.entities[entity].tree
            let next = max(builder.state.nextNumbers[tree], number + 1)
            builder.state.nextNumbers[tree] = next
            builder.state.reserved[tree] = max(builder.state.reserved[tree], next)
            builder.hasChanges = true
        }
    }
}

extension SaveRequest {
    /// Whether there is nothing to write or compare.
    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && pairChanges.isEmpty
            && orderChanges.isEmpty && locked.isEmpty && redirects.isEmpty
    }
}

extension StoreError {
    /// Returns the error of a save with conflicts.
    package static func conflicts(_ conflicts: [SaveConflict]) -> StoreError {
        let hasVersions = conflicts.contains { if case .version = $0 { true } else { false } }
        return StoreError(
            hasVersions ? .mergeConflict : .constraintConflict,
            hasVersions
                ? "objects of the save were changed elsewhere since they were read"
                : "objects of the save violate uniqueness constraints",
            conflicts: conflicts)
    }
}
