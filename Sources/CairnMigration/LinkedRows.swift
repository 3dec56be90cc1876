// The links of relationships that a new schema stores differently: references become pairs, pairs references.
//
//   1. Before the state gets the new catalog they are gathered, owner by owner, in the order of ordered ones: 8 bytes each.
//   2. Afterwards rows are written: new pairs, whose numbers rise in that order, so that a list keeps it; and the rows of owners
//      with a reference, to the first of those that an owner had. Lists at the other end keep their order by keys (`CarriedOrder`).
//
// Inverse tables and unique indexes of what is written are filled later, from the blocks.
//
// Threads: within the turn, in one thread.

import CairnFormat
import CairnLog
import CairnModel
import CairnStore

struct LinkedRows {
    /// Pairs to write.
    fileprivate struct BuiltPairs {
        /// The hidden entity of the new catalog.
        let entity: Int
        /// The owner above, the other end below.
        let links: [UInt64]
        /// The lists of which numbers do not keep the order.
        let order: CarriedOrder
        /// Whether those are of both ends, as the relationship is its own inverse; else of the other end.
        let isSymmetric: Bool
    }

    /// A column to be written.
    fileprivate struct BuiltColumn {
        let column: Int
        /// By owner: where it leads.
        var targets: [UInt32: UInt32]
        /// The lists of those that it leads to.
        let order: CarriedOrder
    }

    private var pairs: [BuiltPairs] = []
    /// By entity of the new catalog.
    private var columns: [(entity: Int, columns: [BuiltColumn])] = []

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
            let described = plan.newSchema.pairs[index]
            let isSymmetric = described.isSymmetric(plan.newSchema.entities)
            let ends = plan.newSchema.orderedEnds(of: described)
            var order = CarriedOrder()
            if isSymmetric, !ends.isEmpty {
                order = CarriedOrder(links)
            } else if ends.contains(1) {
                order = try Self.order(atOtherEndOf: migration.origins, old, successor, &builder)
            }
            if isSymmetric || migration.origins.count > 1 || migration.origins[0].isSymmetric {
                // What is known from both sides is one pair.
                var known: Set<UInt64> = []
                links.removeAll { link in
                    let other = OneToOneMatch.turned(link)
                    return !known.insert(isSymmetric ? min(link, other) : link).inserted
                }
            }
            if links.isEmpty { continue }
            pairs.append(
                BuiltPairs(
                    entity: plan.newSchema.entities.count + index, links: links, order: order,
                    isSymmetric: isSymmetric))
        }
        columns = try Self.columns(plan, successor, old, &builder)
    }

    /// What columns lead to that are built. Where a relationship and its inverse lead to one object each, it is matched who keeps
    /// whom; else the first one stays.
    private static func columns(
        _ plan: ModelMigrationPlan, _ successor: CatalogSuccessor, _ old: Catalog,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> [(entity: Int, columns: [BuiltColumn])] {
        let schema = plan.newSchema
        var found: [(entity: Int, built: BuiltColumn)] = []
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
                var order = CarriedOrder()
                if schema.orderedReferences[index].contains(position) {
                    order = try Self.order(atOtherEndOf: column.links, old, successor, &builder)
                }
                found.append(
                    (index, BuiltColumn(column: position, targets: targets, order: order)))
            }
        }
        var partners: [OneToOneMatch.Side: [UInt32: UInt32]] = [:]
        for place in found.indices {
            let (entity, built) = found[place]
            guard let sides = OneToOneMatch.sides(ofColumn: built.column, of: entity, schema)
            else { continue }
            if partners[sides.here] == nil {
                let match = OneToOneMatch(
                    matches[sides.here] ?? [], matches[sides.there] ?? [],
                    isOwnInverse: sides.here == sides.there)
                partners[sides.here] = match.forth
                partners[sides.there] = match.back
            }
            found[place].built.targets = partners[sides.here] ?? [:]
        }
        var columns: [(entity: Int, columns: [BuiltColumn])] = []
        for (entity, built) in found where !built.targets.isEmpty {
            if columns.last?.entity != entity { columns.append((entity, [])) }
            columns[columns.count - 1].columns.append(built)
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

    /// The lists of those that links lead to, as far as the old schema kept them in an order.
    private static func order(
        atOtherEndOf origins: [LinkOrigin], _ old: Catalog, _ successor: CatalogSuccessor,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> CarriedOrder {
        var lists: [UInt64] = []
        for origin in origins {
            let turned = origin.turned(owner: otherEnd(of: origin, old))
            guard keepsOrder(turned, old) else { continue }
            lists += try links(of: turned, old, successor, &builder)
        }
        return CarriedOrder(lists)
    }

    /// The entity, in the old schema, that is at the other end of links.
    private static func otherEnd(of origin: LinkOrigin, _ old: Catalog) -> Int {
        switch origin.form {
        case .column(let holder, let column):
            let entity = old.schema.entities[holder]
            guard origin.ownerIsHolder, let index = entity.columns[column].relationship else {
                return holder
            }
            return entity.relationships[index].destination
        case .pairs(let pairs):
            let described = old.schema.pairs[pairs]
            return origin.ownerIsHolder ? described.destination : described.source
        }
    }

    /// Whether the owners of links had them in an order of their own.
    private static func keepsOrder(_ origin: LinkOrigin, _ old: Catalog) -> Bool {
        let reference: Int?
        switch origin.form {
        case .column(let holder, let column):
            if origin.ownerIsHolder { return false }
            reference = old.reference(ofColumn: column, entity: holder)
        case .pairs(let pairs):
            reference = old.reference(
                ofColumn: origin.ownerIsHolder ? 0 : 1, entity: old.entityIndex(ofPairs: pairs))
        }
        return reference.map { old.references[$0].order != nil } ?? false
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
        for built in pairs { try writePairs(built, &builder, &monitor) }
        for (entity, columns) in columns { try writeColumns(columns, entity, &builder, &monitor) }
    }

    private func writePairs(
        _ built: BuiltPairs, _ builder: inout CommitBuilder, _ monitor: inout MigrationMonitor
    ) throws(StoreError) {
        let stored = builder.catalog.entities[built.entity]
        var rows = BlockFiller(built.entity, builder.catalog, builder.reader.batches)
        try builder.expectNumbers(built.links.count, tree: stored.tree)
        // Numbers rise by one, from the next one on.
        let first = builder.state.nextNumbers[stored.tree]
        let keys = built.keys(from: first)
        for (index, link) in built.links.enumerated() {
            let number = try builder.issueNumber(tree: stored.tree)
            let row = rows.batch.rows
            rows.batch.columns[0].setInteger(Int64(link >> 32), row: row)
            rows.batch.columns[1].setInteger(Int64(link & 0xFFFF_FFFF), row: row)
            for (place, order) in stored.orders.enumerated() {
                if let key = keys[order.reference]?[index] {
                    rows.batch.columns[2 + place].setInteger(key, row: row)
                }
            }
            try builder.add(number, version: 1, to: &rows)
            try monitor.advance(1)
        }
        try builder.finish(&rows)
    }

    /// Writes the rows of an entity that have a target, with all else that they have.
    private func writeColumns(
        _ columns: [BuiltColumn], _ entity: Int, _ builder: inout CommitBuilder,
        _ monitor: inout MigrationMonitor
    ) throws(StoreError) {
        let stored = builder.catalog.entities[entity]
        var built = Set(columns.map(\.column))
        /// By the place of an order key in the row: the keys, by owner.
        var keys: [(place: Int, keys: [UInt32: Int64])] = []
        for (place, order) in stored.orders.enumerated() {
            guard let column = columns.first(where: { $0.column == order.reference }) else {
                continue
            }
            keys.append((stored.columns.count + place, column.keys))
            built.insert(stored.columns.count + place)
        }
        var rows = BlockFiller(entity, builder.catalog, builder.reader.batches)
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
                for column in columns {
                    if let target = column.targets[number] {
                        rows.batch.columns[column.column].setInteger(Int64(target), row: row)
                    } else {
                        rows.batch.columns[column.column].setNil(row: row)
                    }
                }
                for (place, keys) in keys {
                    if let key = keys[number] {
                        rows.batch.columns[place].setInteger(key, row: row)
                    } else {
                        rows.batch.columns[place].setNil(row: row)
                    }
                }
                builder.kill(handle, slot: slot)
                try builder.add(
                    number, version: DirectoryCell.next(versions.number(slot)), to: &rows)
                try monitor.advance(1)
            }
        }
        try builder.finish(&rows)
    }
}

extension LinkedRows.BuiltPairs {
    /// By end: the order keys of the pairs, in their order, if they get the numbers from one on.
    fileprivate func keys(from first: UInt32) -> [Int: [Int64?]] {
        if order.isEmpty { return [:] }
        var rows: [CarriedOrder.Row] = []
        var places: [(end: Int, index: Int)] = []
        for (index, link) in links.enumerated() {
            let (source, target) = (UInt32(link >> 32), UInt32(truncatingIfNeeded: link))
            let number = first + UInt32(index)
            if isSymmetric {
                rows.append(.init(owner: source, member: target, number: number))
                places.append((0, index))
                // A pair of an object with itself stands where its source says.
                if source == target { continue }
            }
            rows.append(.init(owner: target, member: source, number: number))
            places.append((1, index))
        }
        let none = [Int64?](repeating: nil, count: links.count)
        var keys = isSymmetric ? [0: none, 1: none] : [1: none]
        for (place, key) in zip(places, order.keys(rows)) { keys[place.end]?[place.index] = key }
        return keys
    }
}

extension LinkedRows.BuiltColumn {
    /// The order keys of rows, by their numbers.
    fileprivate var keys: [UInt32: Int64] {
        if order.isEmpty { return [:] }
        let rows = targets.map { owner, target in
            CarriedOrder.Row(owner: target, member: owner, number: owner)
        }
        var keys: [UInt32: Int64] = [:]
        for (row, key) in zip(rows, order.keys(rows)) where key != nil { keys[row.number] = key }
        return keys
    }
}
