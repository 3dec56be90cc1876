// Assigns order keys to new members of ordered lists, and to members that move.
//
//   1. Arrivals: rows of the save that refer to another owner than before, and pairs. New rows need no key,
//      since their numbers are larger than all others; rows that were stored, or got their number earlier,
//      are appended.
//   2. The order of a list in the request is merged with the stored order (`ConflictRules`).
//   3. The keys that must change are determined (`OrderKeys`); rows that are written anyway cost nothing.
//
// Lists that are not affected are not read.
//
// Invariants: references and pairs have been decided.

import CairnModel
import CairnStore

extension SavePlanner {
    /// An ordered list: the rows that refer to an owner, or the rows of pairs that do.
    private struct ListKey: Hashable {
        let reference: Int
        let owner: UInt32
    }

    /// A member of a list.
    private struct Member {
        /// The location of its order key.
        enum Home {
            /// A stored row that the save has not loaded.
            case stored
            /// A row of the save.
            case working(Int)
            /// A stored pair.
            case pair(UInt32)
            /// A new pair, by its index among the added pairs.
            case newPair(Int)
        }
        /// The number of the member.
        let number: UInt32
        /// The number of the row that contains the key: the member's, or the pair's.
        let row: UInt32
        let home: Home
        /// The place of the key in the row.
        let place: Int
        var key: Int64
        var isWritten: Bool
        /// Whether it was not in the list before.
        let isArrival: Bool
    }

    /// Step 7.
    mutating func planOrder(_ builder: inout CommitBuilder) throws(StoreError) {
        forgetPlaces()
        let lists = try OrderedLists(self, builder)
        var handled: Set<ListKey> = []
        var keysOfPairs: [UInt64: [Int64?]] = [:]
        for change in request.orderChanges {
            guard let owner = survivor(ofOwner: change.owner, &builder) else { continue }
            let description = catalog.schema.entities[change.entity].relationships[
                change.relationship]
            guard let reference = catalog.reference(of: description),
                catalog.references[reference].order != nil
            else { continue }
            let list = ListKey(reference: reference, owner: owner)
            handled.insert(list)
            let now = try members(of: list, lists, &builder)
            let wanted = change.members.compactMap { end(of: $0, description, &builder) }
            let base = change.base?.compactMap { end(of: $0, description, &builder) }
            let order = ConflictRules.mergedOrder(
                members: wanted, base: base, now: now.map(\.number),
                arrivals: now.count(where: \.isArrival), change.base == nil ? nil : policy)
            if base != nil, order != wanted {
                reordered.append(
                    SaveRequest.List(
                        owner: identity.id(UInt64(owner), entity: change.entity),
                        relationship: change.relationship))
            }
            try give(order, now, list, lists, &keysOfPairs, &builder)
        }
        for (list, rows) in lists.arrivals where !handled.contains(list) {
            // In a partial store, numbers need not be larger than all before.
            guard builder.tools.partial != nil || rows.contains(where: { needsKey($0, lists) })
            else { continue }
            let now = try members(of: list, lists, &builder)
            let order = now.map(\.number)
            try give(order, now, list, lists, &keysOfPairs, &builder)
        }
        for (key, keys) in keysOfPairs.sorted(by: { $0.key < $1.key }) {
            pairKeys.append((Int(key >> 32), UInt32(truncatingIfNeeded: key), keys))
        }
    }

    /// A row that leaves a list loses its key there.
    private mutating func forgetPlaces() {
        for index in rows.indices {
            guard let stored = rows[index].stored, !rows[index].keys.isEmpty else { continue }
            for (place, order) in catalog.entities[rows[index].entity].orders.enumerated()
            where rows[index].values[order.reference] != stored.values[order.reference] {
                rows[index].keys[place] = nil
            }
        }
    }

    /// The policy; nil if conflicts are reported, and resolved by the caller.
    private var policy: MergePolicyKind? {
        if case .policy(let kind) = request.resolution { kind } else { nil }
    }

    /// Whether the number of a row that was added to a list does not make it the last member.
    private func needsKey(_ row: Int, _ lists: OrderedLists) -> Bool {
        rows[row].stored != nil || !rows[row].id.isTemporary
    }

    // MARK: Who is in a list

    /// The lists that the save has changed.
    private struct OrderedLists {
        /// Rows that refer to an owner to which they did not refer before, by number.
        var arrivals: [(key: ListKey, rows: [Int])] = []
        private var arrivalsOfList: [ListKey: Int] = [:]
        /// The added pairs: by side, which is reference and owner, their positions.
        var newPairs: [ListKey: [Int]] = [:]
        /// The first number of new pairs, by entity.
        var firstNumbers: [Int: UInt32] = [:]
        /// The number of new pairs, by entity.
        private(set) var newCounts: [Int: UInt32] = [:]
        /// The position of a new pair among those of its entity.
        var places: [Int] = []
        /// Deleted pairs, as entity and number.
        var removed: Set<UInt64> = []

        init(
            _ plan: borrowing SavePlanner, _ builder: borrowing CommitBuilder
        ) throws(StoreError) {
            let catalog = plan.catalog
            for (index, row) in plan.rows.enumerated() where row.fate == .live {
                let entity = catalog.entities[row.entity]
                for order in entity.orders {
                    guard let owner = CommitBuilder.number(of: row.values[order.reference]),
                        row.stored?.values[order.reference] != row.values[order.reference],
                        let reference = catalog.reference(
                            ofColumn: order.reference, entity: row.entity)
                    else { continue }
                    add(index, ListKey(reference: reference, owner: owner))
                }
            }
            for index in arrivals.indices {
                arrivals[index].rows.sort { plan.rows[$0].number < plan.rows[$1].number }
            }
            var counts: [Int: Int] = [:]
            for (place, pair) in plan.pairAdditions.enumerated() {
                let entity = catalog.entities[pair.entity]
                places.append(counts[pair.entity, default: 0])
                counts[pair.entity, default: 0] += 1
                guard !entity.orders.isEmpty else { continue }
                firstNumbers[pair.entity] = builder.state.nextNumbers[entity.tree]
                for order in entity.orders {
                    guard
                        let reference = catalog.reference(
                            ofColumn: order.reference, entity: pair.entity)
                    else { continue }
                    let owner = order.reference == 0 ? pair.source : pair.destination
                    newPairs[ListKey(reference: reference, owner: owner), default: []].append(place)
                }
            }
            for (entity, count) in counts {
                try builder.expectNumbers(count, tree: catalog.entities[entity].tree)
                newCounts[entity] = UInt32(count)
            }
            for (entity, number) in plan.pairRemovals {
                removed.insert(UInt64(entity) << 32 | UInt64(number))
            }
        }

        private mutating func add(_ row: Int, _ list: ListKey) {
            if let known = arrivalsOfList[list] {
                arrivals[known].rows.append(row)
            } else {
                arrivalsOfList[list] = arrivals.count
                arrivals.append((list, [row]))
            }
        }

        func rows(of list: ListKey) -> [Int] {
            arrivalsOfList[list].map { arrivals[$0].rows } ?? []
        }
    }

    /// Returns all members of a list after the save: the existing ones in their order, then the added ones.
    private mutating func members(
        of list: ListKey, _ lists: OrderedLists, _ builder: inout CommitBuilder
    ) throws(StoreError) -> [Member] {
        let definition = catalog.references[list.reference]
        guard definition.entity < catalog.schema.entities.count else {
            var members = try pairMembers(of: list, lists, &builder)
            // A relationship that is its own inverse has pairs in both directions.
            if let mirrored = mirrored(list) {
                var known = Set(members.map(\.number))
                members += try pairMembers(of: mirrored, lists, &builder).filter {
                    known.insert($0.number).inserted
                }
            }
            return sorted(members)
        }
        guard let place = definition.order else { return [] }
        let tree = catalog.entities[definition.entity].tree
        var numbers: [UInt32] = []
        builder.sources(reference: list.reference, target: list.owner, into: &numbers)
        var members: [Member] = []
        for number in numbers {
            let key: Int64?
            let index = workingIndex(tree: tree, number: number)
            if let index {
                guard rows[index].fate == .live,
                    CommitBuilder.number(of: rows[index].values[definition.column]) == list.owner
                else { continue }
                key = rows[index].keys[place]
            } else {
                key = try builder.orderKey(tree: tree, number: number, place)
            }
            members.append(
                Member(
                    number: number, row: number, home: index.map { .working($0) } ?? .stored,
                    place: place, key: key ?? OrderKeys.key(of: number),
                    isWritten: index.map { rows[$0].isWritten } ?? false, isArrival: false))
        }
        members = sorted(members)
        for row in lists.rows(of: list) {
            let number = rows[row].number
            members.append(
                Member(
                    number: number, row: number, home: .working(row), place: place,
                    key: OrderKeys.key(of: number), isWritten: true, isArrival: true))
        }
        return members
    }

    /// Returns the pairs of one direction.
    private func pairMembers(
        of list: ListKey, _ lists: OrderedLists, _ builder: inout CommitBuilder
    ) throws(StoreError) -> [Member] {
        let definition = catalog.references[list.reference]
        guard let place = definition.order else { return [] }
        let tree = catalog.entities[definition.entity].tree
        var numbers: [UInt32] = []
        builder.sources(reference: list.reference, target: list.owner, into: &numbers)
        var members: [Member] = []
        for number in numbers
        where !lists.removed.contains(UInt64(definition.entity) << 32 | UInt64(number)) {
            let ends = try builder.pair(entity: definition.entity, number: number)
            let key = try builder.orderKey(tree: tree, number: number, place)
            members.append(
                Member(
                    number: definition.column == 0 ? ends.1 : ends.0, row: number,
                    home: .pair(number), place: place, key: key ?? OrderKeys.key(of: number),
                    isWritten: false, isArrival: false))
        }
        for index in lists.newPairs[list] ?? [] {
            let pair = pairAdditions[index]
            let number = (lists.firstNumbers[pair.entity] ?? 0) + UInt32(lists.places[index])
            members.append(
                Member(
                    number: definition.column == 0 ? pair.destination : pair.source, row: number,
                    home: .newPair(index), place: place, key: OrderKeys.key(of: number),
                    isWritten: true, isArrival: true))
        }
        return members
    }

    private func sorted(_ members: [Member]) -> [Member] {
        members.sorted {
            ($0.isArrival ? 1 : 0, $0.key, $0.row) < ($1.isArrival ? 1 : 0, $1.key, $1.row)
        }
    }

    /// Returns the list of the other direction, if the relationship is its own inverse.
    private func mirrored(_ list: ListKey) -> ListKey? {
        let definition = catalog.references[list.reference]
        guard isSymmetric(definition.entity),
            let other = catalog.reference(
                ofColumn: 1 - definition.column, entity: definition.entity)
        else { return nil }
        return ListKey(reference: other, owner: list.owner)
    }

    // MARK: Keys

    /// Assigns keys so that the members of a list are in the given order.
    private mutating func give(
        _ order: [UInt32], _ members: [Member], _ list: ListKey, _ lists: OrderedLists,
        _ keysOfPairs: inout [UInt64: [Int64?]], _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let definition = catalog.references[list.reference]
        let stored = catalog.entities[definition.entity]
        var memberOfNumber: [UInt32: Int] = [:]
        for (index, member) in members.enumerated() { memberOfNumber[member.number] = index }
        let ordered = order.compactMap { memberOfNumber[$0] }
        var next = builder.state.nextNumbers[stored.tree]
        next += lists.newCounts[definition.entity] ?? 0
        let keys = OrderKeys.assign(
            ordered.map {
                OrderKeys.Place(key: members[$0].key, isWritten: members[$0].isWritten)
            }, below: OrderKeys.key(of: next))
        for (position, key) in keys {
            let member = members[ordered[position]]
            switch member.home {
            case .stored:
                guard
                    let index = try meet(
                        entity: definition.entity, number: member.number, &builder)
                else { continue }
                setKey(key, member.place, ofRow: index)
            case .working(let index): setKey(key, member.place, ofRow: index)
            case .newPair(let index):
                let none = [Int64?](repeating: nil, count: stored.orders.count)
                newPairKeys[index, default: none][member.place] = key
            case .pair(let number):
                let pair = UInt64(definition.entity) << 32 | UInt64(number)
                if keysOfPairs[pair] == nil {
                    var known: [Int64?] = []
                    for place in stored.orders.indices {
                        known.append(
                            try builder.orderKey(tree: stored.tree, number: number, place))
                    }
                    keysOfPairs[pair] = known
                }
                keysOfPairs[pair]?[member.place] = key
            }
        }
    }

    private mutating func setKey(_ key: Int64, _ place: Int, ofRow index: Int) {
        if rows[index].keys.isEmpty {
            rows[index].keys = Array(
                repeating: nil, count: catalog.entities[rows[index].entity].orders.count)
        }
        rows[index].keys[place] = key
    }

    // MARK: Names

    /// Returns the number of an owner after the save; nil if there is none.
    private func survivor(ofOwner id: ObjectID, _ builder: inout CommitBuilder) -> UInt32? {
        if let index = survivor(of: id) {
            return rows[index].fate == .live ? rows[index].number : nil
        }
        return id.isTemporary ? nil : UInt32(exactly: id.reference)
    }

    /// Returns the number of a member after the save; nil if it does not belong to the destination entity.
    private func end(
        of id: ObjectID, _ relationship: SchemaRelationship, _ builder: inout CommitBuilder
    ) -> UInt32? {
        if let index = survivor(of: id) {
            return rows[index].fate == .live ? rows[index].number : nil
        }
        guard !id.isTemporary, identity.owns(id, entity: relationship.destination) else {
            return nil
        }
        return UInt32(exactly: id.reference)
    }
}

extension Catalog {
    /// Returns the reference that defines the order of a to-many relationship's members.
    func reference(of relationship: SchemaRelationship) -> Int? {
        switch relationship.storage {
        case .column, .transient: nil
        case .inverseColumn(let entity, let column): reference(ofColumn: column, entity: entity)
        case .pairs(let pairs, let isSource):
            reference(ofColumn: isSource ? 0 : 1, entity: entityIndex(ofPairs: pairs))
        }
    }
}
