// Computes derived attributes of the rows that a save writes, and of those that depend on them.
//
//   1. Values that the request or a merge put into derived columns are discarded: they start as they are
//      stored.
//   2. Inserted, deleted and changed rows are noted, with every object that is computed from them: the old
//      and the new object at the other end of a relationship, and the objects whose paths refer to them.
//   3. What is noted is computed from the state after the save: rows of the save with their new values, all
//      others as stored. Rows that the save has not loaded are written immediately (`RecomputedRows`).
//
// A row's own attributes and the timestamp are computed whenever the row is written; attributes derived from
// members only if members were noted, as an owner may have a million of them. Sums, minimums and maximums are
// mostly computed from the stored value and the members that change (`DerivedView.moved`), the others from
// all members. A row that only differs in derived attributes is written as well, with a new version; but it
// was not saved by a user, so its timestamp stays.
//
// Derived attributes never derive from each other (`DerivationReader`), so their order does not matter.
//
// Threads: within the turn, in one thread.

import CairnFileSystem
import CairnModel
package import CairnStore
import FoundationEssentials

extension SavePlanner {
    /// Recomputes the recorded derived attributes, and those that depend on the rows of the save.
    ///
    /// - Parameter isTold: whether the caller wants to know which rows were recomputed.
    package mutating func derive(
        _ noted: consuming StaleDerivations, isTold: Bool, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        for index in rows.indices { resetDerived(index) }
        // What was noted in advance was written before: the old values of those rows are unknown.
        let knowsChanges = noted.attributes.isEmpty
        var stale = noted
        let changed = rows.indices.map { isChanged($0) }
        for index in rows.indices where changed[index] { noteReferences(of: index, &stale) }
        for index in rows.indices where changed[index] { try note(index, &stale, &builder) }
        var view = DerivedView(changed: changed, knowsChanges: knowsChanges)
        try view.takePairs(of: self, &stale, &builder)
        let moment = Date(timeIntervalSinceReferenceDate: builder.tools.clock.now())
        let recomputed = RecomputedRows(isTold: isTold)
        for (key, attributes) in stale.attributes.sorted(by: { $0.key < $1.key }) {
            if let index = workingIndex(tree: key.tree, number: key.number) {
                guard rows[index].fate == .live else { continue }
                rows[index].values = try values(
                    of: rows[index], attributes, at: moment, &view, stale, &builder)
            } else if let row = try storedRow(tree: key.tree, number: key.number, &builder),
                let stored = row.stored
            {
                let values = try values(of: row, attributes, at: moment, &view, stale, &builder)
                if values != row.values {
                    try recomputed.add(row, stored, values, &builder)
                }
            }
        }
        try recomputed.finish(&builder)
        if isTold { self.recomputed = recomputed }
    }

    /// Returns a row's values after computing its derived attributes. Objects of other entities of the
    /// hierarchy may have been noted too: those have no such attribute.
    private func values(
        of row: WorkingRow, _ attributes: ColumnSet, at moment: Date, _ view: inout DerivedView,
        _ stale: StaleDerivations, _ builder: inout CommitBuilder
    ) throws(StoreError) -> [Value] {
        var values = row.values
        for derivation in catalog.schema.derivations.entities[row.entity]
        where attributes.contains(derivation.number) {
            values[derivation.column] = try view.value(
                derivation, of: row, at: moment, in: self, stale, &builder)
        }
        return values
    }

    private mutating func resetDerived(_ index: Int) {
        for derivation in catalog.schema.derivations.entities[rows[index].entity] {
            rows[index].values[derivation.column] =
                rows[index].stored?.values[derivation.column] ?? .null
        }
    }

    /// Whether the save changes a row relative to the stored one.
    private func isChanged(_ index: Int) -> Bool {
        guard let stored = rows[index].stored else { return rows[index].fate == .live }
        return rows[index].fate != .live || rows[index].values != stored.values
    }

    private func noteReferences(of index: Int, _ stale: inout StaleDerivations) {
        let row = rows[index]
        guard catalog.schema.derivations.concerns[row.entity] else { return }
        let (old, new) = (row.stored?.values, row.fate == .live ? row.values : nil)
        for reference in catalog.entities[row.entity].references {
            let column = catalog.references[reference].column
            stale.lead(
                row.number, from: old.flatMap { CommitBuilder.number(of: $0[column]) },
                to: new.flatMap { CommitBuilder.number(of: $0[column]) }, reference: reference)
        }
    }

    /// Notes a row's own derived attributes and everything that is computed from it.
    private func note(
        _ index: Int, _ stale: inout StaleDerivations, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let row = rows[index]
        let old = row.stored?.values
        let new = row.fate == .live ? row.values : nil
        if new != nil {
            let tree = catalog.entities[row.entity].tree
            let own = catalog.schema.derivations.entities[row.entity]
            for derivation in own
            where !derivation.isOfMembers || (old?[derivation.column].isNull ?? true) {
                stale.insert(derivation.number, tree: tree, row.number)
            }
        }
        for watch in catalog.schema.derivations.watches[row.entity] {
            // An inserted or deleted row has changed in every column.
            let isTouched = watch.column.map { old?[$0] != new?[$0] } ?? false
            switch watch.way {
            case .members(let column):
                let before = old.flatMap { CommitBuilder.number(of: $0[column]) }
                let after = new.flatMap { CommitBuilder.number(of: $0[column]) }
                guard isTouched || before != after else { continue }
                let tree = catalog.entities[watch.entity].tree
                if let before { stale.insert(watch.derivation, tree: tree, before) }
                if let after { stale.insert(watch.derivation, tree: tree, after) }
            case .pairs:
                // Pairs that are inserted and deleted with the row are noted separately.
                guard isTouched, old != nil, new != nil else { continue }
                try stale.noteOwners(ofMember: row.number, watch, &builder)
            case .path(let back):
                guard isTouched || old == nil || new == nil else { continue }
                stale.noteStarts(of: back, from: row.number, watch, &builder)
            }
        }
    }
}

/// The state after a save, as far as derived attributes need it.
private struct DerivedView {
    /// By working row: whether the save changes it.
    let changed: [Bool]
    /// Whether the working rows include all changes.
    private let knowsChanges: Bool
    /// Deleted pairs: entity and number.
    private var removed: Set<UInt64> = []
    /// By entity and side: the number of deleted pairs of an object number.
    private var removedCounts: [Int: [UInt32: Int]] = [:]
    /// Inserted pairs: by entity and side, the other ends of an object number.
    private var added: [Int: [UInt32: [UInt32]]] = [:]
    /// The block that was read last: members are mostly stored together.
    private var last: (handle: BlockHandle, block: CachedBlock)?

    init(changed: [Bool], knowsChanges: Bool) {
        self.changed = changed
        self.knowsChanges = knowsChanges
    }

    private static func key(_ entity: Int, _ number: UInt32) -> UInt64 {
        UInt64(entity) << 32 | UInt64(number)
    }

    /// Collects and notes the inserted and deleted pairs.
    mutating func takePairs(
        of plan: SavePlanner, _ stale: inout StaleDerivations, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        // Pairs from which nothing derives are not read.
        let watches = plan.catalog.schema.derivations.pairWatches
        let first = plan.catalog.schema.entities.count
        for (entity, number) in plan.pairRemovals where !watches[entity - first].isEmpty {
            removed.insert(Self.key(entity, number))
            let ends = try builder.pair(entity: entity, number: number)
            removedCounts[entity * 2, default: [:]][ends.0, default: 0] += 1
            removedCounts[entity * 2 + 1, default: [:]][ends.1, default: 0] += 1
            stale.notePair(
                entity: entity, source: ends.0, destination: ends.1, builder.catalog)
        }
        for (entity, source, destination) in plan.pairAdditions
        where !watches[entity - first].isEmpty {
            added[entity * 2, default: [:]][source, default: []].append(destination)
            added[entity * 2 + 1, default: [:]][destination, default: []].append(source)
            stale.notePair(
                entity: entity, source: source, destination: destination, builder.catalog)
        }
    }

    /// Returns the value of a derived attribute of a row.
    mutating func value(
        _ derivation: Derivation, of row: WorkingRow, at moment: Date, in plan: SavePlanner,
        _ stale: StaleDerivations, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Value {
        let value: Value
        switch derivation.source {
        case .now: value = derivation.value(at: moment)
        case .path(let steps, let column, _):
            value = derivation.value(
                of: try end(of: steps, column, from: row, in: plan, &builder))
        case .members(let storage, .count, _):
            value = derivation.value(
                ofCount: try count(storage, of: row, in: plan, stale, &builder))
        case .members(let storage, _, let column):
            guard let column else { return .null }
            if let moved = moved(
                derivation, column, storage, of: row, in: plan, stale, builder.catalog)
            {
                value = moved
                break
            }
            let memberTree = tree(ofMembers: storage, row, builder.catalog)
            var values: [Value] = []
            for member in try members(storage, of: row, in: plan, stale, &builder) {
                values.append(
                    try self.value(memberTree, member, column, in: plan, &builder) ?? .null)
            }
            value = derivation.value(ofMembers: values)
        }
        if let fitted = derivation.fitted(value) { return fitted }
        throw StoreError(derivation, plan.permanentID(row))
    }

    /// Returns the value at the end of a path; nil if the path passes through nil or a missing object.
    private mutating func end(
        of steps: [Derivation.Step], _ column: Int, from row: WorkingRow, in plan: SavePlanner,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> Value {
        guard let first = steps.first else { return row.values[column] }
        var value = row.values[first.column]
        for (place, step) in steps.enumerated() {
            guard let number = CommitBuilder.number(of: value),
                let tree = builder.catalog.entities[step.entity].columns[step.column].target
            else { return .null }
            let next = place + 1 < steps.count ? steps[place + 1].column : column
            value = try self.value(tree, number, next, in: plan, &builder) ?? .null
        }
        return value
    }

    /// Returns the value of a row after the save; nil if the row will not exist.
    private mutating func value(
        _ tree: Int, _ number: UInt32, _ column: Int, in plan: SavePlanner,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> Value? {
        if let index = plan.workingIndex(tree: tree, number: number) {
            guard plan.rows[index].fate == .live, column < plan.rows[index].values.count else {
                return nil
            }
            return plan.rows[index].values[column]
        }
        let cell = builder.state.directories[tree][number]
        if cell.isEmpty {
            builder.tools.partial?.miss(tree: tree, number: number)
            return nil
        }
        let block: CachedBlock
        if let last, last.handle == cell.handle {
            block = last.block
        } else {
            block = try builder.block(cell.handle)
            last = (cell.handle, block)
        }
        let entity = Int(builder.state.blocks.entry(cell.handle).entity)
        return try builder.value(block, cell.slot, entity: entity, column: column)
    }

    // MARK: Members

    private func tree(
        ofMembers storage: SchemaRelationship.Storage, _ row: WorkingRow, _ catalog: Catalog
    ) -> Int {
        switch storage {
        case .inverseColumn(let entity, _): return catalog.entities[entity].tree
        case .pairs(let pairs, let isSource):
            let entity = catalog.entities[catalog.entityIndex(ofPairs: pairs)]
            return entity.columns[isSource ? 1 : 0].target ?? catalog.entities[row.entity].tree
        case .column, .transient: return catalog.entities[row.entity].tree
        }
    }

    private func count(
        _ storage: SchemaRelationship.Storage, of row: WorkingRow, in plan: SavePlanner,
        _ stale: StaleDerivations, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Int {
        // The tables contain the number of rows that refer to an object, as they are stored.
        let catalog = builder.catalog
        switch storage {
        case .inverseColumn(let entity, let column):
            guard let reference = catalog.reference(ofColumn: column, entity: entity),
                catalog.references[reference].entity == entity
            else { break }
            return builder.count(reference: reference, target: row.number)
                - stale.led(to: row.number, reference: reference).count
                + stale.leading(to: row.number, reference: reference).count
        case .pairs(let pairs, let isSource):
            let entity = catalog.entityIndex(ofPairs: pairs)
            let near = isSource ? 0 : 1
            guard !isSymmetric(pairs, catalog),
                let reference = catalog.reference(ofColumn: near, entity: entity)
            else { break }
            return builder.count(reference: reference, target: row.number)
                - (removedCounts[entity * 2 + near]?[row.number] ?? 0)
                + (added[entity * 2 + near]?[row.number]?.count ?? 0)
        case .column, .transient: break
        }
        return try members(storage, of: row, in: plan, stale, &builder).count
    }

    /// Computes an attribute derived from members from the stored value and the members that change: an owner
    /// may have a million others. Returns nil if that is not sufficient: only sums of integers are exact in
    /// any order, and after the minimum or maximum is removed, only all members determine the next one.
    private func moved(
        _ derivation: Derivation, _ column: Int, _ storage: SchemaRelationship.Storage,
        of row: WorkingRow, in plan: SavePlanner, _ stale: StaleDerivations, _ catalog: Catalog
    ) -> Value? {
        guard knowsChanges, let stored = row.stored?.values[derivation.column], !stored.isNull,
            case .members(_, let operation, _) = derivation.source,
            case .inverseColumn(let entity, let referring) = storage,
            let reference = catalog.reference(ofColumn: referring, entity: entity),
            catalog.references[reference].entity == entity,
            case .attribute(let type) = catalog.description(of: entity).columns[column].kind
        else { return nil }
        let tree = catalog.entities[entity].tree
        let old = stale.led(to: row.number, reference: reference).compactMap { number in
            plan.workingIndex(tree: tree, number: number)
                .flatMap { plan.rows[$0].stored?.values[column] }
        }
        let new = stale.leading(to: row.number, reference: reference).compactMap { number in
            plan.workingIndex(tree: tree, number: number).map { plan.rows[$0].values[column] }
        }
        switch operation {
        case .sum where type.isWholeNumber && derivation.type.isWholeNumber:
            guard case .integer(let before) = stored else { return nil }
            var sum = Int128(before)
            for case .integer(let value) in old { sum -= Int128(value) }
            for case .integer(let value) in new { sum += Int128(value) }
            return Int64(exactly: sum).map { .integer($0) }
        case .minimum where type.isWholeNumber && derivation.type.isWholeNumber || type == .date,
            .maximum where type.isWholeNumber && derivation.type.isWholeNumber || type == .date:
            let best = derivation.value(ofMembers: [stored] + new)
            return old.contains(stored) && !new.contains(best) ? nil : best
        default: return nil
        }
    }

    /// Returns the members after the save, in the order of their numbers.
    private func members(
        _ storage: SchemaRelationship.Storage, of row: WorkingRow, in plan: SavePlanner,
        _ stale: StaleDerivations, _ builder: inout CommitBuilder
    ) throws(StoreError) -> [UInt32] {
        let catalog = builder.catalog
        switch storage {
        case .column, .transient: return []
        case .inverseColumn(let entity, let column):
            guard let reference = catalog.reference(ofColumn: column, entity: entity) else {
                return []
            }
            let tree = catalog.entities[entity].tree
            builder.tools.partial?.ask(reference: reference, target: row.number)
            var members = builder.state.sources(of: row.number, entity: entity, column: column)
                .filter { number in
                    guard let index = plan.workingIndex(tree: tree, number: number) else {
                        return true
                    }
                    return !changed[index]
                }
            let family = catalog.family(of: entity)
            members += stale.leading(to: row.number, reference: reference).filter { number in
                plan.workingIndex(tree: tree, number: number).map {
                    family.contains(plan.rows[$0].entity)
                } ?? false
            }
            return members.sorted()
        case .pairs(let pairs, let isSource):
            let entity = catalog.entityIndex(ofPairs: pairs)
            var members: Set<UInt32> = []
            for near in isSymmetric(pairs, catalog) ? [0, 1] : [isSource ? 0 : 1] {
                if let reference = catalog.reference(ofColumn: near, entity: entity) {
                    builder.tools.partial?.ask(reference: reference, target: row.number)
                }
                for pair in builder.state.sources(of: row.number, entity: entity, column: near)
                where !removed.contains(Self.key(entity, pair)) {
                    let ends = try builder.pair(entity: entity, number: pair)
                    members.insert(near == 0 ? ends.1 : ends.0)
                }
                members.formUnion(added[entity * 2 + near]?[row.number] ?? [])
            }
            return members.sorted()
        }
    }

    private func isSymmetric(_ pairs: Int, _ catalog: Catalog) -> Bool {
        for watch in catalog.schema.derivations.pairWatches[pairs] {
            if case .pairs(_, _, let isSymmetric) = watch.way { return isSymmetric }
        }
        return false
    }
}

extension AttributeType {
    fileprivate var isWholeNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64: true
        default: false
        }
    }
}

extension SavePlanner {
    /// Returns the id under which a row is, or will be, stored.
    fileprivate func permanentID(_ row: WorkingRow) -> ObjectID {
        identity.id(UInt64(row.number), entity: catalog.schemaEntity(row.entity))
    }
}

extension StoreError {
    /// The error for a derived value that its attribute cannot hold.
    init(_ derivation: Derivation, _ id: ObjectID? = nil) {
        let names = derivation.element.split(separator: ".", maxSplits: 1).map(String.init)
        self.init(
            .validation,
            "the derivation \"\(derivation.expression)\" gives a value that does not fit the attribute, which is of type "
                + "\(derivation.type.rawValue)",
            context: .init(entity: names.first, key: names.last, objectID: id))
    }
}
