// Writes the changes of a commit to the history.                                               Format 77
//
// As in the notifications for observers, what a commit changed is the difference of two states, so it is
// found in one way whatever made the commit: a save, a batch, pruning.
//
//   1. The directories of each tree are compared page by page: new, changed and deleted objects. If pairs
//      were added or removed, the objects at both ends count as changed. So does the owner of a to-many
//      relationship to which a row now points, or no longer points, or in another position: observers are
//      only notified of the row.
//   2. The columns of the old and the new rows of changed objects are compared: those that differ form the
//      mask. It also has the to-many relationships that are changed by the rows and pairs that point to their
//      owner.
//   3. The values of deleted objects that the model preserves are recorded.
//   4. Objects with the same changes become one entry. Deleted objects that were redirected are in another
//      entry too, with their targets.
//
// So a commit that inserts is recorded without reading its rows, unless they may point to an object that has
// them as members of a relationship.
//
// Invariants: an object is in at most one entry, except for entries that record redirects.
// Threads: used by the holder of the turn alone.

import CairnFormat
import CairnModel
package import CairnStore
import FoundationEssentials
import Synchronization

extension CommitBuilder {
    /// Writes the changes since another state, if there are any, and adds them to the history.
    package mutating func recordHistory(
        since before: HeldState<EngineState>, time: Double, author: String?, contextName: String?
    ) throws(StoreError) {
        // Rows that move do not change.
        if movesRows { return }
        var recorder = HistoryRecorder(before, catalog)
        recorder.compare(with: state)
        try recorder.comparePairs(&self)
        try recorder.touchOwners(&self)
        recorder.addTouched(state)
        if recorder.isEmpty { return }
        var writer = ChangesWriter(
            ChangesPayload.Head(
                commit: number, time: time,
                process: tools.historyProcess?.number ?? HistoryRecorder.process,
                author: author ?? "", context: contextName ?? "",
                program: tools.historyProcess?.program ?? HistoryRecorder.program))
        let start = log.end.offset
        try recorder.write(to: &writer, &self)
        try writer.write(isLast: true, &self)
        let frame = HistoryFrame(place: writer.place, length: log.end.offset - start)
        // The last transaction is looked up here first.
        tools.recordedHistory.withLock { $0 = (number, time) }
        guard state.history.set(number, frame, in: &pages) else {
            throw StoreError(
                .invalidRequest,
                "the history spans more than two billion commits: delete the part that is no longer needed"
            )
        }
    }
}

/// Writes the changes of a commit, one part as soon as it is full.
struct ChangesWriter: ~Copyable {
    private var encoder = ChangesEncoder()
    private let head: ChangesPayload.Head
    /// The frame of the first part.
    private(set) var place = Place.none

    init(_ head: ChangesPayload.Head) { self.head = head }

    mutating func add(
        entity: UInt32, _ operation: ChangesPayload.Operation,
        properties: [ChangesPayload.Property] = [], _ runs: ArraySlice<ClosedRange<UInt64>>,
        cells: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        if encoder.isPartFull { try write(isLast: false, &builder) }
        encoder.add(
            entity: entity, operation, properties: properties,
            runs: runs.map { run in
                UInt32(
                    truncatingIfNeeded: run.lowerBound)...UInt32(
                        truncatingIfNeeded: run.upperBound)
            }, cells: cells)
    }

    /// Appends the added changes as a part.
    mutating func write(isLast: Bool, _ builder: inout CommitBuilder) throws(StoreError) {
        let written = try builder.log.append(.changes, flags: FrameHeader.skippable) {
            writer throws(StoreError) in
            encoder.encodePart(head, isLast: isLast, to: &writer)
        }
        encoder.beginPart()
        if place.isNone { place = written }
    }
}

/// Finds the changes of a commit.
struct HistoryRecorder {
    private let before: HeldState<EngineState>
    private let catalog: Catalog
    /// By entity of the schema.
    private var changes: [EntityChanges]
    /// By tree: to-many relationships of objects, as indexes of their entity's, that rows and pairs have
    /// changed.
    private var touched: [[UInt32: [Int]]]
    private var old = OpenRows()
    private var new = OpenRows()
    /// The columns of rows that are read; nil = all.
    private var openColumns: ColumnSet?

    init(_ before: HeldState<EngineState>, _ catalog: Catalog) {
        self.before = before
        self.catalog = catalog
        changes = catalog.schema.entities.indices.map { EntityChanges(entity: $0) }
        touched = catalog.trees.map { _ in [:] }
    }

    var isEmpty: Bool { changes.allSatisfy(\.isEmpty) }

    /// The number of this process.
    static var process: UInt32 {
        UInt32(bitPattern: ProcessInfo.processInfo.processIdentifier)
    }

    /// The name of the program, truncated to what fits.
    static let program = String(
        decoding: ProcessInfo.processInfo.processName.utf8.prefix(255), as: UTF8.self)

    // MARK: Directories

    /// Compares the places of the rows of all objects.
    mutating func compare(with state: EngineState) {
        for tree in catalog.trees.indices
        where !catalog.entities[catalog.trees[tree].root].isHidden {
            PagedTable.eachDifference(
                before.state.directories[tree].cells.table, state.directories[tree].cells.table
            ) { number, before, after in
                let (old, new) = (DirectoryCell(bits: before), DirectoryCell(bits: after))
                if old.isEmpty {
                    changes[Int(state.blocks.entry(new.handle).entity)].inserted
                        .append(UInt64(number))
                } else if new.isEmpty {
                    changes[Int(self.before.state.blocks.entry(old.handle).entity)].deleted
                        .append(UInt64(number))
                } else if old.version != new.version {
                    changes[Int(state.blocks.entry(new.handle).entity)].updated
                        .append(UInt64(number))
                }
            }
        }
    }

    /// Compares the pairs, whose ends count as changed.
    mutating func comparePairs(_ builder: inout CommitBuilder) throws(StoreError) {
        for tree in catalog.trees.indices {
            let entity = catalog.trees[tree].root
            guard catalog.entities[entity].isHidden else { continue }
            var (gone, come): ([UInt64], [UInt64]) = ([], [])
            PagedTable.eachDifference(
                before.state.directories[tree].cells.table,
                builder.state.directories[tree].cells.table
            ) { _, before, after in
                let (old, new) = (DirectoryCell(bits: before), DirectoryCell(bits: after))
                if old.version == new.version { return }
                if !old.isEmpty { gone.append(before) }
                if !new.isEmpty { come.append(after) }
            }
            let pairs = catalog.schema.pairs[entity - catalog.schema.entities.count]
            // Pairs of one block are read one after another.
            for cell in gone.sorted() {
                try touchEnds(DirectoryCell(bits: cell), entity, pairs, isOld: true, &builder)
            }
            for cell in come.sorted() {
                try touchEnds(DirectoryCell(bits: cell), entity, pairs, isOld: false, &builder)
            }
        }
    }

    private mutating func touchEnds(
        _ cell: DirectoryCell, _ entity: Int, _ pairs: SchemaPairs, isOld: Bool,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let columns = catalog.entities[entity].columns
        let row = try open(cell, entity, isOld: isOld, &builder)
        let ends = [pairs.sourceRelationship, pairs.destinationRelationship]
        for (column, relationship) in ends.enumerated() {
            guard let target = columns[column].target,
                let number = row.reference(column, cell.slot)
            else { continue }
            touch(target, number, relationship, builder)
        }
    }

    /// - Parameter relationship: nil: the object has no inverse relationship of its own.
    private mutating func touch(
        _ tree: Int, _ number: UInt32, _ relationship: Int?, _ builder: borrowing CommitBuilder
    ) {
        if isElsewhere(tree, number, builder), catalog.soleEntity(ofTree: tree) == nil {
            builder.tools.partial?.miss(tree: tree, number: number)
        }
        guard let relationship else {
            if touched[tree][number] == nil { touched[tree][number] = [] }
            return
        }
        if touched[tree][number]?.contains(relationship) == true { return }
        touched[tree][number, default: []].append(relationship)
    }

    /// Counts objects whose relationships were changed by pairs and rows as changed, if they live before and
    /// after.
    fileprivate mutating func addTouched(_ state: EngineState) {
        for (tree, numbers) in touched.enumerated() where !numbers.isEmpty {
            var updated: [Int: [UInt64]] = [:]
            for number in numbers.keys {
                guard
                    let entity = state.entity(ofStaying: number, tree: tree, since: before.state)
                else { continue }
                updated[entity, default: []].append(UInt64(number))
            }
            for (entity, numbers) in updated {
                changes[entity].updated.formUnion(ObjectNumbers(numbers))
            }
        }
    }

    /// Whether an object is in a part of the store that is not here: a whole store has no such objects.
    private func isElsewhere(_ tree: Int, _ number: UInt32, _ builder: borrowing CommitBuilder)
        -> Bool
    {
        before.state.directories[tree][number].isEmpty
            && builder.state.directories[tree][number].isEmpty
    }

    // MARK: To-many relationships

    /// A reference whose targets have its sources as a to-many relationship.
    private struct OwnedReference {
        let column: Int
        /// The tree of the targets.
        let target: Int
        /// The relationship, as an index of the targets' entity's.
        let relationship: Int
        /// The index of its order key among those of the row.
        let order: Int?
        /// Whether its target may not exist.
        let mayDangle: Bool
    }

    /// The references of an entity to objects that have its objects as members.
    private func ownedReferences(_ entity: Int, _ builder: borrowing CommitBuilder)
        -> [OwnedReference]
    {
        let description = catalog.schema.entities[entity]
        let stored = catalog.entities[entity]
        return description.columns.indices.compactMap { index in
            // No object of a tree that was empty before has changed.
            guard let relationship = description.columns[index].relationship,
                let target = stored.columns[index].target,
                before.state.nextNumbers[target] > 1 || builder.tools.partial != nil
            else { return nil }
            let forward = description.relationships[relationship]
            guard let inverse = forward.inverse else { return nil }
            let backward = catalog.schema.entities[forward.destination].relationships[inverse]
            guard case .inverseColumn = backward.storage else { return nil }
            return OwnedReference(
                column: index, target: target, relationship: inverse,
                order: stored.orders.firstIndex { $0.reference == index },
                mayDangle: backward.description.deleteRule == .noAction)
        }
    }

    fileprivate mutating func touchOwners(_ builder: inout CommitBuilder) throws(StoreError) {
        for entity in changes.indices where !changes[entity].isEmpty {
            let references = ownedReferences(entity, builder)
            if references.isEmpty { continue }
            let stored = catalog.entities[entity]
            let tree = stored.tree
            // No other columns of the rows are read here.
            openColumns = ColumnSet(
                references.map(\.column)
                    + references.compactMap { $0.order.map { stored.columns.count + $0 } })
            defer { forgetRows() }
            for number in changes[entity].inserted {
                try touchOwners(references, entity, tree, number, nil, isOld: false, &builder)
            }
            let gone = inReadingOrder(changes[entity].deleted, before.state.directories[tree])
            for number in gone {
                try touchOwners(references, entity, tree, number, nil, isOld: true, &builder)
            }
            let changed = inReadingOrder(
                changes[entity].updated, builder.state.directories[tree])
            for number in changed {
                try touchOwners(references, entity, tree, number, false, isOld: true, &builder)
                try touchOwners(references, entity, tree, number, true, isOld: false, &builder)
            }
        }
    }

    /// Drops the open rows, so that they are reopened with all of their columns.
    private mutating func forgetRows() {
        openColumns = nil
        old = OpenRows()
        new = OpenRows()
    }

    /// Touches the owners of a row, as it was or as it is.
    ///
    /// - Parameter changed: nil: all; otherwise those whose reference or order differs in the other row.
    private mutating func touchOwners(
        _ references: [OwnedReference], _ entity: Int, _ tree: Int, _ number: UInt64,
        _ changed: Bool?, isOld: Bool, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let number = UInt32(truncatingIfNeeded: number)
        let cell =
            isOld ? before.state.directories[tree][number] : builder.state.directories[tree][number]
        let row = try open(cell, entity, isOld: isOld, &builder)
        var other: (row: OpenRows.Rows, slot: Int)?
        if changed != nil {
            let cell =
                isOld
                ? builder.state.directories[tree][number] : before.state.directories[tree][number]
            other = (try open(cell, entity, isOld: !isOld, &builder), cell.slot)
        }
        let columns = catalog.entities[entity].columns.count
        for reference in references {
            guard let owner = row.reference(reference.column, cell.slot) else { continue }
            if let other {
                let isSame =
                    !row.differs(from: other.row, reference.column, cell.slot, other.slot)
                    && reference.order.map {
                        !row.differs(from: other.row, columns + $0, cell.slot, other.slot)
                    } ?? true
                if isSame { continue }
            }
            if isElsewhere(reference.target, owner, builder) {
                // It may not exist.
                if reference.mayDangle {
                    builder.tools.partial?.miss(tree: reference.target, number: owner)
                    continue
                }
            } else if before.state.directories[reference.target][owner].isEmpty
                || builder.state.directories[reference.target][owner].isEmpty
            {
                // New and deleted objects are recorded as such.
                continue
            }
            touch(reference.target, owner, reference.relationship, builder)
        }
    }

    // MARK: Entries

    /// Writes all changes.
    fileprivate mutating func write(
        to writer: inout ChangesWriter, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for entity in changes.indices where !changes[entity].isEmpty {
            let id = catalog.entities[entity].id
            try Self.add(changes[entity].inserted, .insert, [], id, &writer, &builder)
            for (mask, numbers) in try masks(entity, &builder) {
                try Self.add(
                    numbers, .update, catalog.historyProperties(mask, of: entity), id, &writer,
                    &builder)
            }
            try addDeleted(entity, &writer, &builder)
            if !builder.redirected.isEmpty { try addRedirected(entity, &writer, &builder) }
        }
    }

    /// Adds the targets of the deleted objects that were redirected.
    private func addRedirected(
        _ entity: Int, _ writer: inout ChangesWriter, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let stored = catalog.entities[entity]
        let deleted = changes[entity].deleted
        let led = builder.redirected.filter {
            $0.tree == stored.tree && deleted.contains(UInt64($0.number))
        }.sorted { $0.number < $1.number }
        for start in stride(from: 0, to: led.count, by: ChangesEncoder.mostRuns) {
            var numbers = ObjectNumbers()
            var targets = ByteWriter(capacity: 4096)
            for one in led[start..<min(start + ChangesEncoder.mostRuns, led.count)] {
                numbers.append(UInt64(one.number))
                targets.append(one.target)
            }
            try writer.add(
                entity: stored.id, .redirect, numbers.runs[...], cells: targets.bytes, &builder)
        }
    }

    static func add(
        _ numbers: ObjectNumbers, _ operation: ChangesPayload.Operation,
        _ properties: [ChangesPayload.Property], _ entity: UInt32,
        _ writer: inout ChangesWriter, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var rest = numbers.runs[...]
        while !rest.isEmpty {
            try writer.add(
                entity: entity, operation, properties: properties,
                rest.prefix(ChangesEncoder.mostRuns), &builder)
            rest = rest.dropFirst(ChangesEncoder.mostRuns)
        }
    }

    /// Returns numbers in the order in which their rows are stored, grouped by block, if they are scattered:
    /// otherwise each would have its block read and decoded.
    private func inReadingOrder(_ numbers: ObjectNumbers, _ directory: RowDirectory) -> [UInt64] {
        let numbers = Array(numbers)
        var last = BlockHandle.none
        var turns = 0
        for number in numbers {
            let cell = directory[UInt32(truncatingIfNeeded: number)]
            turns += cell.handle == last ? 0 : 1
            last = cell.handle
        }
        // Blocks with few rows alternate as often in any order.
        guard turns > 64, turns > numbers.count / 64 else { return numbers }
        return numbers.map { number in
            (directory[UInt32(truncatingIfNeeded: number)].bits, number)
        }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Changed objects by what was changed: columns, followed by relationships.
    private mutating func masks(_ entity: Int, _ builder: inout CommitBuilder) throws(StoreError)
        -> [(mask: ColumnSet, numbers: ObjectNumbers)]
    {
        var numbers: [ColumnSet: [UInt64]] = [:]
        let stored = catalog.entities[entity]
        let columns = stored.columns.count
        // Usually consecutive objects were changed in the same way.
        var last = ColumnSet()
        var run: [UInt64] = []
        let updated = inReadingOrder(
            changes[entity].updated, builder.state.directories[stored.tree])
        for number in updated {
            let number = UInt32(truncatingIfNeeded: number)
            let from = before.state.directories[stored.tree][number]
            let to = builder.state.directories[stored.tree][number]
            var mask = ColumnSet()
            if from.version != to.version {
                let old = try open(from, entity, isOld: true, &builder)
                let new = try open(to, entity, isOld: false, &builder)
                for column in 0..<columns
                where new.differs(from: old, column, to.slot, from.slot) {
                    mask.insert(column)
                }
                // The position in a list belongs to the reference to its owner.
                for (index, key) in stored.orders.enumerated()
                where new.differs(from: old, columns + index, to.slot, from.slot) {
                    mask.insert(key.reference)
                }
            }
            for relationship in touched[stored.tree][number] ?? [] {
                mask.insert(columns + relationship)
            }
            if mask != last, !run.isEmpty {
                numbers[last, default: []] += run
                run.removeAll(keepingCapacity: true)
            }
            last = mask
            run.append(UInt64(number))
        }
        if !run.isEmpty { numbers[last, default: []] += run }
        // Ordered by the first object of each.
        let masks = numbers.map { (mask: $0.key, numbers: ObjectNumbers($0.value)) }
        return masks.sorted {
            ($0.numbers.runs.first?.lowerBound ?? 0) < ($1.numbers.runs.first?.lowerBound ?? 0)
        }
    }

    private mutating func addDeleted(
        _ entity: Int, _ writer: inout ChangesWriter, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let stored = catalog.entities[entity]
        let kept = catalog.preservedColumns(of: entity)
        let deleted = changes[entity].deleted
        if kept.isEmpty {
            return try Self.add(deleted, .delete, [], stored.id, &writer, &builder)
        }
        let properties = kept.map {
            ChangesPayload.Property(id: stored.columns[$0].propertyID)
        }
        var cells = ByteWriter(capacity: 4096)
        var numbers = ObjectNumbers()
        for number in deleted {
            let cell = before.state.directories[stored.tree][UInt32(truncatingIfNeeded: number)]
            let row = try open(cell, entity, isOld: true, &builder)
            for column in kept { cells.append(cell: row.cell(column, cell.slot)) }
            numbers.append(number)
            if cells.count >= 1 << 20 || numbers.runs.count == ChangesEncoder.mostRuns {
                try writer.add(
                    entity: stored.id, .delete, properties: properties, numbers.runs[...],
                    cells: cells.bytes, &builder)
                numbers = ObjectNumbers()
                cells.reset()
            }
        }
        if numbers.isEmpty { return }
        try writer.add(
            entity: stored.id, .delete, properties: properties, numbers.runs[...],
            cells: cells.bytes, &builder)
    }

    // MARK: Rows

    /// Reads the rows of a cell's block; for the next cell of the same block this costs nothing.
    private mutating func open(
        _ cell: DirectoryCell, _ entity: Int, isOld: Bool, _ builder: inout CommitBuilder
    ) throws(StoreError) -> OpenRows.Rows {
        if let known = isOld ? old.rows(cell.handle) : new.rows(cell.handle) { return known }
        let entry =
            isOld ? before.state.blocks.entry(cell.handle) : builder.state.blocks.entry(cell.handle)
        let block = try builder.block(of: entry)
        let rows = try OpenRows.Rows(block, catalog.entities[entity], only: openColumns)
        if isOld { old.keep(rows, cell.handle) } else { new.keep(rows, cell.handle) }
        return rows
    }
}
