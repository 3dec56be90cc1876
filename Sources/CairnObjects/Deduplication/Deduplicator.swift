// Carries out a request about duplicates, in a context of its own.
//
//   1. The store groups by the key. Only groups of two and more are read.
//   2. Each group is sorted as the rule says: the first one stays.
//   3. It takes over what the others have. What led to them leads to it.
//   4. They are deleted, with the model's delete rules, and all of it is saved at once.
//
// If somebody else has changed one of the objects meanwhile, all of it begins anew.
//
// Invariants: what the request decides depends on the stored objects alone, not on the order in which groups come.
// Threads: those of whoever executes the request; the context is nobody else's.

import CairnModel
import CairnStore

struct Deduplicator {
    /// How many keys are asked for at a time.
    static let keysAtATime = 2_000
    private static let maximumRounds = 10

    let request: DeduplicationRequest
    let context: ManagedObjectContext
    let entity: SchemaEntity
    let order: DuplicateOrder
    let folding: DuplicateFolding
    private var result = DeduplicationResult()

    static func execute(
        _ request: DeduplicationRequest, on store: any PersistentStore
    ) throws(StoreError) -> DeduplicationResult {
        var round = 1
        while true {
            var deduplicator = try Deduplicator(request, store)
            do throws(StoreError) {
                return try deduplicator.run()
            } catch {
                // Nothing is written: what others have done counts, and it is found anew.
                guard error.code == .mergeConflict, round < maximumRounds else { throw error }
                round += 1
            }
        }
    }

    private init(_ request: DeduplicationRequest, _ store: any PersistentStore) throws(StoreError) {
        self.request = request
        context = ManagedObjectContext(store: store, instruments: [])
        context.transactionAuthor = request.author
        context.name = request.contextName
        guard let entity = store.schema.entity(named: request.entityName) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: request.entityName))
        }
        self.entity = entity
        try DuplicateTerms(entity, store.schema).check(request)
        order = DuplicateOrder(request.rule)
        folding = DuplicateFolding(request.rule, keys: Set(request.keys))
    }

    private mutating func run() throws(StoreError) -> DeduplicationResult {
        defer { context.reset() }
        let keys =
            if let incoming = request.incoming { try keysOf(incoming) } else { try repeated() }
        var survivors = Survivors()
        for start in stride(from: 0, to: keys.count, by: Self.keysAtATime) {
            let some = keys[start..<min(start + Self.keysAtATime, keys.count)]
            let groups = try members(of: some)
            for group in groups {
                result.groups.append(
                    .init(
                        key: group.key, winner: group.members[0].objectID,
                        losers: group.members.dropFirst().map(\.objectID)))
            }
            if request.isDryRun || request.rule == .fail { continue }
            if request.rule == .nullKey {
                for group in groups { clearKeys(of: group.members.dropFirst()) }
            } else {
                try merge(groups, &survivors)
            }
        }
        if request.rule == .fail, !result.groups.isEmpty { throw duplicates() }
        try save()
        return result
    }

    // MARK: Finding

    /// Objects with one key, in the order in which they stay.
    struct Group {
        let key: [Value]
        let members: [ManagedObject]
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
        return try context.fetch(fetch).map { $0.values.dropLast() }
            .filter { key in !key.contains { $0.isNull || $0.isNoNumber } }
            .sorted { Self.compare($0, $1) < 0 }
    }

    /// A name that no property has.
    private static let countName = "@count"

    /// The keys that the objects of ids have.
    private func keysOf(_ ids: [ObjectID]) throws(StoreError) -> [[Value]] {
        var keys: Set<[Value]> = []
        for start in stride(from: 0, to: ids.count, by: Self.keysAtATime) {
            let some = ids[start..<min(start + Self.keysAtATime, ids.count)]
            var fetch = FetchRequest<DictionaryResult>(entityName: request.entityName)
            fetch.propertiesToFetch = request.keys.map { .property($0) }
            fetch.predicate = condition([
                .compare(.evaluatedObject, .in, .list(some.map { .objectID($0) }))
            ])
            fetch.includesSubentities = request.includesSubentities
            fetch.nullSemantics = request.nullSemantics
            for row in try context.fetch(fetch)
            where !row.values.contains(where: { $0.isNull || $0.isNoNumber }) {
                keys.insert(row.values)
            }
        }
        return keys.sorted { Self.compare($0, $1) < 0 }
    }

    /// The objects that have some keys, where they are several, in the order of the keys.
    private func members(of keys: ArraySlice<[Value]>) throws(StoreError) -> [Group] {
        var fetch = FetchRequest<ManagedObject>(entityName: request.entityName)
        fetch.predicate = condition(
            request.keys.enumerated().map { index, name in
                .compare(.keyPath(name), .in, .list(Array(Set(keys.map { $0[index] }))))
            })
        fetch.includesSubentities = request.includesSubentities
        fetch.nullSemantics = request.nullSemantics
        // What is folded already counts as it is stored.
        fetch.includesPendingChanges = false
        fetch.returnsObjectsAsFaults = false
        var found: [[Value]: [ManagedObject]] = [:]
        for object in try context.fetch(fetch) {
            let key = request.keys.map { name in
                object.entity.columnIndex(named: name).map { object.baseValue($0) } ?? .null
            }
            found[key, default: []].append(object)
        }
        return keys.compactMap { key in
            guard let members = found[key], members.count > 1 else { return nil }
            return Group(key: key, members: order.sorted(members))
        }
    }

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
        private var places: [ObjectID: ManagedObject] = [:]

        mutating func add(_ group: Group) {
            for loser in group.members.dropFirst() { places[loser.objectID] = group.members[0] }
        }

        /// The object itself, if it stays.
        func survivor(of object: ManagedObject) -> ManagedObject {
            places[object.objectID] ?? object
        }
    }

    private mutating func merge(_ groups: [Group], _ survivors: inout Survivors) throws(StoreError)
    {
        for group in groups { survivors.add(group) }
        for group in groups {
            try folding.fold(group.members, survivors, in: context)
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
                    if referrer === winner { continue }
                    context.link(referrer, way.index, winner)
                    references.add((referrer, way), to: winner.objectID)
                }
            }
        }
        for loser in losers { context.delete(loser) }
        result.deletedCount += losers.count
    }

    /// Takes the key of objects away, by the first part of it that may be nil.
    private func clearKeys(of losers: ArraySlice<ManagedObject>) {
        for loser in losers {
            for name in request.keys {
                guard let column = loser.entity.columnIndex(named: name),
                    loser.entity.columns[column].isOptional
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
        do {
            try context.save()
        } catch {
            // No code of the program's own takes part in it.
            throw error as? StoreError ?? StoreError(.unusable, "the save failed", cause: error)
        }
    }

    private func duplicates() -> StoreError {
        let some = result.groups.prefix(100).map { group in
            let values = group.key.map(\.predicateFormat).joined(separator: ", ")
            return StoreError(
                .constraintConflict, "\(group.losers.count + 1) objects have one key",
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
