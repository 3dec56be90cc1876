// Relationships that a batch sets after all of its rows: to-many ones, and those to-one ones whose inverse
// must be updated too.
//
//   1. Rows are applied one after another, in their order, to rows as a save would load them: a member gets
//      or loses its owner, partners of one-to-one relationships are released, pairs are noted.
//   2. Then the rest of a save follows: references are made consistent, then pairs, derived attributes and
//      order keys; and everything is written.
//   3. This is done in portions that fit into memory. The caller checks, when all is written, whether members
//      have lost a required owner, and whether keys are shared.
//
// A list that equals what is stored loads no row and writes none.
//
// Invariants: rows, pairs and orders that are not written yet count as if they were stored.
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

struct LateLinks {
    /// The side of a relationship that refers to an owner.
    private struct Side: Hashable {
        let reference: Int
        let owner: UInt32
    }

    /// A pair, by its index in the schema; with sorted ends if it has no direction.
    private struct Pair: Hashable, Comparable {
        let pairs: Int
        let source: UInt32
        let destination: UInt32

        static func < (one: Pair, other: Pair) -> Bool {
            (one.pairs, one.source, one.destination)
                < (other.pairs, other.source, other.destination)
        }
    }

    /// The order of a list.
    private struct Order {
        let owner: ObjectID
        let entity: Int
        let relationship: Int
        var members: [ObjectID] = []
        /// Whether these are all members; else they are appended.
        var isWhole = false
    }

    /// A row whose key changed, and the row of the request that caused it.
    struct MovedKey {
        let entity: Int
        let number: UInt32
        let unique: Int
        let hash: UInt64
        let row: Int
    }

    /// A row that lost the target of a required relationship.
    struct Loosened {
        let entity: Int
        let number: UInt32
        let column: Int
        let row: Int
    }

    private let catalog: Catalog
    private let identity: StoreIdentity
    private let entity: SchemaEntity
    private var planner: SavePlanner
    /// Whether a pair is to exist.
    private var pairs: [Pair: Bool] = [:]
    /// Members that may have been added to a side.
    private var arrivals: [Side: [UInt32]] = [:]
    private var orders: [Side: Order] = [:]
    private var sides: [Side] = []
    /// By row of the planner: the last row of the request that changed it.
    private var causes: [Int: Int] = [:]
    private(set) var movedKeys: [MovedKey] = []
    private(set) var loosened: [Loosened] = []

    /// The maximum number of rows, pairs and lists that are written at a time.
    private static let most = 16_384

    init(_ entity: SchemaEntity, _ catalog: Catalog, _ identity: StoreIdentity) {
        self.entity = entity
        self.catalog = catalog
        self.identity = identity
        planner = Self.planner(catalog, identity)
    }

    private static func planner(_ catalog: Catalog, _ identity: StoreIdentity) -> SavePlanner {
        var planner = SavePlanner(SaveRequest(), catalog: catalog, identity: identity)
        planner.isPartOfBatch = true
        return planner
    }

    private func id(_ number: UInt32, _ entity: Int) -> ObjectID {
        identity.id(UInt64(number), entity: entity)
    }

    // MARK: To-one relationships

    /// Sets a to-one relationship to an object, or to nil. Returns whether it changed.
    mutating func lead(
        _ number: UInt32, _ column: Int, to target: UInt32?, row: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> Bool {
        guard let index = try planner.meet(entity: entity.index, number: number, &builder),
            let relationship = entity.columns[column].relationship.map({ entity.relationships[$0] })
        else { return false }
        let destination = relationship.destination
        let value: Value = target.map { .objectID(id($0, destination)) } ?? .null
        if planner.rows[index].values[column] == value { return false }
        causes[index] = row
        let back = planner.backColumn(of: column, planner.rows[index].entity)
        if back != nil { try planner.releasePartner(of: index, column, &builder) }
        planner.rows[index].values[column] = value
        guard let target else { return true }
        if let back {
            guard let other = try planner.meet(entity: destination, number: target, &builder)
            else { return true }
            causes[other] = row
            try planner.releasePartner(of: other, back, &builder)
            planner.rows[other].values[back] = .objectID(id(number, entity.index))
            // If the relationship is its own inverse, the released partner may have been this object.
            planner.rows[index].values[column] = value
        } else if let list = relationship.inverse,
            let reference = catalog.reference(
                of: catalog.schema.entities[destination].relationships[list])
        {
            let side = Side(reference: reference, owner: target)
            arrivals[side, default: []].append(number)
            if catalog.references[reference].order != nil {
                come([id(number, entity.index)], to: side, destination, list)
            }
        }
        return true
    }

    // MARK: To-many relationships

    /// Sets the members of a to-many relationship, or adds some. Returns whether they changed.
    mutating func set(
        _ relationship: Int, of number: UInt32, to members: [UInt32], replaces: Bool, row: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> Bool {
        let description = entity.relationships[relationship]
        guard let reference = catalog.reference(of: description) else { return false }
        let side = Side(reference: reference, owner: number)
        let came: [UInt32]
        var isChanged: Bool
        switch description.storage {
        case .inverseColumn(let entity, let column):
            (came, isChanged) = try setColumn(
                column, entity, side, members, replaces: replaces, row: row, &builder)
        case .pairs(let pairs, let isSource):
            (came, isChanged) = try setPairs(
                pairs, isSource: isSource, side, members, replaces: replaces, &builder)
        case .column, .transient: return false
        }
        guard catalog.references[reference].order != nil else { return isChanged }
        if replaces {
            if !isChanged, orders[side] == nil {
                isChanged = try storedOrder(side, description, &builder) != members
                if !isChanged { return false }
            }
            if orders[side] == nil { sides.append(side) }
            orders[side] = Order(
                owner: id(number, entity.index), entity: entity.index, relationship: relationship,
                members: members.map { id($0, description.destination) }, isWhole: true)
        } else if !came.isEmpty {
            come(came.map { id($0, description.destination) }, to: side, entity.index, relationship)
        }
        return isChanged
    }

    /// Appends members to a list.
    private mutating func come(
        _ members: [ObjectID], to side: Side, _ entity: Int, _ relationship: Int
    ) {
        if orders[side] == nil {
            sides.append(side)
            orders[side] = Order(
                owner: id(side.owner, entity), entity: entity, relationship: relationship)
        }
        let new = Set(members)
        orders[side]?.members.removeAll(where: new.contains)
        orders[side]?.members += members
    }

    /// Sets members that refer to their owner by a column.
    private mutating func setColumn(
        _ column: Int, _ members: Int, _ side: Side, _ wanted: [UInt32], replaces: Bool, row: Int,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> (came: [UInt32], isChanged: Bool) {
        let tree = catalog.entities[members].tree
        var stored: [UInt32] = []
        builder.sources(reference: side.reference, target: side.owner, into: &stored)
        var isChanged = false
        if replaces {
            let staying = Set(wanted)
            for number in stored + (arrivals[side] ?? []) where !staying.contains(number) {
                guard let index = try planner.meet(entity: members, number: number, &builder),
                    CommitBuilder.number(of: planner.rows[index].values[column]) == side.owner
                else { continue }
                planner.rows[index].values[column] = .null
                causes[index] = row
                isChanged = true
            }
        }
        let known = Set(stored)
        var came: [UInt32] = []
        for number in wanted {
            // It is a member already, and no row has removed it.
            if known.contains(number), planner.workingIndex(tree: tree, number: number) == nil {
                continue
            }
            guard let index = try planner.meet(entity: members, number: number, &builder),
                CommitBuilder.number(of: planner.rows[index].values[column]) != side.owner
            else { continue }
            planner.rows[index].values[column] = .objectID(id(side.owner, entity.index))
            causes[index] = row
            came.append(number)
        }
        if !came.isEmpty { arrivals[side, default: []] += came }
        return (came, isChanged || !came.isEmpty)
    }

    /// Sets members that are stored as pairs.
    private mutating func setPairs(
        _ pairs: Int, isSource: Bool, _ side: Side, _ wanted: [UInt32], replaces: Bool,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> (came: [UInt32], isChanged: Bool) {
        let hidden = catalog.entityIndex(ofPairs: pairs)
        let isSymmetric = planner.isSymmetric(hidden)
        let owner = side.owner
        func pair(_ member: UInt32) -> Pair {
            let (source, destination) = isSource ? (owner, member) : (member, owner)
            return isSymmetric && source > destination
                ? Pair(pairs: pairs, source: destination, destination: source)
                : Pair(pairs: pairs, source: source, destination: destination)
        }
        var known: Set<UInt32> = []
        for (member, _) in try storedPairs(side, &builder) where self.pairs[pair(member)] != false {
            known.insert(member)
        }
        for member in arrivals[side] ?? [] where self.pairs[pair(member)] == true {
            known.insert(member)
        }
        var isChanged = false
        if replaces {
            let staying = Set(wanted)
            for member in known where !staying.contains(member) {
                self.pairs[pair(member)] = false
                isChanged = true
            }
        }
        let column = catalog.references[side.reference].column
        let other =
            isSymmetric
            ? side.reference : catalog.reference(ofColumn: 1 - column, entity: hidden)
        var came: [UInt32] = []
        for member in wanted where known.insert(member).inserted {
            self.pairs[pair(member)] = true
            came.append(member)
            if let other {
                arrivals[Side(reference: other, owner: member), default: []].append(owner)
            }
        }
        if !came.isEmpty { arrivals[side, default: []] += came }
        return (came, isChanged || !came.isEmpty)
    }

    // MARK: What is stored

    /// The members of a side that are stored as pairs, with the numbers of the pairs.
    private func storedPairs(_ side: Side, _ builder: inout CommitBuilder) throws(StoreError)
        -> [(member: UInt32, pair: UInt32)]
    {
        let definition = catalog.references[side.reference]
        var members: [(member: UInt32, pair: UInt32)] = []
        var numbers: [UInt32] = []
        func add(_ reference: Int, _ column: Int) throws(StoreError) {
            numbers.removeAll(keepingCapacity: true)
            builder.sources(reference: reference, target: side.owner, into: &numbers)
            for number in numbers {
                let ends = try builder.pair(entity: definition.entity, number: number)
                members.append((column == 0 ? ends.1 : ends.0, number))
            }
        }
        try add(side.reference, definition.column)
        if planner.isSymmetric(definition.entity),
            let mirrored = catalog.reference(
                ofColumn: 1 - definition.column, entity: definition.entity)
        {
            try add(mirrored, 1 - definition.column)
        }
        return members
    }

    /// The stored members of an ordered list, in their order.
    private func storedOrder(
        _ side: Side, _ relationship: SchemaRelationship, _ builder: inout CommitBuilder
    ) throws(StoreError) -> [UInt32] {
        let definition = catalog.references[side.reference]
        guard let place = definition.order else { return [] }
        var rows: [(member: UInt32, row: UInt32)] = []
        if definition.entity < catalog.schema.entities.count {
            var numbers: [UInt32] = []
            builder.sources(reference: side.reference, target: side.owner, into: &numbers)
            rows = numbers.map { ($0, $0) }
        } else {
            rows = try storedPairs(side, &builder).map { ($0.member, $0.pair) }
        }
        let tree = catalog.entities[definition.entity].tree
        var known: [(member: UInt32, key: Int64, row: UInt32)] = []
        for (member, row) in rows {
            let key = try builder.orderKey(tree: tree, number: row, place)
            known.append((member, key ?? OrderKeys.key(of: row), row))
        }
        return known.sorted { ($0.key, $0.row) < ($1.key, $1.row) }.map(\.member)
    }

    /// The number of members of a to-many relationship, when everything is written.
    func count(_ relationship: Int, of number: UInt32, _ builder: inout CommitBuilder)
        throws(StoreError) -> Int
    {
        let description = entity.relationships[relationship]
        guard let reference = catalog.reference(of: description) else { return 0 }
        let side = Side(reference: reference, owner: number)
        if case .pairs = description.storage {
            return Set(try storedPairs(side, &builder).map(\.member)).count
        }
        var numbers: [UInt32] = []
        builder.sources(reference: reference, target: number, into: &numbers)
        return numbers.count
    }

    // MARK: Writing

    /// Whether it is time to write the pending changes.
    var isLarge: Bool { planner.rows.count + pairs.count + sides.count > Self.most }

    /// Writes the pending changes.
    mutating func write(_ builder: inout CommitBuilder) throws(StoreError) {
        for (pair, isThere) in pairs.sorted(by: { $0.key < $1.key }) {
            let schema = catalog.schema.pairs[pair.pairs]
            planner.request.pairChanges.append(
                SaveRequest.PairChange(
                    pairs: pair.pairs, source: id(pair.source, schema.source),
                    destination: id(pair.destination, schema.destination), isAddition: isThere))
        }
        for order in sides.compactMap({ orders[$0] }) {
            planner.request.orderChanges.append(
                SaveRequest.OrderChange(
                    owner: order.owner, entity: order.entity, relationship: order.relationship,
                    members: order.members, base: order.isWhole ? [] : nil))
        }
        try planner.finish(&builder)
        for index in planner.rows.indices { note(index, builder.seed) }
        try SaveWriter.writeSilently(planner, &builder)
        planner = Self.planner(catalog, identity)
        pairs.removeAll(keepingCapacity: true)
        arrivals.removeAll(keepingCapacity: true)
        orders.removeAll(keepingCapacity: true)
        sides.removeAll(keepingCapacity: true)
        causes.removeAll(keepingCapacity: true)
    }

    /// Notes what must be checked about a row that is about to be written.
    private mutating func note(_ index: Int, _ seed: UInt64) {
        let row = planner.rows[index]
        guard row.fate == .live, row.isWritten, let stored = row.stored else { return }
        let cause = causes[index] ?? 0
        var key = KeyBuffer()
        for unique in catalog.entities[row.entity].uniques {
            let form = catalog.uniques[unique].form
            guard form.watched.contains(where: { row.values[$0] != stored.values[$0] }),
                key.load(row.values, form, number: { $0.number })
            else { continue }
            movedKeys.append(
                MovedKey(
                    entity: row.entity, number: row.number, unique: unique,
                    hash: key.hash(seed: seed), row: cause))
        }
        guard row.entity < catalog.schema.entities.count else { return }
        for (column, description) in catalog.schema.entities[row.entity].columns.enumerated()
        where description.relationship != nil && !description.isOptional {
            guard row.values[column].isNull, !stored.values[column].isNull else { continue }
            loosened.append(
                Loosened(entity: row.entity, number: row.number, column: column, row: cause))
        }
    }
}
