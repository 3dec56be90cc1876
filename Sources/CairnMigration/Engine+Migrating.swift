// Migrates an open store to another model.                                                           ENGINE-NOTES 16
//
//   1. Keys of constraints that objects may stand against are read first, so that a store that cannot follow is not touched.
//   2. A segment is begun that says that the store has followed a change of its model (F-719).
//   3. One commit: what is to be done before under the old model, the change itself (`SchemaChange`), and the end of past
//      states, which are of the old model.
//   4. A checkpoint of the new state, so that the next opening reads no more than that.
//
// The engine is of no use afterwards: it is closed, and the store opened with the new model.
//
// Threads: one, which has the store alone in this process; other processes wait for the writer's lock.

import CairnFileSystem
import CairnFormat
import CairnLog
import CairnModel
import CairnStore

/// The effects of a migration, or of a dry run.
struct MigrationResult {
    /// The objects that went with their entities, by the names of these in the old model.
    var removed: [String: Int] = [:]
    /// The commit that did it; nil if nothing was to be done.
    var commit: UInt64?
}

extension Engine {
    /// Leads the store to the new model of a plan.
    ///
    /// - Parameters:
    ///   - prelude: what is saved in the same commit before, under the old model.
    ///   - content: what a mapping has made of the objects, of which none stays; nil if they stay what they are.
    ///   - asksForSpace: whether it is refused if the disk is likely to have too little room.
    func migrate(
        _ plan: ModelMigrationPlan, prelude: [SaveRequest], content: MappedContent? = nil,
        asksForSpace: Bool, _ monitor: MigrationMonitor
    ) throws(StoreError) -> MigrationResult {
        let catalog = registry.read { $0.catalog }
        guard catalog.version < .max else {
            throw .damaged("the schema's version is the last possible one")
        }
        let successor = CatalogSuccessor(of: catalog, plan)
        if let excess = successor.catalog.excess { throw StoreError(.invalidRequest, excess) }
        try refuseLongDefaults(successor.catalog)
        if asksForSpace {
            let bytes =
                if let content { try content.engine.bytesInUse() } else { try bytesToMigrate(plan) }
            try requireSpace(bytes)
        }
        var change = SchemaChange(plan, from: catalog, successor, monitor)
        change.content = content
        if content != nil {
            // There are no keys yet.
        } else if prelude.isEmpty {
            let read = try readKeys(plan, successor, &change.monitor)
            if !read.duplicates.isEmpty { throw MigrationDuplicates.error(read.duplicates) }
            change.keys = read.passes
        } else if prelude.contains(where: { !$0.redirects.isEmpty }) {
            try allowRedirects()
        }
        try allowMigration()
        // What the log has said is issued stays so, also if it is more than the last commit says (F-622).
        let numbers = withTurnAnyway { $0.nextNumbers }
        var result = MigrationResult()
        do throws(StoreError) {
            (_, result.commit) = try commit(author: nil, contextName: nil, isSilent: true) {
                builder throws(StoreError) in
                try builder.save(prelude)
                builder.hasRecordedHistory = true
                let numbers = builder.state.nextNumbers
                do throws(StoreError) {
                    try change.run(&builder)
                    try builder.endPastStates()
                    try change.monitor.begin(.finishing, total: 0)
                } catch {
                    // The engine goes on with the trees that it has.
                    builder.state.nextNumbers = numbers
                    throw error
                }
            }
        } catch {
            // Whatever failed, the engine goes on with the trees that it has.
            withTurnAnyway { turn in
                repair(&turn)
                turn.nextNumbers = numbers
            }
            throw error
        }
        result.removed = change.removed
        // If there is no room for it, the next opening does it.                                     F-723
        try? rollSegment()
        // Without one, opening takes longer: that is all.
        if sizes.checkpointBytes != .max { try? takeCheckpoint() }
        return result
    }

    /// The keys of the constraints of a new schema that objects may stand against, and those that do.
    func readKeys(
        _ plan: ModelMigrationPlan, _ successor: CatalogSuccessor, _ monitor: inout MigrationMonitor
    ) throws(StoreError) -> (passes: [Int: KeyPass], duplicates: [ConstraintDuplicates]) {
        var passes: [Int: KeyPass] = [:]
        var duplicates: [ConstraintDuplicates] = []
        let catalog = successor.catalog
        let pin = registry.pin()
        try reader.withWholeState { () throws(StoreError) in
            for unique in catalog.uniques.indices where successor.uniques[unique] == nil {
                guard successor.canRead(unique, plan) else { continue }
                var pass = KeyPass(
                    catalog, unique: unique, seed: pin.state.hashSeed, identity: identity
                ) { successor.entities[$0] }
                try pass.run(pin.state, &monitor) { handle throws(StoreError) in
                    try reader.passingBlock(pin.state.blocks.entry(handle), in: pin.state)
                }
                let found = try pass.duplicates(in: pin.state) { handle throws(StoreError) in
                    try reader.block(pin.state.blocks.entry(handle), in: pin.state)
                }
                if let found { duplicates.append(found) }
                passes[unique] = pass
            }
        }
        withExtendedLifetime(pin) {}
        return (passes, duplicates)
    }

    /// Each row of older blocks would have such a value in memory.                                    F-717
    private func refuseLongDefaults(_ catalog: Catalog) throws(StoreError) {
        for entity in catalog.entities {
            for column in entity.columns {
                guard let past = column.past else { continue }
                let cells = past.nilValues.map(\.value) + [past.initialValue]
                guard cells.contains(where: { $0.count > FormatLimits.maximumPastCell }) else {
                    continue
                }
                throw StoreError(
                    .migrationFailed,
                    "a default of more than 1 MiB cannot fill an attribute that stored objects lack",
                    context: .init(entity: entity.name, key: column.name))
            }
        }
    }

    /// Refuses a version of the model that the store has left.
    func refuseToLeadBack(to schema: Schema) throws(StoreError) {
        let catalog = registry.read { $0.catalog }
        guard catalog.next.leftVersions.contains(schema.model.versionChecksum) else { return }
        throw StoreError(
            .incompatibleModel,
            "the store was migrated from this version of its model to a later one, and is only migrated back on request, "
                + "because objects lose what the version does not have: \(schema.difference(to: catalog.schema))",
            cause: ModelMismatch(store: catalog.storedModel, model: schema.model))
    }

    private func allowMigration() throws(StoreError) {
        try withLease { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            let flags = turn.segments.current.header.flags
            if flags.incompatible & FeatureFlags.migrated.incompatible != 0 { return }
            try beginSegment(&turn, adding: .migrated)
        }
    }
}

extension CatalogSuccessor {
    /// Whether the keys of a unique index can be read of the rows as they are: they are made of no reference that is kept
    /// otherwise, and of nothing that has to be computed.
    func canRead(_ unique: Int, _ plan: ModelMigrationPlan) -> Bool {
        let definition = catalog.uniques[unique]
        guard definition.entity < catalog.schema.entities.count else { return false }
        return catalog.family(of: definition.entity).allSatisfy { entity in
            guard entities[entity] != nil else { return true }
            return definition.form.watched.allSatisfy { column in
                switch plan.entities[entity].columns[column].origin {
                case .initial, .column: true
                case .links, .derivation: false
                }
            }
        }
    }
}

extension CommitBuilder {
    /// Saves changes as a part of the commit.
    fileprivate mutating func save(_ requests: [SaveRequest]) throws(StoreError) {
        for request in requests {
            var planner = SavePlanner(request, catalog: catalog, identity: identity)
            let conflicts = try planner.plan(&self)
            guard conflicts.isEmpty else { throw StoreError(standingAgainst: conflicts) }
            _ = try SaveWriter.write(planner, &self)
        }
        guard catalog.tracksHistory, hasChanges else { return }
        try recordHistory(
            since: reader.registry.current(), time: tools.clock.now(),
            author: requests.first?.author, contextName: requests.first?.contextName)
    }

    /// States of the old model are not kept: the first that is, is that of this commit.
    fileprivate mutating func endPastStates() throws(StoreError) {
        guard let metadata = catalog.metadata, var settings = metadata.asOf else { return }
        let gone = Set(settings.held.map(\.segment))
        settings.horizon = number
        settings.held = []
        tools.retired.noteRelease(of: gone, lsn: .max)
        try write(
            metadata.values, identifier: metadata.identifier, history: metadata.history,
            asOf: settings)
    }
}

extension StoreError {
    /// What stands against a change that is saved in a migration. Nobody else writes meanwhile: if an object was changed, an earlier
    /// one of the changes did it.
    fileprivate init(standingAgainst conflicts: [SaveConflict]) {
        let error = StoreError.conflicts(conflicts)
        guard error.code == .mergeConflict else {
            self = error
            return
        }
        self.init(
            .migrationFailed,
            "two deduplication requests change the same object, and their order is undefined",
            conflicts: conflicts, cause: error)
    }
}
