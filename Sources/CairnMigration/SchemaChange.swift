// Migrates a store from one schema to the next, in one commit.                                       ENGINE-NOTES 16
//
//   1. Objects of entities that go leave references to them, and die block by block.
//   2. Who is connected with whom is gathered of relationships that are to be kept otherwise.
//   3. The state gets the new catalog: trees, inverse tables and indexes that serve are taken over as they are, blocks stay
//      where they are and learn the places of their entities in the new catalog.
//   4. The schema frame is written. What follows is of the new schema.
//   5. Columns and pairs are written that are kept otherwise; then inverse tables and unique indexes are filled that are new.
//
// What only changes its name, place or rules costs nothing but the frame: blocks of earlier versions are read as the schema
// has them (Format 70.5).
//
// Invariants: SC1: what is read is what the plan says, before and after compaction. SC2: it is one commit. IX1, RL2 and DR2 hold
// when it ends.
// Threads: within the turn, in one thread; nobody else uses the engine, which is closed afterwards.

import CairnFormat
import CairnLog
import CairnModel
import CairnStore

struct SchemaChange {
    let plan: ModelMigrationPlan
    let successor: CatalogSuccessor
    private let old: Catalog
    var monitor: MigrationMonitor
    /// Keys that have been read from the unchanged rows, by unique index of the new catalog.
    var keys: [Int: KeyPass] = [:]
    /// Whether rows were born or have died, so that what was read before is not what is there.
    private var changesRows = false
    private(set) var removed: [String: Int] = [:]
    /// What a mapping has made of the objects; nil if they stay what they are.
    var content: MappedContent?

    init(
        _ plan: ModelMigrationPlan, from old: Catalog, _ successor: CatalogSuccessor,
        _ monitor: MigrationMonitor
    ) {
        self.plan = plan
        self.old = old
        self.successor = successor
        self.monitor = monitor
    }

    private var new: Catalog { successor.catalog }
    private var entityCount: Int { plan.newSchema.entities.count }

    mutating func run(_ builder: inout CommitBuilder) throws(StoreError) {
        changesRows = builder.hasChanges
        let dropped = successor.droppedEntities.filter { builder.state.counts[$0] > 0 }
        try leaveEntities(dropped, &builder)
        try leaveHierarchies(&builder)
        let links = try LinkedRows(plan, successor, old, &builder)
        try removeEntities(dropped, &builder)
        try builder.settleForAnotherCatalog()
        let fetchIndexes = changesRows || !links.isEmpty ? [] : keptFetchIndexes()
        try enter(&builder, fetchIndexes)
        try builder.writeSchema()
        if let content {
            try content.write(&builder, plan, from: old, &monitor)
            // What is read of it below is not in memory only.
            try builder.settleForAnotherCatalog()
            keys = [:]
        }
        if successor.trees.contains(nil) { try rewriteSplitValues(&builder) }
        if !links.isEmpty {
            try monitor.begin(.relationships, total: links.count)
            try links.write(&builder, &monitor)
            // What is read of it below is not in memory only.
            try builder.settleForAnotherCatalog()
            keys = [:]
        }
        try fillInverseTables(&builder)
        try fillUniqueIndexes(&builder)
        try requireTargets(&builder)
        try derive(&builder)
    }

    // MARK: Derived attributes

    /// How many objects are computed before the next ones are looked for.
    private static let mostDerived = 8_192

    /// Computes the derived attributes that nobody has computed yet.
    private mutating func derive(_ builder: inout CommitBuilder) throws(StoreError) {
        let derivations = plan.newSchema.derivations
        if let refusal = derivations.refusal {
            throw StoreError(
                .migrationFailed, "a derived attribute cannot be computed: \(refusal)")
        }
        for (index, entity) in plan.entities.enumerated() where builder.state.counts[index] > 0 {
            let missing = derivations.entities[index].filter {
                entity.columns[$0.column].origin == .derivation
            }
            if missing.isEmpty { continue }
            try monitor.begin(.deriving, total: builder.state.counts[index])
            let tree = new.entities[index].tree
            let handles = builder.state.blocks.all(ofEntity: index)
            var numbers: [UInt32] = []
            for (position, handle) in handles.enumerated() {
                let entry = builder.state.blocks.entry(handle)
                let cells = try builder.block(handle, isPassing: true).numbers()
                for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                    numbers.append(cells.number(slot))
                }
                guard numbers.count >= Self.mostDerived || position + 1 == handles.count else {
                    continue
                }
                var stale = StaleDerivations()
                for number in numbers {
                    for derivation in missing {
                        stale.insert(derivation.number, tree: tree, number)
                    }
                }
                var planner = SavePlanner(
                    SaveRequest(), catalog: builder.catalog, identity: builder.identity)
                try planner.derive(stale, isTold: false, &builder)
                try monitor.advance(numbers.count)
                numbers.removeAll(keepingCapacity: true)
            }
            try refuseDerivedDuplicates(index, missing.map(\.column), &builder)
        }
    }

    /// Values that were computed must agree with constraints as others do.
    private mutating func refuseDerivedDuplicates(
        _ entity: Int, _ columns: [Int], _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for unique in new.entities[entity].uniques
        where new.uniques[unique].form.watched.contains(where: columns.contains) {
            var pass = KeyPass(
                new, unique: unique, seed: builder.seed, identity: builder.identity
            ) { $0 }
            try pass.run(builder.state, &monitor) { handle throws(StoreError) in
                try builder.block(handle)
            }
            let duplicates = try pass.duplicates(in: builder.state) { handle throws(StoreError) in
                try builder.block(handle)
            }
            if let duplicates { throw MigrationDuplicates.error([duplicates]) }
        }
    }

    // MARK: Entities that go

    private mutating func leaveEntities(_ dropped: [Int], _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        if dropped.isEmpty { return }
        changesRows = true
        keys = [:]
        for entity in dropped where entity < old.schema.entities.count {
            try leaveReferences(to: entity, &builder)
        }
        try builder.settleForAnotherCatalog()
    }

    /// Clears what led to objects of a part of a hierarchy that becomes one of its own, and leads elsewhere from now on.
    private mutating func leaveHierarchies(_ builder: inout CommitBuilder) throws(StoreError) {
        for (entity, source) in successor.entities.enumerated() where entity < entityCount {
            let tree = new.entities[entity].tree
            guard let source, successor.trees[tree] == nil, splitSource(of: tree) != nil,
                builder.state.counts[source] > 0
            else { continue }
            changesRows = true
            keys = [:]
            try leaveReferences(to: source, nowIn: tree, &builder)
            try builder.settleForAnotherCatalog()
        }
    }

    private mutating func removeEntities(_ dropped: [Int], _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        if dropped.isEmpty { return }
        try monitor.begin(
            .removing, total: dropped.reduce(0) { $0 + builder.state.counts[$1] })
        for entity in dropped {
            let count = builder.state.counts[entity]
            try builder.killAll(of: entity)
            if entity < old.schema.entities.count {
                removed[old.entities[entity].name] = count
            }
            try monitor.advance(count)
        }
    }

    /// Clears what leads to the objects of an entity that goes, in rows that stay.
    ///
    /// - Parameter newTree: the tree that they are in from now on; nil: none.
    private func leaveReferences(
        to entity: Int, nowIn newTree: Int? = nil, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let tree = old.entities[entity].tree
        let references = old.references.indices.filter { index in
            let reference = old.references[index]
            guard reference.target == tree else { return false }
            // Rows of an entity that goes need nothing, nor does a column that nobody has any more.
            return old.family(of: reference.entity).contains {
                keeps(reference.column, of: $0, leadingFrom: newTree)
            }
        }
        if references.isEmpty { return }
        var sources: [UInt32] = []
        for handle in builder.state.blocks.all(ofEntity: entity) {
            let entry = builder.state.blocks.entry(handle)
            let numbers = try builder.block(of: entry).numbers()
            for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                let target = numbers.number(slot)
                for reference in references {
                    sources.removeAll(keepingCapacity: true)
                    builder.sources(reference: reference, target: target, into: &sources)
                    for source in sources {
                        try clear(
                            reference, of: source, target: target, nowIn: newTree, &builder)
                    }
                }
            }
        }
    }

    /// Whether rows keep a column, which does not lead into a tree that is new.
    private func keeps(_ column: Int, of entity: Int, leadingFrom newTree: Int?) -> Bool {
        guard let today = successor.entities.firstIndex(of: entity) else { return false }
        let place: Int?
        if today >= entityCount {
            place = plan.pairs[today - entityCount].isTurned ? 1 - column : column
        } else {
            place = plan.entities[today].columns.firstIndex { $0.sourceIndex == column }
        }
        guard let place else { return false }
        return newTree == nil || new.entities[today].columns[place].target != newTree
    }

    private func clear(
        _ reference: Int, of source: UInt32, target: UInt32, nowIn newTree: Int?,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let definition = old.references[reference]
        let tree = old.entities[definition.entity].tree
        guard let entity = builder.entity(tree: tree, number: source),
            keeps(definition.column, of: entity, leadingFrom: newTree)
        else { return }
        // A pair without one of its ends is none.
        if old.entities[entity].isHidden {
            return try builder.delete(tree: tree, number: source)
        }
        guard let row = try builder.storedRow(entity: entity, number: source) else { return }
        var values = row.values
        values[definition.column] = .null
        let pending = builder.replace(entity: entity, number: source, old: row, values: values)
        try builder.write([pending], entity: entity)
    }

    // MARK: The state

    /// The fetch indexes that serve as they are, and their places among the old ones.
    private func keptFetchIndexes() -> [(definition: Catalog.FetchIndexDefinition, source: Int)] {
        new.fetchIndexes.compactMap { definition in
            old.fetchIndexes.firstIndex { serves($0, for: definition) }.map { (definition, $0) }
        }
    }

    private func serves(
        _ before: Catalog.FetchIndexDefinition, for definition: Catalog.FetchIndexDefinition
    ) -> Bool {
        guard before.parts.count == definition.parts.count else { return false }
        let members = definition.family.compactMap { entity in
            successor.entities[entity].map { (entity, $0) }
        }
        let oldMembers = before.family.filter { !old.description(of: $0).isAbstract }
        guard
            Set(members.map(\.1)).filter({ !old.description(of: $0).isAbstract })
                == Set(oldMembers)
        else { return false }
        return zip(before.parts, definition.parts).allSatisfy { before, part in
            before.kind == part.kind && before.isAscending == part.isAscending
                && members.allSatisfy { entity, _ in
                    let column = plan.entities[entity].columns[part.column]
                    return column.keepsValues && column.sourceIndex == before.column
                }
        }
    }

    /// Gives the state the new catalog.
    private func enter(
        _ builder: inout CommitBuilder,
        _ fetchIndexes: [(definition: Catalog.FetchIndexDefinition, source: Int)]
    ) throws(StoreError) {
        let before = (
            directories: builder.state.directories, nextNumbers: builder.state.nextNumbers,
            reserved: builder.state.reserved, uniques: builder.state.uniques,
            inverses: builder.state.inverses, fetchIndexes: builder.state.fetchIndexes,
            counts: builder.state.counts
        )
        let catalog = new
        builder.state.catalog = catalog.indexed(
            by: fetchIndexes.map(\.definition))
        builder.state.directories = []
        builder.state.nextNumbers = []
        builder.state.reserved = []
        for tree in catalog.trees.indices {
            let source = successor.trees[tree] ?? splitSource(of: tree)
            let isSame = successor.trees[tree] != nil
            builder.state.directories.append(
                isSame ? source.map { before.directories[$0] } ?? RowDirectory() : RowDirectory())
            // Objects of a part of a hierarchy keep their numbers in its own.
            builder.state.nextNumbers.append(source.map { before.nextNumbers[$0] } ?? 1)
            builder.state.reserved.append(source.map { before.reserved[$0] } ?? 1)
        }
        builder.state.uniques = successor.uniques.map { source in
            source.map { before.uniques[$0] } ?? UniqueIndex()
        }
        builder.state.inverses = successor.references.map { source in
            source.map { before.inverses[$0] } ?? InverseTable()
        }
        builder.state.fetchIndexes = fetchIndexes.map { before.fetchIndexes[$0.source] }
        builder.state.counts = successor.entities.map { source in
            source.map { before.counts[$0] } ?? 0
        }
        var places = [Int?](repeating: nil, count: old.entities.count)
        for (entity, source) in successor.entities.enumerated() {
            if let source { places[source] = entity }
        }
        builder.state.blocks.moveEntities(to: places, in: &builder.pages)
        try splitTrees(&builder)
        builder.identity = StoreIdentity(
            identifier: builder.identity.identifier,
            hierarchies: catalog.schema.entities.map { entity in
                catalog.trees[catalog.entities[entity.index].tree].id
            })
        builder.hasChanges = true
    }

    /// The old tree of a hierarchy that was a part of it.
    private func splitSource(of tree: Int) -> Int? {
        let root = new.trees[tree].root
        guard root < entityCount,
            let hierarchy = plan.hierarchies.first(where: { $0.root == root }),
            hierarchy.isSplitOff, let source = hierarchy.source
        else { return nil }
        return old.entities[source].tree
    }

    /// Moves the cells of rows whose hierarchy has become one of its own. Large values name the hierarchy of their owner: rows
    /// that may have some are written anew.
    private func splitTrees(_ builder: inout CommitBuilder) throws(StoreError) {
        for tree in new.trees.indices where successor.trees[tree] == nil {
            guard let source = splitSource(of: tree) else { continue }
            let rest = successor.trees.firstIndex(of: source)
            for entity in new.family(of: new.trees[tree].root)
            where successor.entities[entity] != nil {
                for handle in builder.state.blocks.all(ofEntity: entity) {
                    try split(handle, tree, rest, &builder)
                }
            }
        }
    }

    private func split(
        _ handle: BlockHandle, _ tree: Int, _ rest: Int?, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let entry = builder.state.blocks.entry(handle)
        let block = try builder.block(handle, isPassing: true)
        let numbers = try block.numbers()
        let versions = try block.versions()
        for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
            let number = numbers.number(slot)
            builder.state.directories[tree].set(
                number, DirectoryCell(handle: handle, slot: slot, version: versions.number(slot)),
                in: &builder.pages)
            if let rest {
                builder.state.directories[rest].set(number, .empty, in: &builder.pages)
            }
        }
    }

    /// Writes rows anew that may have large values, of hierarchies that have become ones of their own.
    private mutating func rewriteSplitValues(_ builder: inout CommitBuilder) throws(StoreError) {
        for tree in new.trees.indices
        where successor.trees[tree] == nil && splitSource(of: tree) != nil {
            for entity in new.family(of: new.trees[tree].root)
            where successor.entities[entity] != nil {
                var rows = BlockFiller(entity, builder.catalog, builder.reader.batches)
                for handle in builder.state.blocks.all(ofEntity: entity)
                where builder.state.blocks.entry(handle).hasReferences {
                    let entry = builder.state.blocks.entry(handle)
                    let block = try builder.block(handle, isPassing: true)
                    let numbers = try block.numbers()
                    let versions = try block.versions()
                    for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                        for (index, column) in new.entities[entity].allColumns.enumerated() {
                            try rows.batch.columns[index].copyCell(
                                from: block, column, slot, to: rows.batch.rows, isWhole: true)
                        }
                        builder.kill(handle, slot: slot)
                        try builder.add(
                            numbers.number(slot), version: versions.number(slot), to: &rows)
                        keys = [:]
                    }
                }
                try builder.finish(&rows)
            }
        }
        try builder.settleForAnotherCatalog()
    }

    // MARK: Indexes

    private func fillInverseTables(_ builder: inout CommitBuilder) throws(StoreError) {
        for reference in new.references.indices where successor.references[reference] == nil {
            let definition = new.references[reference]
            for entity in new.family(of: definition.entity) {
                let column = new.entities[entity].columns[definition.column]
                for handle in builder.state.blocks.all(ofEntity: entity) {
                    let entry = builder.state.blocks.entry(handle)
                    let block = try builder.block(handle, isPassing: true)
                    guard let cells = try block.column(column) else { continue }
                    let numbers = try block.numbers()
                    for slot in 0..<Int(entry.rows)
                    where entry.isLive(slot) && !cells.isNil(at: slot) {
                        builder.state.inverses[reference].insert(
                            source: numbers.number(slot), target: cells.number(slot),
                            in: &builder.pages)
                    }
                }
            }
        }
    }

    private mutating func fillUniqueIndexes(_ builder: inout CommitBuilder) throws(StoreError) {
        var found: [ConstraintDuplicates] = []
        for unique in new.uniques.indices where successor.uniques[unique] == nil {
            let pass: KeyPass
            if let known = keys[unique] {
                // What nobody may have twice was asked when it was read.
                pass = known
            } else {
                var fresh = KeyPass(
                    new, unique: unique, seed: builder.seed, identity: builder.identity
                ) { $0 }
                try fresh.run(builder.state, &monitor) { handle throws(StoreError) in
                    try builder.block(handle, isPassing: true)
                }
                let duplicates = try fresh.duplicates(in: builder.state) {
                    handle throws(StoreError) in try builder.block(handle)
                }
                if let duplicates {
                    found.append(duplicates)
                    continue
                }
                pass = fresh
            }
            if !found.isEmpty { continue }
            builder.fill(unique, pass.entries)
        }
        if !found.isEmpty { throw MigrationDuplicates.error(found) }
    }

    // MARK: References that must lead somewhere

    private func requireTargets(_ builder: inout CommitBuilder) throws(StoreError) {
        // What a dry run says of it: `LogStore.targetless`.
        var problems: [StoreError] = []
        for (index, entity) in plan.entities.enumerated() {
            guard let source = entity.sourceIndex, builder.state.counts[index] > 0 else { continue }
            let columns = entity.columns.indices.filter { column in
                let description = plan.newSchema.entities[index].columns[column]
                guard description.relationship != nil, !description.isOptional else {
                    return false
                }
                let before = entity.columns[column].sourceIndex
                return changesRows
                    || before.map { plan.oldSchema.entities[source].columns[$0].isOptional } ?? true
            }
            for column in columns {
                if let problem = try missing(column, of: index, &builder) {
                    problems.append(problem)
                }
            }
        }
        guard let first = problems.first else { return }
        throw problems.count == 1
            ? first
            : StoreError(
                .migrationFailed, "objects lack what the new model requires", details: problems)
    }

    /// What is wrong with a column of references that must not be nil.
    private func missing(_ column: Int, of entity: Int, _ builder: inout CommitBuilder)
        throws(StoreError) -> StoreError?
    {
        let stored = new.entities[entity].columns[column]
        var count = 0
        var example: UInt32?
        for handle in builder.state.blocks.all(ofEntity: entity) {
            let entry = builder.state.blocks.entry(handle)
            let block = try builder.block(handle, isPassing: true)
            let cells = try block.column(stored)
            for slot in 0..<Int(entry.rows)
            where entry.isLive(slot) && cells?.isNil(at: slot) ?? true {
                count += 1
                if example == nil { example = try block.numbers().number(slot) }
            }
        }
        guard count > 0, let example else { return nil }
        return TargetlessObjects(
            entity: new.entities[entity].name, property: stored.name, count: count,
            example: builder.identity.id(UInt64(example), entity: entity)
        ).error
    }
}

extension CommitBuilder {
    /// Writes the schema, and says where it is.
    fileprivate mutating func writeSchema() throws(StoreError) {
        let json = try CatalogDocument.encode(catalog)
        guard json.count <= FormatLimits.maximumPayload else {
            throw StoreError(.invalidRequest, "the model is larger than 16 MiB")
        }
        let place = try log.append(.schema) { writer throws(StoreError) in
            json.withUnsafeBytes { writer.append($0) }
        }
        state.catalog = catalog.placed(at: place)
        hasChanges = true
    }

    /// Fills a unique index: half of each hash above, the number below.
    fileprivate mutating func fill(_ unique: Int, _ entries: [UInt64]) {
        state.uniques[unique].reserve(entries.count, in: &pages)
        for entry in entries {
            state.uniques[unique].insert(
                hash: entry >> 32, number: UInt32(truncatingIfNeeded: entry), in: &pages)
        }
    }
}
