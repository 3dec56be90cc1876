// Who is connected with whom by relationships that a new schema keeps otherwise: references become pairs, pairs references.
//
//   1. Before the state gets the new catalog they are gathered, owner by owner, in the order of ordered ones: 8 bytes each.
//   2. Afterwards rows are written: new pairs, whose numbers rise in that order, so that a list keeps it; and the rows of owners
//      with a reference, to the first of those that an owner had.
//
// Inverse tables and unique indexes of what is written are filled later, from the blocks.
//
// Threads: within the turn, in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct LinkedRows {
    /// By hidden entity of the new catalog: the owner above, the other end below.
    private var pairs: [(entity: Int, links: [UInt64])] = []
    /// By entity of the new catalog: the columns to be written, and what leads where.
    private var columns: [(entity: Int, columns: [(column: Int, targets: [UInt32: UInt32])])] = []

    var isEmpty: Bool { pairs.isEmpty && columns.isEmpty }

    /// How many rows are to be written, about.
    var count: Int {
        pairs.reduce(0) { $0 + $1.links.count }
            + columns.reduce(0) { $0 + ($1.columns.map(\.targets.count).max() ?? 0) }
    }

    init(
        _ plan: ModelMigrationPlan, _ successor: CatalogSuccessor, _ old: Catalog,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for (index, migration) in plan.pairs.enumerated()
        where migration.kept == nil && !migration.origins.isEmpty {
            var links: [UInt64] = []
            for origin in migration.origins {
                links += try Self.links(of: origin, old, successor, &builder)
            }
            let isSymmetric = plan.newSchema.pairs[index].isSymmetric(plan.newSchema.entities)
            if isSymmetric || migration.origins.count > 1 || migration.origins[0].isSymmetric {
                // What is known from both sides is one pair.
                var known: Set<UInt64> = []
                links.removeAll { link in
                    let other = OneToOneMatch.turned(link)
                    return !known.insert(isSymmetric ? min(link, other) : link).inserted
                }
            }
            if !links.isEmpty { pairs.append((plan.newSchema.entities.count + index, links)) }
        }
        columns = try Self.columns(plan, successor, old, &builder)
    }

    /// What columns lead to that are built. Where a relationship and its inverse lead to one object each, it is matched who keeps
    /// whom; else the first one stays.
    private static func columns(
        _ plan: ModelMigrationPlan, _ successor: CatalogSuccessor, _ old: Catalog,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> [(entity: Int, columns: [(column: Int, targets: [UInt32: UInt32])])] {
        let schema = plan.newSchema
        var found: [(entity: Int, column: Int, targets: [UInt32: UInt32])] = []
        var matches: [OneToOneMatch.Side: [UInt64]] = [:]
        for (index, entity) in plan.entities.enumerated() where entity.sourceIndex != nil {
            for (position, column) in entity.columns.enumerated() where column.origin == .links {
                var links: [UInt64] = []
                for origin in column.links {
                    links += try Self.links(of: origin, old, successor, &builder)
                }
                var targets: [UInt32: UInt32] = [:]
                if let sides = OneToOneMatch.sides(ofColumn: position, of: index, schema) {
                    matches[sides.here, default: []] += links
                } else {
                    for link in links {
                        let owner = UInt32(truncatingIfNeeded: link >> 32)
                        if targets[owner] == nil {
                            targets[owner] = UInt32(truncatingIfNeeded: link)
                        }
                    }
                }
                found.append((index, position, targets))
            }
        }
        var partners: [OneToOneMatch.Side: [UInt32: UInt32]] = [:]
        for place in found.indices {
            let (entity, column, _) = found[place]
            guard let sides = OneToOneMatch.sides(ofColumn: column, of: entity, schema) else {
                continue
            }
            if partners[sides.here] == nil {
                let match = OneToOneMatch(
                    matches[sides.here] ?? [], matches[sides.there] ?? [],
                    isOwnInverse: sides.here == sides.there)
                partners[sides.here] = match.forth
                partners[sides.there] = match.back
            }
            found[place].targets = partners[sides.here] ?? [:]
        }
        var columns: [(entity: Int, columns: [(column: Int, targets: [UInt32: UInt32])])] = []
        for built in found where !built.targets.isEmpty {
            if columns.last?.entity != built.entity { columns.append((built.entity, [])) }
            columns[columns.count - 1].columns.append((built.column, built.targets))
        }
        return columns
    }

    // MARK: Gathering

    /// The links of a relationship as the old schema kept it, by owner, each owner's in their order: those between objects that
    /// stay.
    private static func links(
        of origin: LinkOrigin, _ old: Catalog, _ successor: CatalogSuccessor,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> [UInt64] {
        var links: [UInt64] = []
        let owners = old.schema.entities[origin.owner].family.filter {
            successor.entities.contains($0)
        }
        let tree = targetTree(of: origin, old)
        let mayGo = successor.droppedEntities.contains { old.entities[$0].tree == tree }
        for entity in owners where builder.state.counts[entity] > 0 {
            for handle in builder.state.blocks.all(ofEntity: entity) {
                let entry = builder.state.blocks.entry(handle)
                let block = try builder.block(handle)
                let numbers = try block.numbers()
                for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                    let owner = numbers.number(slot)
                    for target in try targets(of: owner, entity, block, slot, origin, old, &builder)
                    {
                        if mayGo {
                            guard let entity = builder.entity(tree: tree, number: target),
                                successor.entities.contains(entity)
                            else { continue }
                        }
                        links.append(UInt64(owner) << 32 | UInt64(target))
                    }
                }
            }
        }
        // Pairs get numbers by owner: lists without keys stand in the order of numbers.
        return links.enumerated().sorted {
            ($0.element >> 32, $0.offset) < ($1.element >> 32, $1.offset)
        }.map(\.element)
    }

    /// The hierarchy that the other ends are in.
    private static func targetTree(of origin: LinkOrigin, _ old: Catalog) -> Int {
        switch origin.form {
        case .column(let holder, let column):
            guard origin.ownerIsHolder else { return old.entities[holder].tree }
            return old.entities[holder].columns[column].target ?? old.entities[holder].tree
        case .pairs(let pairs):
            let entity = old.entities[old.entityIndex(ofPairs: pairs)]
            return entity.columns[origin.ownerIsHolder ? 1 : 0].target ?? entity.tree
        }
    }

    private static func targets(
        of owner: UInt32, _ entity: Int, _ block: CachedBlock, _ slot: Int, _ origin: LinkOrigin,
        _ old: Catalog, _ builder: inout CommitBuilder
    ) throws(StoreError) -> [UInt32] {
        switch origin.form {
        case .column(_, let column) where origin.ownerIsHolder:
            guard let cells = try block.column(old.entities[entity].columns[column]),
                !cells.isNil(at: slot)
            else { return [] }
            return [cells.number(slot)]
        case .column(let holder, let column):
            let sources = builder.state.sources(of: owner, entity: holder, column: column)
            return try builder.state.sorted(sources, entity: holder, column: column) {
                handle throws(StoreError) in try builder.block(handle)
            }
        case .pairs(let pairs):
            let near = origin.ownerIsHolder ? 0 : 1
            return try builder.state.orderedEnds(
                pairs, near: origin.isSymmetric ? [0, 1] : [near], of: owner
            ) { handle throws(StoreError) in try builder.block(handle) }
        }
    }

    // MARK: Writing

    func write(_ builder: inout CommitBuilder, _ monitor: inout MigrationMonitor)
        throws(StoreError)
    {
        for (entity, links) in pairs { try writePairs(links, entity, &builder, &monitor) }
        for (entity, columns) in columns { try writeColumns(columns, entity, &builder, &monitor) }
    }

    private func writePairs(
        _ links: [UInt64], _ entity: Int, _ builder: inout CommitBuilder,
        _ monitor: inout MigrationMonitor
    ) throws(StoreError) {
        let tree = builder.catalog.entities[entity].tree
        var rows = WrittenRows(entity, builder)
        try builder.expectNumbers(links.count, tree: tree)
        for link in links {
            let number = try builder.issueNumber(tree: tree)
            rows.batch.columns[0].setInteger(Int64(link >> 32), row: rows.batch.rows)
            rows.batch.columns[1].setInteger(Int64(link & 0xFFFF_FFFF), row: rows.batch.rows)
            try rows.add(number, version: 1, &builder)
            try monitor.advance(1)
        }
        try rows.finish(&builder)
    }

    /// Writes the rows of an entity that have a target, with all else that they have.
    private func writeColumns(
        _ columns: [(column: Int, targets: [UInt32: UInt32])], _ entity: Int,
        _ builder: inout CommitBuilder, _ monitor: inout MigrationMonitor
    ) throws(StoreError) {
        let stored = builder.catalog.entities[entity]
        let built = Set(columns.map(\.column))
        var rows = WrittenRows(entity, builder)
        // Those that are written meanwhile are none of these.
        for handle in builder.state.blocks.all(ofEntity: entity) {
            let entry = builder.state.blocks.entry(handle)
            let block = try builder.block(handle, isPassing: true)
            let numbers = try block.numbers()
            let versions = try block.versions()
            for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                let number = numbers.number(slot)
                guard columns.contains(where: { $0.targets[number] != nil }) else { continue }
                let row = rows.batch.rows
                for (index, column) in stored.allColumns.enumerated() where !built.contains(index) {
                    try rows.batch.columns[index].copyCell(
                        from: block, column, slot, to: row)
                }
                for (column, targets) in columns {
                    if let target = targets[number] {
                        rows.batch.columns[column].setInteger(Int64(target), row: row)
                    } else {
                        rows.batch.columns[column].setNil(row: row)
                    }
                }
                builder.kill(handle, slot: slot)
                try rows.add(number, version: DirectoryCell.next(versions.number(slot)), &builder)
                try monitor.advance(1)
            }
        }
        try rows.finish(&builder)
    }
}

/// Rows of an entity on their way into blocks.
struct WrittenRows {
    let batch: ColumnBatch
    private let entity: Int
    private var selection: [UInt16] = []
    private var numbers: [UInt32] = []
    private var versions: [UInt32] = []

    init(_ entity: Int, _ builder: borrowing CommitBuilder) {
        self.entity = entity
        batch = builder.engine.batches.takeWhole(entity, builder.state.catalog)
    }

    /// Counts the row that was put into the batch behind the others, and writes them if a block takes no more.
    mutating func add(_ number: UInt32, version: UInt32, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        selection.append(UInt16(batch.rows))
        numbers.append(number)
        versions.append(version)
        batch.rows += 1
        guard
            batch.rows == builder.engine.sizes.rowsPerBlock
                || batch.byteCount > builder.engine.sizes.bytesPerBlock
        else { return }
        try write(&builder)
    }

    private mutating func write(_ builder: inout CommitBuilder) throws(StoreError) {
        if batch.rows == 0 { return }
        try builder.closeBlock(
            builder.openBlock(entity: entity), entity: entity, batch: batch, selection: selection,
            numbers: numbers, versions: versions)
        batch.reset()
        selection.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        versions.removeAll(keepingCapacity: true)
    }

    mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        try write(&builder)
        builder.engine.batches.give(batch)
    }
}
