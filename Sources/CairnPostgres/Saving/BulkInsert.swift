// A batch insert of many rows, executed in parts in one transaction: in memory are a few parts, a bit for each object
// that rows are about, and the requested result.
//
//   1. All rows are there before the transaction begins (`RecordedRows`): they may have to be given again.
//   2. A part is some ten thousand rows. An engine of its own carries it out with what it needs of the store, in which the parts
//      before it are written already, and what it has changed is written.
//   3. The server and this computer work at the same time: while a part is written, the next one is carried out, and the rows of
//      the one behind that are looked at. So the server looks for the objects of a part before the part in front of it is
//      written. If that one has written what was looked for, the server is asked again. Not so if repeats or missing objects
//      are looked for.
//   4. At the end those are looked for whom no row has named, if something is to become of them.
//   5. What the parts have changed is told as one commit.
//
// That is the same as the batch in one, as long as a part decides nothing that a later row could decide otherwise:
//   - nobody is computed from the rows, no row leads to a row of its own hierarchy, or names members, or a target whose other side
//     has to follow: that is known beforehand (`init`);
//   - no part fails, and no row waits for its target: what is not there may be when all rows are;
//   - no part changes an object that a part before it has changed: both together may come to what was stored.
// Else nothing of it has happened, and the batch is carried out in one (`Undivided`).
//
// Threads: owned by one call.

import CairnLog
import CairnModel
import CairnStore

/// Thrown if a batch cannot be divided into parts.
struct Undivided: Error {}

final class BulkInsert {
    private let request: BatchInsertRequest
    private let rows: RecordedRows
    private let entity: SchemaEntity
    private let missing: MissingPlan?
    /// The objects that can be missing, if there is a scope.
    private let scope: [ObjectID]

    private var result = BatchInsertResult()
    private var changes = PartChanges()
    private let earlier: EarlierRows
    /// By entity: the objects that parts have made, and those that they have changed.
    private var made: [Int: GrowingNumbers] = [:]
    private var updated: [Int: GrowingNumbers] = [:]
    private var listed: Set<ObjectID> = []
    private var waits = true
    /// How many rows the parts before had.
    private var firstRow = 0
    /// The numbers that no part was offered, and those that parts have left.
    private var free: ArraySlice<UInt32> = []
    private var left: [UInt32] = []
    /// The numbers that no object has got.
    private(set) var unused: [UInt32: [UInt32]] = [:]

    /// About how many bytes a part has.
    private static let bytesOfPart = 16 << 20

    /// - Parameter scope: what the request's scope has found.
    init(
        _ request: BatchInsertRequest, _ rows: RecordedRows, _ entity: SchemaEntity,
        _ missing: MissingPlan?, scope: [ObjectID]
    ) {
        self.request = request
        self.rows = rows
        self.entity = entity
        self.missing = missing
        self.scope = scope
        earlier = EarlierRows(tracks: missing != nil || request.reportsRepeats)
    }

    /// Whether a batch can be carried out part by part, as far as is known beforehand.
    static func canDivide(
        _ request: BatchInsertRequest, _ rows: RecordedRows, _ entity: SchemaEntity,
        in core: StoreCore
    ) -> Bool {
        let schema = core.schema
        let fits =
            rows.count <= core.options.rowsOfPart && rows.byteCount <= bytesOfPart
        // For what is in one part all of the store that can be missing would be read.
        if fits, request.missing == .stay { return false }
        guard rows.failure == nil, request.refusal == nil, !rows.namesMembers else { return false }
        let family = schema.entities[entity.root].family
        if family.contains(where: { schema.derivations.concerns[$0] }) { return false }
        let ordered = schema.orderedReferences[entity.index]
        return rows.namedReferences.allSatisfy { column in
            guard case .reference(let root) = entity.columns[column].kind,
                let relationship = entity.columns[column].relationship
            else { return false }
            return root != entity.root && !ordered.contains(column)
                && !schema.isOneToOne(entity.relationships[relationship])
        }
    }

    // MARK: Parts

    /// A part whose rows were looked at: as far as that goes without anything of the store.
    private struct Begun {
        let rows: RecordedRows
        let part: PartialStore
        let request: BatchInsertRequest
        /// The numbers for its objects.
        let offered: [UInt32]
        let outcome: PartialStore.Outcome<BatchInsertResult>

        /// What it needs, if that is keys alone.
        var keys: PartialKnowledge.Needs? {
            guard case .lacking(let needs) = outcome, needs.rows.isEmpty, needs.references.isEmpty,
                needs.numbers.isEmpty
            else { return nil }
            return needs
        }
    }

    /// What the server is asked for a part.
    private struct Question {
        let loader: NeedsLoader
        let work: ConnectionQueue.Work<[PostgresResult]>
    }

    /// What a part has looked for and written.
    private struct Trace {
        var keys: Set<PartialKnowledge.Key> = []
        /// By tree of the catalog: the objects that it has changed or deleted; none if it has only made some.
        private var changed: [Int: Set<UInt32>] = [:]

        mutating func note(_ changes: PartialStore.Changes, _ catalog: Catalog) {
            for row in changes.inserted where changed[catalog.entities[row.entity].tree] == nil {
                changed[catalog.entities[row.entity].tree] = []
            }
            for row in changes.updated.lazy.map(\.old) + changes.deleted {
                changed[catalog.entities[row.entity].tree, default: []].insert(row.number)
            }
        }

        /// Whether what was found before the part was written is still so.
        func allows(_ found: PartialStore.Brought, _ catalog: Catalog) -> Bool {
            found.rows.allSatisfy { row in
                changed[catalog.entities[row.entity].tree]?.contains(row.number) != true
            }
                && found.known.keys.allSatisfy { key in
                    let owner = catalog.uniques[key.unique].entity
                    return changed[catalog.entities[owner].tree] == nil || !keys.contains(key)
                }
        }
    }

    /// Carries the parts out in the transaction of an attempt, and prepares an engine for what is left.
    ///
    /// - Parameter waits: whether for rows that others have locked.
    func carryOut(
        _ attempt: Attempt, _ numbers: [UInt32: [UInt32]], _ rest: PartialStore, waits: Bool
    ) throws {
        self.waits = waits
        try attempt.connection.pipeline([IndexedPlans.statement], bound: attempt.core.bound)
        let tree = rest.catalog.entities[entity.index].tree
        let hierarchy = rest.catalog.trees[tree].id
        free = numbers[hierarchy, default: []][...]
        let queue = ConnectionQueue()
        do {
            try carryOutParts(attempt, rest.lastCommit, queue)
        } catch {
            // A failure at the server comes first: a retry depends on it.
            try queue.finish(dropping: true)
            throw error
        }
        try queue.finish()
        unused[hierarchy] = left + free
        if missing != nil { try findMissing(attempt, rest) }
    }

    /// While the server writes a part and finds the objects of the next one, the rows of the next but one are looked at.
    private func carryOutParts(
        _ attempt: Attempt, _ lastCommit: UInt64?, _ queue: ConnectionQueue
    ) throws {
        // If a part must know which objects earlier rows concerned, the parts before it must be finished.
        let looksAhead = missing == nil && !request.reportsRepeats
        var asksAhead = looksAhead
        var place = RecordedRows.RowPlace()
        var trace = Trace()
        var written: ConnectionQueue.Work<Void>?
        var question: Question?
        var next = try begin(&place, attempt, lastCommit)
        defer { next?.part.close() }
        while let begun = next {
            defer { begun.part.close() }
            var nextQuestion: Question?
            if looksAhead {
                next = try begin(&place, attempt, lastCommit)
                if asksAhead, let next, let keys = next.keys {
                    nextQuestion = try ask(keys, next.part, attempt, queue)
                }
            }
            var brought: PartialStore.Brought?
            if let asked = question {
                question = nil
                brought = try asked.loader.brought(queue.wait(for: asked.work))
                // If one part repeats keys of the one in front, later ones mostly do too: asking ahead would be for nothing.
                if let found = brought, !trace.allows(found, begun.part.catalog) {
                    brought = nil
                    asksAhead = false
                }
            }
            trace = Trace()
            let changes = try finish(begun, &brought, attempt, queue, &trace)
            let writer = try ChangeWriter(changes, attempt.core.layout, attempt.core.keys)
            // No more than one part waits to be written.
            if let written { try queue.wait(for: written) }
            let (connection, core) = (attempt.connection, attempt.core)
            written = queue.add {
                let statements = try writer.begin(connection, core.bound)
                try connection.pipeline(statements, bound: core.bound)
            }
            question = nextQuestion
            if !looksAhead { next = try begin(&place, attempt, lastCommit) }
        }
    }

    /// Looks at the rows of the next part; nil if there are no more.
    private func begin(
        _ place: inout RecordedRows.RowPlace, _ attempt: Attempt, _ lastCommit: UInt64?
    ) throws -> Begun? {
        let core = attempt.core
        guard
            let rows = rows.part(
                from: place, rows: core.options.rowsOfPart, bytes: Self.bytesOfPart)
        else { return nil }
        place.move(behind: rows)
        // Those that a part has left come before those that none has been offered.
        let more = free.prefix(max(0, rows.count - left.count))
        free = free.dropFirst(more.count)
        let offered = left + more
        left = []
        let part = try PartialStore(core.encodedCatalog(), identifier: core.identity.identifier)
        do {
            let own =
                missing != nil || request.reportsRepeats ? earlier : EarlierRows(tracks: false)
            part.earlier = own
            var brought = PartialStore.Brought()
            brought.lastCommit = lastCommit
            brought.numbers[part.catalog.entities[entity.index].tree] = offered
            try part.bring(brought)
            var request = request.with(rows)
            request.missing = .stay
            request.scope = nil
            let asked = request
            let outcome = try perform(
                part, { store throws(StoreError) in try store.execute(asked) })
            return Begun(
                rows: rows, part: part, request: request, offered: offered, outcome: outcome)
        } catch {
            part.close()
            throw error
        }
    }

    /// Has the server look for something after everything that is already queued.
    private func ask(
        _ needs: PartialKnowledge.Needs, _ part: PartialStore, _ attempt: Attempt,
        _ queue: ConnectionQueue
    ) throws(StoreError) -> Question {
        let core = attempt.core
        let loader = try NeedsLoader(
            needs, core.layout, core.keys, core.identity, part.catalog, waits: waits)
        let (connection, statements) = (attempt.connection, loader.statements)
        return Question(
            loader: loader,
            work: queue.add { try connection.pipeline(statements, bound: core.bound) })
    }

    /// Carries a part out; gives what it changes.
    ///
    /// - Parameter found: what was brought for its keys already.
    private func finish(
        _ begun: Begun, _ found: inout PartialStore.Brought?, _ attempt: Attempt,
        _ queue: ConnectionQueue, _ trace: inout Trace
    ) throws -> PartialStore.Changes {
        let part = begun.part
        let catalog = part.catalog
        var outcome = begun.outcome
        while true {
            switch outcome {
            case .lacking(var needs):
                trace.keys.formUnion(needs.keys)
                // Of other hierarchies: targets that are made.
                let more = try attempt.takeNumbers(needs.numbers, catalog, isBegun: true)
                needs.numbers = [:]
                if let brought = found.take() {
                    try attempt.bring(brought, more, part, nil)
                } else {
                    let question = try ask(needs, part, attempt, queue)
                    let brought = try question.loader.brought(queue.wait(for: question.work))
                    try attempt.bring(brought, more, part, nil)
                }
                let request = begun.request
                outcome = try perform(
                    part, { store throws(StoreError) in try store.execute(request) })
            case .done(let result, var changes):
                // How such a row counts depends on what others have said of its object.
                if part.earlier?.waits == true { throw Self.undivided }
                part.earlier?.accept()
                try note(&changes)
                add(result)
                firstRow += begun.rows.count
                self.changes.add(changes)
                trace.note(changes, catalog)
                let tree = catalog.entities[entity.index].tree
                let used = ObjectNumbers(
                    changes.inserted.lazy.filter { catalog.entities[$0.entity].tree == tree }
                        .map { UInt64($0.number) })
                left += begun.offered.filter { !used.contains(UInt64($0)) }
                return changes
            }
        }
    }

    /// What stands against a part may be gone when all rows are there.
    private func perform<R>(
        _ part: PartialStore, _ body: (LogStore) throws(StoreError) -> R
    ) throws(StoreError) -> PartialStore.Outcome<R> {
        do throws(StoreError) {
            return try part.perform(body)
        } catch {
            throw StoreError(error.code, error.message, cause: Undivided())
        }
    }

    /// Makes changes of a part those of the whole.
    private func note(_ changes: inout PartialStore.Changes) throws(StoreError) {
        var changed: [Int: [UInt64]] = [:]
        for index in changes.updated.indices {
            let (row, old) = changes.updated[index]
            let number = UInt64(row.number)
            if made[row.entity]?.contains(number) == true {
                // One commit makes one version.
                changes.updated[index].row.version = old.version
            } else if updated[row.entity]?.contains(number) == true {
                throw Self.undivided
            } else {
                changed[row.entity, default: []].append(number)
            }
        }
        for row in changes.deleted where made[row.entity]?.contains(UInt64(row.number)) == true {
            throw Self.undivided
        }
        for (entity, numbers) in changed {
            updated[entity, default: GrowingNumbers()].add(ObjectNumbers(numbers))
        }
        var new: [Int: [UInt64]] = [:]
        for row in changes.inserted { new[row.entity, default: []].append(UInt64(row.number)) }
        for (entity, numbers) in new {
            made[entity, default: GrowingNumbers()].add(ObjectNumbers(numbers))
        }
    }

    private static var undivided: StoreError {
        StoreError(
            .invalidRequest, "the batch cannot be executed in parts", cause: Undivided())
    }

    private func add(_ part: BatchInsertResult) {
        result.insertedCount += part.insertedCount
        result.updatedCount += part.updatedCount
        result.unchangedCount += part.unchangedCount
        result.skippedCount += part.skippedCount
        result.keylessCount += part.keylessCount
        result.repeatedCount += part.repeatedCount
        result.createdTargetCount += part.createdTargetCount
        // The first ten of each.
        result.keylessRows += part.keylessRows.prefix(10 - result.keylessRows.count)
            .map { $0 + firstRow }
        result.repeatedRows += part.repeatedRows.prefix(10 - result.repeatedRows.count)
            .map { $0 + firstRow }
        result.outcomes += part.outcomes
        for id in part.objectIDs where listed.insert(id).inserted { result.objectIDs.append(id) }
    }

    // MARK: Who is missing

    /// Brings the objects that no row has named.
    private func findMissing(_ attempt: Attempt, _ rest: PartialStore) throws {
        guard let missing else { return }
        if !request.allowsEmpty, !earlier.namesAny {
            throw missing.emptyList(hasRows: rows.count > 0)
        }
        rest.earlier = earlier
        let catalog = rest.catalog
        var candidates: [ObjectID] = []
        if missing.scope != nil {
            candidates = scope.filter { id in
                UInt32(exactly: id.reference).map { !earlier.touches($0) } ?? false
            }
        } else {
            candidates = try untouched(attempt)
        }
        let needs = PartialKnowledge.Needs(rows: candidates, catalog, attempt.core.identity)
        let brought = try attempt.load(needs, [:], rest, nil, begins: false, waits: waits)
        let tree = catalog.entities[entity.index].tree
        // Others may have deleted some of them meanwhile.
        earlier.missing = brought.rows.filter { catalog.entities[$0.entity].tree == tree }
            .map(\.number).sorted()
    }

    /// The objects of the entity, and of those that inherit from it, that no row has named.
    private func untouched(_ attempt: Attempt) throws -> [ObjectID] {
        let core = attempt.core
        let table = core.layout.table(of: entity.index)
        let selection = core.selection(table)
        var codes = SQLArray(of: .int16)
        for entity in entity.family.sorted() {
            codes.append(number: core.layout.code(of: entity))
        }
        let id = TableLayout.Fixed.id.quoted
        let statement = """
            SELECT \(selection.identities("r")) FROM \(core.layout.sql(core.layout.tables[table].name)) AS r \
            WHERE r.\(id) > $1 AND r.\(TableLayout.Fixed.entity.quoted) = ANY($2::smallint[]) \
            ORDER BY r.\(id) LIMIT $3
            """
        var found: [ObjectID] = []
        var last: Int64 = 0
        let most: Int64 = 1 << 16
        while true {
            let result = try attempt.connection.run(
                statement, [.int64(last), .array(codes), .int64(most)], bound: core.bound)
            for row in 0..<result.rowCount {
                let id = try selection.id(result, row)
                if let number = UInt32(exactly: id.reference), !earlier.touches(number) {
                    found.append(id)
                }
                last = Int64(bitPattern: id.reference)
            }
            if result.rowCount < most { return found }
        }
    }

    // MARK: The end

    /// Carries out what is left.
    func finish(_ store: LogStore) throws(StoreError) -> BatchInsertResult {
        guard missing != nil, earlier.missing?.isEmpty == false else { return result }
        var request = BatchInsertRequest(entityName: request.entityName, objects: [])
        request.mergePolicy = self.request.mergePolicy
        request.resultType = self.request.resultType
        request.validatesValues = self.request.validatesValues
        request.missing = self.request.missing
        request.allowsEmpty = true
        request.author = self.request.author
        request.contextName = self.request.contextName
        let last = try store.execute(request)
        var result = result
        result.deletedCount = last.deletedCount
        result.markedCount = last.markedCount
        result.missingIDs = last.missingIDs
        return result
    }

    /// Adds what the parts have changed to what the end has.
    func join(_ changes: inout PartialStore.Changes) throws {
        try note(&changes)
        self.changes.add(changes)
        self.changes.join(&changes)
    }
}
