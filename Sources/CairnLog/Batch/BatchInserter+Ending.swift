// The end of a batch: missing objects are deleted or marked, and recorded keys are checked again.

import CairnModel
import CairnStore

extension BatchInserter {
    /// Handles the objects that no row identified, and rejects the batch if keys collide.
    mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        try closeGathered(&builder)
        builder.tools.partial?.earlier?.note(
            touched, namesAny: namesAny, waits: links?.open.isEmpty == false)
        if request.reportsRepeats {
            result.repeatedRows = Array(result.repeatedRows.sorted().prefix(10))
        }
        if !keylessRows.isEmpty { throw keyless(builder.catalog) }
        if links != nil {
            try finishLinks(&builder)
            try finishLateLinks(&builder)
        }
        if !lacking.isEmpty { try checkLacking(&builder) }
        var deletion: DeletePlanner?
        if let missing, refusedCount == 0 || missing.isDeletion {
            if !request.allowsEmpty, !namesAny, refusedCount == 0 {
                throw missing.emptyList(hasRows: true)
            }
            let numbers = try findMissing(&builder)
            switch missing.work {
            case .delete: deletion = try prune(numbers, &builder)
            case .mark(let plan): try mark(numbers, plan, &builder)
            }
        }
        // Settling gives rows that referred to deleted objects their new keys.
        if deletion != nil { try derivations?.settle(entity.tree, identity, &builder) }
        for suspect in suspects { try judge(suspect, &builder) }
        guard refusedCount > 0 else {
            if deletion == nil { try derivations?.settle(entity.tree, identity, &builder) }
            if let deletion, builder.catalog.hasKeyRules { try deletion.checkKeys(&builder) }
            try refuseRestated(&builder)
            return
        }
        let more =
            refusedCount > refused.count ? "; the first \(refused.count) are listed" : ""
        throw StoreError(
            .constraintConflict,
            "\(refusedCount) row\(refusedCount == 1 ? "" : "s") of the batch would violate uniqueness constraints\(more)",
            context: .init(entity: entity.name), details: refused)
    }

    /// The error for rows without a key, if every row must have one.
    private func keyless(_ catalog: Catalog) -> StoreError {
        let count = result.keylessCount
        let name = entity.name
        let keys = room.probes.constraints.map {
            catalog.uniques[$0.index].names.joined(separator: ", ")
        }.joined(separator: " or ")
        func error(_ message: String, row: Int?, _ details: [StoreError] = []) -> StoreError {
            StoreError(
                .missingMandatory, message,
                context: .init(entity: name, key: keys, row: row), details: details,
                cause: MissingKeys(count: count))
        }
        if count == 1 {
            return error(
                "the row has no key, so each batch would insert another object",
                row: keylessRows[0])
        }
        return error(
            "\(count) rows have no key, so each batch would insert more objects",
            row: nil,
            keylessRows.map { error("the row has no key", row: $0) })
    }

    /// Whether a row named an object of the entity or its descendants, stored or new.
    private var namesAny: Bool {
        namesStored || result.insertedCount + result.updatedCount + result.unchangedCount > 0
    }

    /// Deletes the objects that no row identified.
    private mutating func prune(_ numbers: [UInt32], _ builder: inout CommitBuilder)
        throws(StoreError) -> DeletePlanner
    {
        var planner = DeletePlanner(
            catalog: builder.catalog, identity: identity, derivations: derivations,
            listsNumbers: request.listsIDs)
        let outcome = try planner.delete(numbers, tree: entity.tree, &builder)
        let named = planner.deleted(besides: outcome, entity.tree, among: touched)
        if !named.isEmpty { throw contradiction(named, builder.catalog) }
        result.deletedCount = outcome.requested
        result.missingIDs = outcome.numbers.map {
            identity.id(UInt64($0.number), entity: $0.entity)
        }
        return planner
    }

    /// The error for objects that are in the list although delete rules would delete them with missing ones.
    @inline(never)
    private func contradiction(_ named: [(entity: Int, number: UInt32)], _ catalog: Catalog)
        -> StoreError
    {
        let errors = named.prefix(100).map { object in
            StoreError(
                .deleteDenied,
                "the object is in the list, but delete rules would delete it along with one that is missing",
                context: .init(
                    entity: catalog.entities[object.entity].name,
                    objectID: identity.id(
                        UInt64(object.number), entity: catalog.schemaEntity(object.entity))))
        }
        if named.count == 1 { return errors[0] }
        return StoreError(
            .deleteDenied,
            "\(named.count) objects are in the list, but delete rules would delete them along with others that are missing",
            context: .init(entity: entity.name), details: errors)
    }

    /// Sets the values that mark an object as missing in the objects that no row identified.
    private mutating func mark(
        _ numbers: [UInt32], _ plan: BatchUpdatePlan, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let updater = BatchUpdater(
            plan, listsIDs: request.listsIDs, moment: moment, derivations, builder)
        try updater.run(numbers, &builder)
        result.markedCount = updater.result.updatedCount
        result.missingIDs = updater.result.objectIDs
    }

    /// Adds the id of an object to the result, once, if the request lists ids.
    mutating func listID(_ number: UInt32) {
        guard request.listsIDs, !listed.contains(number) else { return }
        listed.insert(number)
        result.objectIDs.append(identity.id(UInt64(number), entity: entityIndex))
    }

    // MARK: Who is missing

    /// Returns the objects that no row identified, of those that can be missing.
    private mutating func findMissing(_ builder: inout CommitBuilder) throws(StoreError) -> [UInt32]
    {
        var missing: [UInt32] = []
        if let known = builder.tools.partial?.earlier?.missing {
            missing = known
        } else if let scope {
            try findMissing(in: scope, into: &missing, builder)
        } else {
            // A row may identify an object of a descendant, so unidentified objects of descendants are
            // missing too.
            for entity in builder.catalog.family(of: entityIndex) {
                try findMissing(ofEntity: entity, into: &missing, &builder)
            }
        }
        // No row could identify an object that has no key under any constraint.
        let uniques = entity.uniques
        if uniques.contains(where: { builder.catalog.uniques[$0].form.isWhole }) { return missing }
        var named: [UInt32] = []
        for number in missing {
            for unique in uniques
            where try builder.loadKey(of: number, unique: unique, into: &room.key) {
                named.append(number)
                break
            }
        }
        return named
    }

    /// Finds the missing objects among those that match a condition in the state before the batch.
    private func findMissing(
        in scope: MissingScope, into missing: inout [UInt32], _ builder: borrowing CommitBuilder
    ) throws(StoreError) {
        let runner = try FetchRunner(
            reader: builder.reader, state: scope.before, fetch: scope.fetch,
            writtenLSN: builder.writtenLSN)
        if let found = try runner.indexed() {
            for hit in found.hits where !touched.contains(hit.number) {
                missing.append(hit.number)
            }
            missing.sort()
            return
        }
        var numbersFound: [UInt32] = []
        try runner.scan { block, _, slots throws(StoreError) in
            let numbers = try block.numbers()
            for slot in slots {
                let number = numbers.number(Int(slot))
                if !touched.contains(number) { numbersFound.append(number) }
            }
            return true
        }
        missing = numbersFound
    }

    private func findMissing(
        ofEntity entity: Int, into missing: inout [UInt32], _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var handle = builder.state.blocks.first(ofEntity: entity)
        while handle != .none {
            let entry = builder.state.blocks.entry(handle)
            if entry.live > 0 {
                let block = try builder.block(handle)
                let numbers = try block.numberCells()
                defer { withExtendedLifetime(block) {} }
                if let first = numbers.firstOfSequence(rows: Int(entry.rows)) {
                    for word in 0..<(Int(entry.rows) + 63) / 64 {
                        let start = first &+ UInt32(word * 64)
                        var left = entry.liveWord(word) & ~touched.contained(from: start)
                        while left != 0 {
                            missing.append(start &+ UInt32(left.trailingZeroBitCount))
                            left &= left &- 1
                        }
                    }
                } else {
                    for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                        let number = UInt32(truncatingIfNeeded: numbers.integer(slot))
                        if !touched.contains(number) { missing.append(number) }
                    }
                }
            }
            handle = builder.state.blocks.next(after: entry)
        }
    }

    /// Adds an error if a noted key is shared in the state after the batch.
    private mutating func judge(
        _ suspect: (row: Int, unique: Int, number: UInt32, hash: UInt64),
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard try builder.hasRow(tree: entity.tree, suspect.number),
            try builder.loadKey(of: suspect.number, unique: suspect.unique, into: &room.key),
            room.key.hash(seed: builder.seed) == suspect.hash,
            let number = try holder(
                suspect.unique,
                among: builder.state.uniques[suspect.unique].firstCandidate(
                    hash: suspect.hash, forCommit: true),
                except: suspect.number, &builder),
            listsRefusal()
        else { return }
        refuse(
            row: suspect.row, suspect.unique, number,
            try builder.keyText(of: number, entity: entityIndex, unique: suspect.unique),
            "the key belongs to another object", &builder)
    }

    /// Counts a rejected row. Returns whether its error is listed, as those of the first hundred are.
    mutating func listsRefusal() -> Bool {
        refusedCount += 1
        return refused.count < 100
    }

    /// Adds the error of a row to the list.
    mutating func refuse(
        row: Int, _ unique: Int, _ number: UInt32, _ key: String, _ message: String,
        _ builder: inout CommitBuilder
    ) {
        let definition = builder.catalog.uniques[unique]
        // The key of a second constraint says little: users know objects by the first one's.
        let first = builder.catalog.entities[entityIndex].uniques.first
        let name = first.flatMap {
            $0 == unique
                ? nil : try? builder.keyText(of: number, entity: entityIndex, unique: $0)
        }
        let owner = "p\(number)" + (name.map { " (\($0))" } ?? "")
        refused.append(
            StoreError(
                .constraintConflict, message,
                context: .init(
                    entity: entity.name, key: definition.names.joined(separator: ", "), row: row,
                    objectID: identity.id(UInt64(number), entity: entityIndex),
                    detail: "\(message): \(key) belongs to \(owner)"
                        + (definition.isPlain ? "" : " (\(definition.words))"))))
    }
}
