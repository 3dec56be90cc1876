// A batch insert of many rows, executed in parts in one transaction: in memory are one part, a bit for each object that
// rows are about, and the requested result.
//
//   1. All rows are there before the transaction begins (`RecordedRows`): they may have to be given again.
//   2. A part is some ten thousand rows. An engine of its own carries it out with what it needs of the store, in which the parts
//      before it are written already, and what it has changed is written.
//   3. At the end those are looked for whom no row has named, if something is to become of them.
//   4. What the parts have changed is told as one commit.
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
        var free = numbers[hierarchy, default: []][...]
        // Those that a part has left come before those that none has been offered.
        var left: [UInt32] = []
        var place = RecordedRows.RowPlace()
        while let part = rows.part(
            from: place, rows: attempt.core.options.rowsOfPart, bytes: Self.bytesOfPart)
        {
            let more = free.prefix(max(0, part.count - left.count))
            free = free.dropFirst(more.count)
            let offered = left + more
            let used = try carryOut(part, attempt, offered, rest.lastCommit)
            left = offered.filter { !used.contains(UInt64($0)) }
            place.move(behind: part)
            firstRow += part.count
        }
        unused[hierarchy] = left + free
        if missing != nil { try findMissing(attempt, rest) }
    }

    /// Carries a part out, and gives the numbers of the objects of the entity's hierarchy that it has made.
    private func carryOut(
        _ rows: RecordedRows, _ attempt: Attempt, _ numbers: [UInt32], _ lastCommit: UInt64?
    ) throws -> ObjectNumbers {
        let core = attempt.core
        let part = try PartialStore(
            core.catalog, identifier: core.identity.identifier)
        defer { part.close() }
        part.earlier = earlier
        let catalog = part.catalog
        let tree = catalog.entities[entity.index].tree
        var brought = PartialStore.Brought()
        brought.lastCommit = lastCommit
        brought.numbers[tree] = numbers
        try part.bring(brought)
        var request = request.with(rows)
        request.missing = .stay
        request.scope = nil
        let asked = request
        while true {
            switch try perform(part, { store throws(StoreError) in try store.execute(asked) }) {
            case .lacking(var needs):
                // Of other hierarchies: targets that are made.
                let more = try attempt.takeNumbers(needs.numbers, catalog, isBegun: true)
                needs.numbers = [:]
                try attempt.load(needs, more, part, nil, begins: false, waits: waits)
            case .done(let result, var changes):
                // How such a row counts depends on what others have said of its object.
                if earlier.waits { throw Self.undivided }
                earlier.accept()
                try note(&changes)
                let writer = try ChangeWriter(changes, core.layout, core.keys)
                let statements = try writer.begin(attempt.connection, core.bound)
                try attempt.connection.pipeline(statements, bound: core.bound)
                add(result)
                self.changes.add(changes)
                let own = changes.inserted.lazy.filter {
                    catalog.entities[$0.entity].tree == tree
                }
                return ObjectNumbers(own.map { UInt64($0.number) })
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
