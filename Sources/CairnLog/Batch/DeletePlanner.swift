// Deletes objects and applies their delete rules.
//
//   1. Iterates over the objects to delete; each object's rules add more: cascade deletes further objects,
//      nullify clears what refers to it, deny is noted. Each object is processed once, so cycles end.
//   2. A denial stands if the object that denies is not deleted as well, and so does a required reference of
//      a row that stays: then nothing is deleted, and all of them are reported.
//   3. References of rows that stay are cleared.
//   4. Rows and pairs are deleted.
//   5. Attributes that derive from deleted rows are noted; the caller settles them.
//   6. Then `checkKeys`: if nil is a value, or a predicate tests for it, a cleared reference gives its row a
//      key.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

struct DeletePlanner {
    /// What was deleted.
    struct Outcome {
        var requested = 0
        var cascaded = 0
        var numbers: [(entity: Int, number: UInt32)] = []
    }

    private let catalog: Catalog
    private let identity: StoreIdentity
    /// Objects to delete, by tree and number, in the order in which they were found.
    private var order: [(tree: Int, entity: Int, number: UInt32)] = []
    private var doomed: Set<UInt64> = []
    /// Rows whose reference to a deleted object is cleared.
    private var cleared: [UInt64: [Int]] = [:]
    private var denials: [(object: UInt64, by: UInt64, key: String, entity: Int, number: UInt32)] =
        []
    /// Pending work for derived attributes; nil if there are none.
    private let derivations: BatchDerivations?
    /// Rows whose key under a constraint may have changed.
    private var rekeyed: [(tree: Int, number: UInt32, unique: Int)] = []

    /// Whether the outcome lists what was deleted.
    private let listsNumbers: Bool

    /// - Parameter derivations: collects what must be recomputed; nil only if the schema has no derived
    ///   attributes.
    init(
        catalog: Catalog, identity: StoreIdentity, derivations: BatchDerivations?,
        listsNumbers: Bool
    ) {
        self.listsNumbers = listsNumbers
        self.catalog = catalog
        self.identity = identity
        self.derivations = derivations
    }

    private func key(_ tree: Int, _ number: UInt32) -> UInt64 {
        UInt64(tree) << 32 | UInt64(number)
    }

    /// Deletes objects of a tree; ignores those that do not exist.
    mutating func delete(_ numbers: [UInt32], tree: Int, _ builder: inout CommitBuilder)
        throws(StoreError) -> Outcome
    {
        var outcome = Outcome()
        if numbers.count >= Self.many, isWithoutRules(tree) {
            doomAlone(numbers, tree, builder)
            outcome.requested = order.count
        } else {
            for number in numbers { doom(tree, number, &builder) }
            outcome.requested = order.count
            var next = 0
            while next < order.count {
                try applyRules(order[next], &builder)
                next += 1
            }
        }
        outcome.cascaded =
            order.count { $0.entity < catalog.schema.entities.count } - outcome.requested
        try checkBlockers(&builder)
        if let derivations { try noteDerived(derivations, &builder) }
        try clearReferences(&builder)
        if order.count >= Self.many {
            try builder.delete(order)
        } else {
            for row in order { try builder.delete(tree: row.tree, number: row.number) }
        }
        for row in order {
            if row.entity < catalog.schema.entities.count {
                guard listsNumbers else { continue }
                outcome.numbers.append((row.entity, row.number))
            } else {
                // The rows of pairs are not objects and do not count.
                builder.deletedCount -= 1
            }
        }
        return outcome
    }

    /// The objects of a tree, among some, that were deleted in addition to the requested ones.
    func deleted(besides outcome: Outcome, _ tree: Int, among numbers: borrowing NumberSet)
        -> [(entity: Int, number: UInt32)]
    {
        var found: [(entity: Int, number: UInt32)] = []
        for row in order.dropFirst(outcome.requested)
        where row.tree == tree && numbers.contains(row.number) {
            found.append((row.entity, row.number))
        }
        return found
    }

    /// Whether deleting objects of a tree requires no check but that they exist, and no notes about them.
    func needsNoRules(_ tree: Int) -> Bool { derivations == nil && isWithoutRules(tree) }

    /// Deletes the rows that a scan finds, block by block, of a tree that needs no rules.
    func delete(_ runner: FetchRunner, tree: Int, _ builder: inout CommitBuilder) throws(StoreError)
        -> Outcome
    {
        var outcome = Outcome()
        var deletion = BlockwiseDeletion(catalog)
        for entity in runner.family { builder.expectDeletion(of: entity, &deletion) }
        // The scan reads the state before, so rows that die here do not affect the blocks to come.
        try runner.scan { block, entity, slots throws(StoreError) in
            try builder.delete(slots, of: block, tree: tree, &deletion)
            outcome.requested += slots.count
            if listsNumbers { outcome.numbers += deletion.numbers.map { (entity, $0) } }
            return true
        }
        builder.endDeletion(&deletion)
        outcome.numbers.sort { $0.number < $1.number }
        return outcome
    }

    /// The number of rows from which on it pays to process them together.
    private static let many = 16

    /// Whether nothing refers to objects of a tree, and their own relationships have no rules to apply: then
    /// deleting an object affects no other.
    private func isWithoutRules(_ tree: Int) -> Bool {
        !catalog.references.contains { $0.target == tree }
            && !catalog.family(of: catalog.trees[tree].root).contains { entity in
                entity < catalog.schema.entities.count
                    && catalog.schema.entities[entity].relationships.contains {
                        [.cascade, .deny].contains($0.description.deleteRule)
                    }
            }
    }

    /// Adds the objects that exist, each once.
    private mutating func doomAlone(
        _ numbers: [UInt32], _ tree: Int, _ builder: borrowing CommitBuilder
    ) {
        var known = NumberSet()
        // For a few high numbers, a dense set would take a bit for each lower number.
        var scattered: Set<UInt32> = []
        let isDense = Int(numbers.max() ?? 0) / 64 <= numbers.count * 4
        order.reserveCapacity(numbers.count)
        for number in numbers where !(isDense && known.contains(number)) {
            guard let entity = builder.entity(tree: tree, number: number) else { continue }
            if isDense {
                known.insert(number)
            } else if !scattered.insert(number).inserted {
                continue
            }
            order.append((tree, entity, number))
        }
    }

    private mutating func doom(_ tree: Int, _ number: UInt32, _ builder: inout CommitBuilder) {
        guard let entity = builder.entity(tree: tree, number: number),
            doomed.insert(key(tree, number)).inserted
        else { return }
        order.append((tree, entity, number))
    }

    private mutating func applyRules(
        _ row: (tree: Int, entity: Int, number: UInt32), _ builder: inout CommitBuilder
    ) throws(StoreError) {
        // What refers to the row, through any column.
        var sources: [UInt32] = []
        for (position, reference) in catalog.references.enumerated()
        where reference.target == row.tree {
            sources.removeAll(keepingCapacity: true)
            builder.sources(reference: position, target: row.number, into: &sources)
            let tree = catalog.entities[reference.entity].tree
            for source in sources {
                switch reference.rule {
                case .noAction: break
                case .cascade: doom(tree, source, &builder)
                case .nullify: cleared[key(tree, source), default: []].append(reference.column)
                case .deny:
                    denials.append(
                        (
                            key(row.tree, row.number), key(tree, source),
                            relationship(behind: reference), row.entity, row.number
                        ))
                }
            }
        }
        guard row.entity < catalog.schema.entities.count else { return }
        try applyOwnRules(row, &builder)
    }

    /// The name of the relationship whose rule a reference obeys: the inverse.
    private func relationship(behind reference: Catalog.ReferenceDefinition) -> String {
        let entities = catalog.schema.entities
        guard reference.entity < entities.count,
            let way = entities[reference.entity].columns[reference.column].relationship,
            let back = entities[reference.entity].relationships[way].inverse
        else { return catalog.entities[reference.entity].columns[reference.column].name }
        let destination = entities[reference.entity].relationships[way].destination
        return entities[destination].relationships[back].description.name
    }

    /// Applies the rules of the row's own relationships.
    private mutating func applyOwnRules(
        _ row: (tree: Int, entity: Int, number: UInt32), _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let entity = catalog.schema.entities[row.entity]
        for relationship in entity.relationships {
            let rule = relationship.description.deleteRule
            guard rule == .cascade || rule == .deny else { continue }
            let targetTree = catalog.entities[relationship.destination].tree
            for target in try targets(of: relationship, row, &builder) {
                guard builder.entity(tree: targetTree, number: target) != nil else { continue }
                if rule == .cascade {
                    doom(targetTree, target, &builder)
                } else {
                    denials.append(
                        (
                            key(row.tree, row.number), key(targetTree, target),
                            relationship.description.name, row.entity, row.number
                        ))
                }
            }
        }
    }

    private func targets(
        of relationship: SchemaRelationship, _ row: (tree: Int, entity: Int, number: UInt32),
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> [UInt32] {
        switch relationship.storage {
        case .transient, .inverseColumn: return []  // the inverse column's rule says it already
        case .column(let column):
            guard let stored = try builder.storedRow(entity: row.entity, number: row.number) else {
                return []
            }
            return CommitBuilder.number(of: stored.values[column]).map { [$0] } ?? []
        case .pairs(let pairs, let isSource):
            var result: [UInt32] = []
            for (position, reference) in catalog.references.enumerated()
            where reference.entity == catalog.entityIndex(ofPairs: pairs)
                && reference.column == (isSource ? 0 : 1)
            {
                var numbers: [UInt32] = []
                builder.sources(reference: position, target: row.number, into: &numbers)
                for number in numbers {
                    let ends = try builder.pair(entity: reference.entity, number: number)
                    result.append(isSource ? ends.1 : ends.0)
                }
            }
            return result
        }
    }

    // MARK: What stands against it

    /// The maximum number of errors of one kind that are listed.
    private static let mostErrors = 100

    /// Throws if denials stand or required references would become nil, and reports both.
    private func checkBlockers(_ builder: inout CommitBuilder) throws(StoreError) {
        let denials = denialErrors()
        let mandatory = try mandatoryErrors(&builder)
        let errors = denials.told + mandatory.told
        let count = denials.count + mandatory.count
        guard let first = errors.first else { return }
        if count == 1 { throw first }
        let code: StoreError.Code
        var message: String
        if mandatory.count == 0 {
            code = .deleteDenied
            message =
                "objects cannot be deleted: the relationship still has members, and its delete rule is deny"
        } else if denials.count == 0 {
            code = .missingMandatory
            message = "the deletion would leave required relationships nil"
        } else {
            code = .multiple
            message =
                "objects cannot be deleted: a relationship with the delete rule deny still has members, or a required one would become nil"
        }
        if count > errors.count { message += "; \(errors.count) of \(count) are listed" }
        var context = first.context
        context.value = nil
        // If there are several kinds of errors, the context names none of the objects.
        if code == .multiple { context = .init(entity: context.entity) }
        throw StoreError(code, message, context: context, details: errors)
    }

    /// Returns errors for the denials that stand.
    private func denialErrors() -> (told: [StoreError], count: Int) {
        var errors: [StoreError] = []
        var count = 0
        for denial in denials where !doomed.contains(denial.by) {
            count += 1
            guard errors.count < Self.mostErrors else { continue }
            errors.append(
                StoreError(
                    .deleteDenied,
                    "the object cannot be deleted: the relationship still has members, and its delete rule is deny",
                    context: .init(
                        entity: catalog.entities[denial.entity].name, key: denial.key,
                        objectID: identity.id(
                            UInt64(denial.number), entity: catalog.schemaEntity(denial.entity)),
                        value: .objectID(id(denial.by)))))
        }
        return (errors, count)
    }

    /// Returns errors for references that would be cleared but must not be nil.
    private func mandatoryErrors(_ builder: inout CommitBuilder) throws(StoreError)
        -> (told: [StoreError], count: Int)
    {
        var errors: [StoreError] = []
        var count = 0
        for (key, columns) in cleared.sorted(by: { $0.key < $1.key }) where !doomed.contains(key) {
            let number = UInt32(truncatingIfNeeded: key)
            guard let entity = builder.entity(tree: Int(key >> 32), number: number) else {
                continue
            }
            for column in columns
            where !catalog.description(of: entity).columns[column].isOptional {
                count += 1
                guard errors.count < Self.mostErrors else { continue }
                errors.append(
                    StoreError(
                        .missingMandatory, "the deletion would leave a required relationship nil",
                        context: .init(
                            entity: catalog.entities[entity].name,
                            key: catalog.entities[entity].columns[column].name,
                            objectID: identity.id(
                                UInt64(number), entity: catalog.schemaEntity(entity)),
                            value: try target(of: number, entity, column, &builder))))
            }
        }
        return (errors, count)
    }

    /// The target of a reference, as a value; nil if there is none.
    private func target(
        of number: UInt32, _ entity: Int, _ column: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Value? {
        guard let tree = catalog.entities[entity].columns[column].target,
            let stored = try builder.storedRow(entity: entity, number: number),
            let target = CommitBuilder.number(of: stored.values[column])
        else { return nil }
        return .objectID(id(key(tree, target)))
    }

    /// The id of an object that is a member of `doomed`.
    private func id(_ key: UInt64) -> ObjectID {
        identity.id(
            key & 0xFFFF_FFFF, entity: catalog.schemaEntity(catalog.trees[Int(key >> 32)].root))
    }

    // MARK: Derived attributes

    private func noteDerived(_ derivations: BatchDerivations, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        let watchesPairs = catalog.schema.derivations.pairWatches
        for row in order {
            if row.entity < catalog.schema.entities.count {
                try derivations.stale.noteRow(entity: row.entity, number: row.number, &builder)
            } else if !watchesPairs[row.entity - catalog.schema.entities.count].isEmpty {
                let ends = try builder.pair(entity: row.entity, number: row.number)
                derivations.stale.notePair(
                    entity: row.entity, source: ends.0, destination: ends.1, catalog)
            }
        }
    }

    // MARK: References

    private mutating func clearReferences(_ builder: inout CommitBuilder) throws(StoreError) {
        // Written many at a time: a million objects may refer to a single one. Whether a row got the key of
        // another is checked when all are written.
        var pending: [Int: [PendingRows.Row]] = [:]
        for (key, columns) in cleared.sorted(by: { $0.key < $1.key }) where !doomed.contains(key) {
            let tree = Int(key >> 32)
            let number = UInt32(truncatingIfNeeded: key)
            guard let entity = builder.entity(tree: tree, number: number),
                let old = try builder.storedRow(entity: entity, number: number)
            else { continue }
            var values = old.values
            if let derivations {
                for column in columns {
                    derivations.stale.noteReference(
                        entity: entity, number: number, column: column, &builder)
                }
            }
            for column in columns {
                values[column] = .null
            }
            if catalog.hasKeyRules { noteKeys(tree, entity, number, columns) }
            if let derivations, !catalog.schema.derivations.entities[entity].isEmpty {
                derivations.clear(columns, entity: entity, number: number)
                continue
            }
            pending[entity, default: []].append(
                builder.replace(entity: entity, number: number, old: old, values: values))
            if let rows = pending[entity], rows.count >= builder.tools.sizes.rowsPerBlock {
                pending[entity] = nil
                try builder.write(rows, entity: entity)
            }
        }
        for (entity, rows) in pending.sorted(by: { $0.key < $1.key }) {
            try builder.write(rows, entity: entity)
        }
    }

    // MARK: Keys

    /// Notes the constraints with options that involve cleared columns.
    private mutating func noteKeys(_ tree: Int, _ entity: Int, _ number: UInt32, _ columns: [Int]) {
        for unique in catalog.entities[entity].uniques where !catalog.uniques[unique].isPlain {
            let watched = catalog.uniques[unique].form.watched
            if columns.contains(where: watched.contains) { rekeyed.append((tree, number, unique)) }
        }
    }

    /// Throws if a deletion leaves two objects with one key. To be called when everything is written.
    func checkKeys(_ builder: inout CommitBuilder) throws(StoreError) {
        for row in rekeyed {
            guard try builder.hasRow(tree: row.tree, row.number),
                let rival = try builder.rival(of: row.number, unique: row.unique),
                let entity = builder.entity(tree: row.tree, number: row.number)
            else { continue }
            let unique = catalog.uniques[row.unique]
            func id(_ number: UInt32) -> ObjectID {
                identity.id(UInt64(number), entity: catalog.schemaEntity(entity))
            }
            throw StoreError(
                .constraintConflict, "the deletion would leave two objects with the same key",
                context: .init(
                    entity: catalog.entities[entity].name,
                    key: unique.names.joined(separator: ", "), objectID: id(row.number),
                    detail: "the other one is \(id(rival)) (\(unique.words))"))
        }
    }
}
