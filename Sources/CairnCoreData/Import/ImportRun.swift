// Brings the objects of a store over, some thousands at a time.
//
//   1. Every hierarchy hands out as many numbers as Core Data gave keys, so that each object keeps its own, and
//      none is given to another object later.
//   2. Tables are read in the order of their keys, those that others must lead to first. A batch of rows takes
//      along what its objects must lead to, and what those must, so that no mandatory relationship is nil when it
//      is saved. Relationships that may be nil lead to what is there by then.
//   3. The others are set when all objects are there.
//   4. Pairs, in the order of the lists that they are in; then the order of lists.
//   5. Where both sides of a relationship are columns they may contradict each other: what the store made of it is
//      compared with the source. So are the numbers of objects.
//
// An object that lacks something mandatory cannot be stored: it is left out, and so is what must lead to it.
//
// Memory: a batch, and the keys of objects that were taken along or left out.
// Threads: one.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// An import while it runs.
final class ImportRun {
    private let source: CoreDataSource
    let layout: SourceLayout
    let store: LogStore
    let rows: SourceRows
    private let rowsPerSave: Int
    private let bytesPerSave: Int

    // What is written by now.
    private var finished: Set<Int> = []
    private var current = -1
    private var lastRead: Int64 = 0
    private var takenAlong: Set<ObjectKey> = []
    private(set) var leftOut: Set<ObjectKey> = []
    /// Tables with relationships that could not be set when their objects were written.
    private var unfinished: Set<Int> = []
    /// By entity.
    private var found: [Int]
    private var imported: [Int]
    private var done = 0

    init(
        _ source: CoreDataSource, _ layout: SourceLayout, _ store: LogStore, rowsPerSave: Int,
        bytesPerSave: Int
    ) throws {
        self.source = source
        self.layout = layout
        self.store = store
        self.rowsPerSave = rowsPerSave
        self.bytesPerSave = bytesPerSave
        rows = SourceRows(source, layout)
        found = [Int](repeating: 0, count: layout.schema.entities.count)
        imported = found
    }

    func bringAll(_ progress: (String, Int, Int) -> Void) throws -> CoreDataImportReport {
        try countObjects()
        let total = found.reduce(0, +)
        try handOutNumbers()
        let order = tableOrder()
        for table in order {
            try bringRows(of: table) { progress("objects", done, total) }
        }
        for table in order where unfinished.contains(table) || !leftOut.isEmpty {
            try finishLinks(of: table)
        }
        var report = CoreDataImportReport(identifier: source.metadata.identifier)
        progress("relationships", 0, layout.joins.count + layout.lists.count)
        for join in layout.joins { report.pairs += try bringPairs(join) }
        for join in layout.joins { report.lists += try orderPairs(join) }
        for list in layout.lists { report.lists += try orderList(list) }
        try compareLinks()
        try compareCounts()
        report.metadataKeys = try bringMetadata()
        try complete(&report)
        return report
    }

    // MARK: Numbers

    /// The id that an object has, and had.
    func id(_ key: ObjectKey) -> ObjectID {
        store.identity.id(UInt64(key.number), entity: layout.tables[key.table].root)
    }

    private func countObjects() throws {
        for (index, table) in layout.tables.enumerated() {
            let statement = try source.file.prepare(
                "SELECT \(SQLiteFile.quoted(table.columns[1])), COUNT(*) FROM \(SQLiteFile.quoted(table.name)) GROUP BY 1",
                at: table.name)
            while try statement.step() {
                let count = Int(truncatingIfNeeded: statement.integer(1) ?? 0)
                if table.columns[1] == "Z_PK" {
                    found[table.root] += count
                } else if let number = statement.integer(0).flatMap({ Int(exactly: $0) }),
                    let entity = layout.numbers.entities[number],
                    layout.tableOfRoot[layout.schema.entities[entity].root] == index
                {
                    found[entity] += count
                }
            }
        }
    }

    /// Numbers that were given to objects that are gone are not given again: somebody may still have their URIs.
    private func handOutNumbers() throws {
        for table in layout.tables {
            let number = layout.numbers.numbers[table.root]
            let given = source.entities.first { $0.number == number }?.highest ?? 0
            let highest =
                try source.file.number(
                    "SELECT MAX(Z_PK) FROM \(SQLiteFile.quoted(table.name)) WHERE Z_PK <= \(SourceRows.numbers.upperBound)",
                    at: table.name) ?? 0
            // One that would use up most of all numbers is not to be believed.
            let last = given <= Int64(Int32.max) ? max(given, highest) : highest
            guard let last = UInt32(exactly: last), last > 0 else { continue }
            try store.reserveNumbers(upTo: last, entity: table.root)
        }
    }

    /// The tables, those that objects of others must lead to before those others, as far as that can be.
    private func tableOrder() -> [Int] {
        var order: [Int] = []
        var seen: Set<Int> = []
        func add(_ table: Int) {
            guard seen.insert(table).inserted else { return }
            for (_, slot) in layout.tables[table].links where slot.isMandatory {
                if case .link(_, let target) = slot.kind { add(target) }
            }
            order.append(table)
        }
        for table in layout.tables.indices { add(table) }
        return order
    }

    // MARK: Objects

    private func isRead(_ key: ObjectKey) -> Bool {
        finished.contains(key.table) || key.table == current && key.number <= lastRead
            || takenAlong.contains(key)
    }

    private func bringRows(of table: Int, _ progress: () -> Void) throws {
        current = table
        lastRead = 0
        let statement = try rows.all(of: table)
        var batch: [SourceRow] = []
        var bytes = 0
        while try statement.step() {
            if let number = statement.integer(0) {
                if takenAlong.contains(ObjectKey(table: table, number: number)) { continue }
                lastRead = max(lastRead, number)
            }
            guard let row = rows.read(statement, of: table) else { continue }
            bytes += row.byteCount
            batch.append(row)
            if batch.count >= rowsPerSave || bytes >= bytesPerSave {
                try write(&batch)
                bytes = 0
                progress()
            }
        }
        try write(&batch)
        progress()
        finished.insert(table)
    }

    /// Where a relationship of a batch leads.
    private enum Target {
        case inBatch(Int)
        case stored
        /// It comes later.
        case expected
        case none(String)
    }

    /// Writes a batch, with what its objects must lead to.
    private func write(_ batch: inout [SourceRow]) throws {
        guard !batch.isEmpty else { return }
        var places: [ObjectKey: Int] = [:]
        for (place, row) in batch.enumerated() { places[row.key] = place }
        var next = 0
        while next < batch.count {
            for link in batch[next].links where link.isMandatory {
                guard places[link.target] == nil, !isRead(link.target),
                    try rows.entity(of: link.target) != nil,
                    let row = try rows.row(link.target)
                else { continue }
                takenAlong.insert(row.key)
                places[row.key] = batch.count
                batch.append(row)
            }
            next += 1
        }
        let targets = try batch.map { row in
            try row.links.map { try target(of: $0, from: row, places, batch) }
        }
        let reasons = reasonsToLeaveOut(batch, targets)
        var request = SaveRequest()
        request.author = "cairn import-coredata"
        for (place, row) in batch.enumerated() {
            if let reason = reasons[place] {
                leaveOut(row, reason)
                continue
            }
            request.inserted.append(inserted(row, targets[place], reasons))
            imported[row.entity] += 1
        }
        done += batch.count
        batch.removeAll(keepingCapacity: true)
        try save(request)
    }

    private func leaveOut(_ row: SourceRow, _ reason: String) {
        leftOut.insert(row.key)
        rows.lose(
            .object, layout.schema.entities[row.entity].name, reason,
            rows.uri(row.key, entity: row.entity))
    }

    private func target(
        of link: SourceRow.Link, from row: SourceRow, _ places: [ObjectKey: Int],
        _ batch: [SourceRow]
    ) throws -> Target {
        let place = places[link.target]
        let known = try place.map { batch[$0].entity } ?? rows.entity(of: link.target)
        guard let entity = known else { return .none("there is no such object") }
        let relationship = layout.schema.entities[row.entity].relationships[link.relationship]
        guard layout.schema.entities[relationship.destination].family.contains(entity) else {
            return .none("it refers to an object of another entity")
        }
        if let place { return .inBatch(place) }
        if leftOut.contains(link.target) {
            return .none("it refers to an object that was left out")
        }
        return isRead(link.target) ? .stored : .expected
    }

    /// Why rows cannot be stored: for what they lack themselves, or for what they must lead to. Nil for those that
    /// can.
    private func reasonsToLeaveOut(_ batch: [SourceRow], _ targets: [[Target]]) -> [String?] {
        var reasons = batch.map(\.problem)
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (place, row) in batch.enumerated() where reasons[place] == nil {
                for (link, target) in zip(row.links, targets[place]) where link.isMandatory {
                    let column = layout.schema.entities[row.entity].columns[link.column].name
                    switch target {
                    case .stored: continue
                    case .inBatch(let other) where reasons[other] == nil: continue
                    case .inBatch:
                        reasons[place] =
                            "\(column) is required: it refers to an object that was left out"
                    // What is there has been taken along.
                    case .expected:
                        reasons[place] = "\(column) is required: there is no such object"
                    case .none(let reason): reasons[place] = "\(column) is required: \(reason)"
                    }
                    hasChanged = true
                    break
                }
            }
        }
        return reasons
    }

    private func inserted(_ row: SourceRow, _ targets: [Target], _ reasons: [String?])
        -> SaveRequest.Inserted
    {
        let entity = layout.schema.entities[row.entity]
        var values = row.values
        for (link, target) in zip(row.links, targets) {
            switch target {
            case .stored: values[link.column] = .objectID(id(link.target))
            case .inBatch(let place) where reasons[place] == nil:
                values[link.column] = .objectID(id(link.target))
            // What leads to objects that are left out is told when all of them are known.
            case .inBatch: break
            case .expected: unfinished.insert(row.key.table)
            case .none(let reason) where !leftOut.contains(link.target):
                rows.lose(
                    .reference, "\(entity.name).\(entity.columns[link.column].name)", reason,
                    "\(rows.uri(row.key, entity: row.entity)) (\(link.target.number))")
            case .none: break
            }
        }
        return SaveRequest.Inserted(
            id: id(row.key), entity: row.entity, values: values,
            assigned: ColumnSet(values.indices))
    }

    /// Saves, and says of a conflict which objects it is about.
    func save(_ request: SaveRequest) throws {
        do throws(StoreError) {
            _ = try store.save(request)
        } catch {
            guard error.code == .constraintConflict,
                case .constraint(let violation)? = error.conflicts.first
            else { throw error }
            let entity = layout.schema.entities[violation.entity].name
            let values = violation.values.map { "\($0)" }.joined(separator: ", ")
            throw CoreDataImportError(
                .notUnique,
                "objects have the same \(violation.constraint.joined(separator: ", ")), which must be unique in the model: \(values)",
                at: "\(source.path), \(entity)")
        }
    }

    // MARK: Relationships that had to wait

    /// Reads a table's relationships again, a batch at a time, with the rows as they are stored by now.
    private func readStored(
        _ table: Int, _ body: ([(row: SourceRow, stored: Row)]) throws -> Void
    ) throws {
        let statement = try rows.all(of: table)
        var batch: [SourceRow] = []
        func flush() throws {
            let stored = try store.snapshot().rows(batch.map { id($0.key) })
            try body(zip(batch, stored).compactMap { row, stored in stored.map { (row, $0) } })
            batch.removeAll(keepingCapacity: true)
        }
        while try statement.step() {
            let read = try rows.quietly { () throws(CoreDataImportError) in
                rows.read(statement, of: table, linksOnly: true)
            }
            guard let row = read, !row.links.isEmpty, !leftOut.contains(row.key) else { continue }
            batch.append(row)
            if batch.count >= rowsPerSave { try flush() }
        }
        if !batch.isEmpty { try flush() }
    }

    /// The object that a relationship leads to, if it may lead there and the object is there.
    private func wanted(_ link: SourceRow.Link, _ row: SourceRow) throws -> ObjectID? {
        let relationship = layout.schema.entities[row.entity].relationships[link.relationship]
        guard !leftOut.contains(link.target), let entity = try rows.entity(of: link.target),
            layout.schema.entities[relationship.destination].family.contains(entity)
        else { return nil }
        return id(link.target)
    }

    private func finishLinks(of table: Int) throws {
        try readStored(table) { batch in
            var request = SaveRequest()
            request.author = "cairn import-coredata"
            for (row, stored) in batch {
                let entity = layout.schema.entities[row.entity]
                var changes: [(column: Int, value: Value)] = []
                for link in row.links {
                    if leftOut.contains(link.target) {
                        rows.lose(
                            .reference, "\(entity.name).\(entity.columns[link.column].name)",
                            "it refers to an object that was left out",
                            "\(rows.uri(row.key, entity: row.entity)) (\(link.target.number))")
                        continue
                    }
                    guard stored.cells.value(link.column, of: entity, in: store.identity).isNull,
                        let target = try wanted(link, row)
                    else { continue }
                    changes.append((link.column, .objectID(target)))
                }
                guard !changes.isEmpty else { continue }
                request.updated.append(
                    .init(id: stored.id, entity: row.entity, base: stored, changes: changes))
            }
            if !request.updated.isEmpty { try save(request) }
        }
    }

    // MARK: Comparison

    /// Relationships whose other side is a column too: where the two contradict each other, one of them is lost.
    private func compareLinks() throws {
        for table in layout.tables.indices {
            let concerned = layout.tables[table].links.contains { entity, slot in
                guard case .link(let relationship, _) = slot.kind else { return false }
                return hasPartner(entity, relationship)
            }
            guard concerned else { continue }
            try readStored(table) { batch in
                for (row, stored) in batch {
                    let entity = layout.schema.entities[row.entity]
                    for link in row.links where hasPartner(row.entity, link.relationship) {
                        guard let target = try wanted(link, row),
                            stored.cells.value(link.column, of: entity, in: store.identity)
                                != .objectID(target)
                        else { continue }
                        rows.lose(
                            .reference, "\(entity.name).\(entity.columns[link.column].name)",
                            "the inverse relationship does not match",
                            "\(rows.uri(row.key, entity: row.entity)) (\(link.target.number))")
                    }
                }
            }
        }
    }

    private func hasPartner(_ entity: Int, _ relationship: Int) -> Bool {
        let description = layout.schema.entities[entity].relationships[relationship]
        guard let inverse = description.inverse,
            case .column = layout.schema.entities[description.destination].relationships[inverse]
                .storage
        else { return false }
        return true
    }

    private func compareCounts() throws {
        let snapshot = try store.snapshot()
        for entity in layout.schema.entities {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            let count = try snapshot.count(fetch)
            guard count == imported[entity.index] else {
                throw StoreError(
                    .damaged,
                    "\(count) of \(imported[entity.index]) objects are in the new store",
                    context: .init(entity: entity.name))
            }
        }
    }

    // MARK: What else there is

    private func bringMetadata() throws -> [String] {
        let metadata = source.metadata
        for key in metadata.others {
            rows.lose(.metadata, "Z_METADATA", "\(key) is not a plain value")
        }
        var values = metadata.values
        values[CoreDataImport.identifierKey] = .string(metadata.identifier.uuidString)
        try store.setMetadata(values)
        try store.writeMetadata()
        return metadata.values.keys.sorted()
    }

    private func complete(_ report: inout CoreDataImportReport) throws {
        report.logBytes = source.logBytes
        report.externalValues = rows.externalValues
        for index in layout.numbers.ordered(Array(layout.schema.entities.indices))
        where layout.numbers.numbers[index] != nil {
            let entity = layout.schema.entities[index]
            guard !entity.isAbstract || found[index] > 0 else { continue }
            report.entities.append(
                .init(name: entity.name, found: found[index], imported: imported[index]))
        }
        for (table, column) in layout.unclaimed {
            let count =
                try source.file.number(
                    "SELECT COUNT(\(SQLiteFile.quoted(column))) FROM \(SQLiteFile.quoted(table))",
                    at: table) ?? 0
            guard count > 0 else { continue }
            rows.lose(
                .column, "\(table).\(column)",
                "the model has no property for it; it has \(count) values")
        }
        for table in layout.unclaimedTables {
            let count =
                try source.file.number(
                    "SELECT COUNT(*) FROM \(SQLiteFile.quoted(table))", at: table) ?? 0
            guard count > 0 else { continue }
            rows.lose(
                .column, table,
                "the model has no relationship for it; it has \(count) pairs")
        }
        for problem in layout.problems {
            rows.lose(.skipped, problem.place, "it is left out: \(problem.message)")
        }
        report.losses = rows.losses.losses
        report.remarks += layout.remarks
        let model = layout.schema.model
        report.remarks += Catalog.leftOutIndexes(of: model, in: layout.schema).map {
            "the index \($0.name) of \($0.entity) is not kept: \($0.reason)"
        }
        if !layout.absent.isEmpty {
            report.remarks.append(
                "the store has no objects of \(layout.absent.joined(separator: ", ")): they are of another configuration, or newer than it"
            )
        }
        let transactions = try source.historyCount()
        if transactions > 0 {
            report.remarks.append(
                "Core Data's history is not imported: it has \(transactions) transaction\(transactions == 1 ? "" : "s")"
            )
        }
        if !source.cloudTables.isEmpty {
            report.remarks.append(
                "Core Data's data about iCloud is not imported: \(source.cloudTables.count) tables named ANSCK…"
            )
        }
    }
}
