// Carries out a request about duplicates, in a context of its own.
//
//   1. The store groups by the key. Only groups of two and more are read. Of several stores, each has groups of its own.
//   2. Each group is sorted as the rule says: the first one stays.
//   3. It is decided what it takes over from the others, while all is as it is stored. Then it does.
//   4. What led to the others leads to it. They are deleted, with the model's delete rules, and their ids lead to it, too.
//   5. Should those delete one that was to stay, all of it begins anew, and another one of its group stays; if there is none,
//      the group is left as it is. Else all is saved at once.
//   6. A dry run does all of it but save: the context is given up with what was changed in it.
//
// If somebody else has changed one of the objects meanwhile, be it one that stays as it is, all of it begins anew.
//
// Invariants: what the request decides depends on the stored objects alone, not on the order in which groups come. Of no group
// are all deleted in favour of one another.
// Threads: those of whoever executes the request; the context is nobody else's.

import CairnModel
import CairnStore
import FoundationEssentials

struct Deduplicator {
    /// How many keys are asked for at a time: a key without an index costs a look at all rows each time.
    static let keysAtATime = 20_000
    private static let maximumRounds = 10
    private static let maximumChoices = 1_000

    let request: DeduplicationRequest
    let context: ManagedObjectContext
    let entity: SchemaEntity
    let order: DuplicateOrder
    let folding: DuplicateFolding
    private let keysAtATime: Int
    /// Objects that cannot stay in favour of others, as delete rules would delete them.
    private let doomed: Set<ObjectID>
    private var result = DeduplicationResult()

    static func execute(
        _ request: DeduplicationRequest, on store: any PersistentStore,
        keysAtATime: Int = keysAtATime
    ) throws(StoreError) -> DeduplicationResult {
        var round = 1
        var choices = 1
        var doomed: Set<ObjectID> = []
        while true {
            var deduplicator = try Deduplicator(request, store, keysAtATime, doomed)
            do throws(StoreError) {
                let lost = try deduplicator.run()
                if lost.isEmpty { return deduplicator.result }
                doomed.formUnion(lost)
                choices += 1
                guard choices <= maximumChoices else { throw deduplicator.entangled(lost) }
            } catch {
                // Nothing is written: what others have done counts, and it is found anew.
                guard error.code == .mergeConflict, round < maximumRounds else { throw error }
                round += 1
                doomed = []
            }
        }
    }

    private init(
        _ request: DeduplicationRequest, _ store: any PersistentStore, _ keysAtATime: Int,
        _ doomed: Set<ObjectID>
    ) throws(StoreError) {
        self.request = request
        self.keysAtATime = keysAtATime
        self.doomed = doomed
        context = ManagedObjectContext(store: store, instruments: [])
        context.isUnseen = true
        context.transactionAuthor = request.author
        context.name = request.contextName
        guard let entity = store.schema.entity(named: request.entityName) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: request.entityName))
        }
        self.entity = entity
        try DuplicateTerms(entity).check(request)
        order = DuplicateOrder(request.rule, of: entity)
        folding = DuplicateFolding(request.rule, keys: Set(request.keys))
    }

    /// Gives the ids of objects that were to stay, but that delete rules would delete: nothing is done then.
    private mutating func run() throws(StoreError) -> [ObjectID] {
        defer { context.reset() }
        let keys =
            if let incoming = request.incoming { try keysOf(incoming) } else { try repeated() }
        var all: [Group] = []
        for start in stride(from: 0, to: keys.count, by: keysAtATime) {
            let some = keys[start..<min(start + keysAtATime, keys.count)]
            var groups = try members(of: some)
            if !doomed.isEmpty {
                // Where everybody is doomed the first one is, too.
                let doomed = doomed
                func isLeft(_ group: Group) -> Bool { doomed.contains(group.members[0].objectID) }
                result.entangledGroups += groups.filter(isLeft).map(\.told)
                groups.removeAll(where: isLeft)
            }
            result.groups += groups.map(\.told)
            if request.rule != .fail { all += groups }
        }
        if request.onlyLists { return [] }
        if request.rule == .fail, !result.groups.isEmpty { throw duplicates() }
        // What stays as it is must be there still when the others go.
        for group in all { context.detectConflicts(for: group.members[0]) }
        if request.rule == .nullKey {
            for group in all { clearKeys(of: group.members.dropFirst()) }
        } else {
            try merge(all)
            context.processPendingChanges()
            let lost = all.lazy.map { $0.members[0] }.filter(\.isDeleted)
            if !lost.isEmpty { return lost.map(\.objectID) }
        }
        try save()
        return []
    }

    // MARK: Finding

    /// Objects with one key, in the order in which they stay.
    struct Group {
        let key: [Value]
        let members: [ManagedObject]

        var told: DeduplicationResult.Group {
            DeduplicationResult.Group(
                key: key, winner: members[0].objectID,
                losers: members.dropFirst().map(\.objectID))
        }
    }
    /// The keys that several objects have.
    private func repeated() throws(StoreError) -> [[Value]] {
        var fetch = FetchRequest<DictionaryResult>(entityName: request.entityName)
        let count = ExpressionDescription(
            Self.countName, expression: .function(.count, [.evaluatedObject]))
        fetch.propertiesToFetch = request.keys.map { .property($0) } + [.expression(count)]
        fetch.propertiesToGroupBy = request.keys.map { .property($0) }
        fetch.havingPredicate = .compare(Self.countName, .greater, .integer(1))
        fetch.predicate = condition([])
        fetch.includesSubentities = request.includesSubentities
        fetch.nullSemantics = request.nullSemantics
        return try context.fetch(fetch).map { $0.values.dropLast().map(\.asGroupKey) }
            .filter(isKey)
            .sorted { Self.compare($0, $1) < 0 }
    }

    /// A name that no property has.
    private static let countName = "@count"

    /// The keys that the objects of ids have.
    private func keysOf(_ ids: [ObjectID]) throws(StoreError) -> [[Value]] {
        var keys: Set<[Value]> = []
        for start in stride(from: 0, to: ids.count, by: keysAtATime) {
            let some = ids[start..<min(start + keysAtATime, ids.count)]
            var fetch = FetchRequest<DictionaryResult>(entityName: request.entityName)
            fetch.propertiesToFetch = request.keys.map { .property($0) }
            fetch.predicate = condition([
                .compare(.evaluatedObject, .in, .list(some.map { .objectID($0) }))
            ])
            fetch.includesSubentities = request.includesSubentities
            fetch.nullSemantics = request.nullSemantics
            for row in try context.fetch(fetch) where isKey(row.values) {
                keys.insert(row.values.map(\.asGroupKey))
            }
        }
        return keys.sorted { Self.compare($0, $1) < 0 }
    }

    /// Whether values tell objects apart.
    private func isKey(_ values: [Value]) -> Bool {
        !values.contains { $0.isNoNumber || $0.isNull && !request.includesNil }
    }

    /// The objects that have some keys, where they are several, in the order of the keys.
    private func members(of keys: ArraySlice<[Value]>) throws(StoreError) -> [Group] {
        var fetch = FetchRequest<ManagedObject>(entityName: request.entityName)
        fetch.predicate =
            request.keys.count == 1
            ? haveParts(of: keys)
            : .compare(
                .evaluatedObject, .in, .list(try idsOfMembers(of: keys).map { .objectID($0) }))
        fetch.includesSubentities = request.includesSubentities
        fetch.nullSemantics = request.nullSemantics
        fetch.returnsObjectsAsFaults = false
        fetch.relationshipKeyPathsForPrefetching = folding.united(entity)
        var found: [[Value]: [ManagedObject]] = [:]
        for object in try context.fetch(fetch) {
            let key = request.keys.map { name in
                object.entity.columnIndex(named: name).map { object.baseValue($0).asGroupKey }
                    ?? .null
            }
            found[key, default: []].append(object)
        }
        var groups: [Group] = []
        for key in keys {
            guard let members = found[key], members.count > 1 else { continue }
            var stores: [UUID: [ManagedObject]] = [:]
            for member in members { stores[member.objectID.store, default: []].append(member) }
            for (_, members) in stores.sorted(by: { $0.key.uuidString < $1.key.uuidString })
            where members.count > 1 {
                var sorted = order.sorted(members)
                if !doomed.isEmpty {
                    sorted =
                        sorted.filter { !doomed.contains($0.objectID) }
                        + sorted.filter { doomed.contains($0.objectID) }
                }
                groups.append(Group(key: key, members: sorted))
            }
        }
        return groups
    }

    /// That each value of an object's key is one of those that some keys have at its place.
    private func haveParts(of keys: ArraySlice<[Value]>) -> PredicateNode? {
        condition(
            request.keys.enumerated().map { index, name in
                let values = Set(keys.map { $0[index] })
                let isIn = PredicateNode.compare(
                    .keyPath(name), .in, .list(Array(values.filter { !$0.isNull })))
                guard values.contains(.null) else { return isIn }
                return .or([isIn, .compare(name, .equal, .null)])
            })
    }

    /// The objects that have some keys of several values. Many more may have values of them in other combinations: these
    /// are told apart by what is stored, and no objects are made of them.
    private func idsOfMembers(of keys: ArraySlice<[Value]>) throws(StoreError) -> [ObjectID] {
        var fetch = FetchRequest<DictionaryResult>(entityName: request.entityName)
        let object = ExpressionDescription(Self.objectName, expression: .evaluatedObject)
        fetch.propertiesToFetch =
            request.keys.map { .property($0) } + [.expression(object)]
        fetch.predicate = haveParts(of: keys)
        fetch.includesSubentities = request.includesSubentities
        fetch.nullSemantics = request.nullSemantics
        let wanted = Set(keys)
        return try context.fetch(fetch).compactMap { row in
            wanted.contains(row.values.dropLast().map(\.asGroupKey))
                ? row.values.last?.reference : nil
        }
    }

    private static let objectName = "@object"

    private func condition(_ parts: [PredicateNode]) -> PredicateNode? {
        let all = parts + (request.predicate.map { [$0] } ?? [])
        return all.isEmpty ? nil : .and(all)
    }

    private static func compare(_ one: [Value], _ other: [Value]) -> Int {
        for (one, other) in zip(one, other) {
            let order = SortingOrder.compare(one, other)
            if order != 0 { return order }
        }
        return 0
    }

    // MARK: Changing

    /// Who has taken whose place.
    struct Survivors {
        private let schema: Schema
        /// Those that are in a group, with the ones that stay of it.
        private var places: [ObjectID: ManagedObject] = [:]

        init(_ groups: [Group], _ schema: Schema) {
            self.schema = schema
            for group in groups {
                for member in group.members { places[member.objectID] = group.members[0] }
            }
        }

        /// Whether an object has duplicates.
        func isInGroup(_ object: ManagedObject) -> Bool { places[object.objectID] != nil }

        /// The object itself, if it stays.
        func survivor(of object: ManagedObject) -> ManagedObject {
            places[object.objectID] ?? object
        }

        /// Whom a relationship leads to that led to an object: nobody, if the one in its place is of another entity.
        func survivor(of object: ManagedObject, by relationship: SchemaRelationship)
            -> ManagedObject?
        {
            let survivor = survivor(of: object)
            let destination = schema.entities[relationship.destination]
            return survivor.entity.isKind(of: destination) && !survivor.isGone ? survivor : nil
        }
    }

    private mutating func merge(_ groups: [Group]) throws(StoreError) {
        try refuseLosses(groups)
        let survivors = Survivors(groups, context.schema)
        let plans = groups.map { folding.plan($0.members, survivors, in: context) }
        for (group, plan) in zip(groups, plans) {
            try folding.fold(group.members, plan, survivors, in: context)
        }
        for (group, plan) in zip(groups, plans) {
            folding.unite(group.members, plan, survivors, in: context)
        }
        let losers = groups.flatMap { $0.members.dropFirst() }
        if losers.contains(where: { !context.oneWays(to: $0.entity).isEmpty }) {
            var references = OneWayReferences(context)
            for loser in losers {
                let winner = survivors.survivor(of: loser)
                for (referrer, way) in references.take(
                    to: loser, in: context, includingPairs: true)
                where survivors.survivor(of: referrer) === referrer && !referrer.isDeleted {
                    context.unlink(referrer, way.index, loser)
                    if referrer === winner
                        || survivors.survivor(of: loser, by: way.relationship) == nil
                    {
                        continue
                    }
                    context.link(referrer, way.index, winner)
                    references.add((referrer, way), to: winner.objectID)
                }
            }
        }
        for loser in losers {
            context.delete(loser)
            context.redirect(loser, to: survivors.survivor(of: loser))
        }
        result.deletedCount += losers.count
    }

    /// Takes the key of objects away, by the first part of it that may be nil.
    private func clearKeys(of losers: ArraySlice<ManagedObject>) {
        for loser in losers {
            for name in request.keys {
                guard let column = loser.entity.columnIndex(named: name),
                    loser.entity.columns[column].canBeCleared
                else { continue }
                if let relationship = loser.entity.columns[column].relationship {
                    context.setTarget(of: loser, relationship, nil)
                } else {
                    loser.setColumn(column, .null)
                }
                break
            }
        }
    }

    private mutating func save() throws(StoreError) {
        context.processPendingChanges()
        guard context.hasChanges else { return }
        result.cascadedCount = context.deletedObjects.count - result.deletedCount
        result.updatedCount = context.updatedObjects.count
        if request.isDryRun { return }
        do {
            try context.save()
        } catch {
            // No code of the program's own takes part in it.
            throw error as? StoreError ?? StoreError(.unusable, "the save failed", cause: error)
        }
    }

    /// Winners are deleted by delete rules, whoever is chosen.
    private func entangled(_ lost: [ObjectID]) -> StoreError {
        StoreError(
            .invalidRequest,
            "deleting the duplicates would also delete the surviving objects, by delete rules, whichever are chosen",
            context: .init(entity: entity.name, objectID: lost.first))
    }

    private func duplicates() -> StoreError {
        let some = result.groups.prefix(100).map { group in
            let values = group.key.map(\.predicateFormat).joined(separator: ", ")
            return StoreError(
                .constraintConflict, "\(group.losers.count + 1) objects have the same key",
                context: .init(
                    entity: entity.name, key: request.keys.joined(separator: ", "),
                    detail: "\(group.losers.count + 1) objects have the key \(values)"))
        }
        let objects = result.groups.reduce(0) { $0 + $1.losers.count + 1 }
        return StoreError(
            .constraintConflict,
            "\(objects) objects share \(result.groups.count) keys",
            context: .init(entity: entity.name, key: request.keys.joined(separator: ", ")),
            details: some)
    }
}

extension SchemaColumn {
    /// Whether nil can be set; what derives a value sets it again.
    var canBeCleared: Bool { isOptional && attribute?.derivationExpression == nil }
}
