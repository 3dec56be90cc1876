// The end of a batch: what no row named goes, and keys that were noted are looked at again.

import CairnModel
import CairnStore

extension BatchInserter {
    /// Deletes what no row named, and refuses the batch if keys collide.
    mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        if links != nil { try finishLinks(&builder) }
        let deletion = request.prunesMissing ? try prune(&builder) : nil
        // Rows that lead to what was deleted get their new keys by this.
        if deletion != nil { try derivations?.settle(entity.tree, identity, &builder) }
        for suspect in suspects { try judge(suspect, &builder) }
        guard refusedCount > 0 else {
            if deletion == nil { try derivations?.settle(entity.tree, identity, &builder) }
            if let deletion, builder.catalog.hasKeyRules { try deletion.checkKeys(&builder) }
            return
        }
        let more =
            refusedCount > refused.count ? ", the first \(refused.count) of them are listed" : ""
        throw StoreError(
            .constraintConflict,
            "\(refusedCount) row\(refusedCount == 1 ? "" : "s") of the batch cannot be stored beside what is there\(more)",
            context: .init(entity: entity.name), details: refused)
    }

    private mutating func prune(_ builder: inout CommitBuilder) throws(StoreError) -> DeletePlanner
    {
        var missing: [UInt32] = []
        // A row may name an object of a descendant, so those that none names go too.
        for entity in builder.catalog.family(of: entityIndex) {
            try findMissing(ofEntity: entity, into: &missing, &builder)
        }
        // What no constraint gives a key could not be named.
        let uniques = entity.uniques
        if !uniques.contains(where: { builder.catalog.uniques[$0].form.isWhole }) {
            var named: [UInt32] = []
            for number in missing {
                for unique in uniques
                where try builder.loadKey(of: number, unique: unique, into: &room.key) {
                    named.append(number)
                    break
                }
            }
            missing = named
        }
        var planner = DeletePlanner(
            catalog: builder.catalog, identity: identity, derivations: derivations,
            listsNumbers: false)
        let outcome = try planner.delete(missing, tree: entity.tree, &builder)
        result.deletedCount = outcome.requested
        return planner
    }

    private func findMissing(
        ofEntity entity: Int, into missing: inout [UInt32], _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var handle = builder.state.blocks.first(ofEntity: entity)
        while handle != .none {
            let entry = builder.state.blocks.entry(handle)
            if entry.live > 0 {
                let block = try builder.block(handle)
                let numbers = try block.numbers()
                for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                    let number = numbers.number(slot)
                    if !touched.contains(number) { missing.append(number) }
                }
            }
            handle = builder.state.blocks.next(after: entry)
        }
    }

    /// Whether a key that was noted is shared in the state after the batch.
    private mutating func judge(
        _ suspect: (row: Int, unique: Int, number: UInt32, hash: UInt64),
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard try builder.hasRow(tree: entity.tree, suspect.number),
            try builder.loadKey(of: suspect.number, unique: suspect.unique, into: &room.key),
            room.key.hash(seed: builder.seed) == suspect.hash
        else { return }
        var cursor = builder.state.uniques[suspect.unique].firstCandidate(hash: suspect.hash)
        while let number = cursor.next() {
            guard number != suspect.number,
                try builder.loadKey(of: number, unique: suspect.unique, into: &room.other),
                room.other.equals(room.key)
            else { continue }
            return refuse(
                row: suspect.row, suspect.unique, number, "the key belongs to another object",
                &builder)
        }
    }

    /// Remembers an error about a row; the first hundred are listed.
    mutating func refuse(
        row: Int, _ unique: Int, _ number: UInt32, _ message: String, _ builder: inout CommitBuilder
    ) {
        refusedCount += 1
        guard refused.count < 100 else { return }
        let definition = builder.catalog.uniques[unique]
        let owner = (try? builder.keyText(of: number, entity: entityIndex)) ?? "p\(number)"
        let value = (try? builder.keyText(of: number, entity: entityIndex, unique: unique)) ?? ""
        refused.append(
            StoreError(
                .constraintConflict, message,
                context: .init(
                    entity: entity.name, key: definition.names.joined(separator: ", "), row: row,
                    objectID: identity.id(UInt64(number), entity: entityIndex),
                    detail: "\(message): \(value) is \(owner)"
                        + (definition.isPlain ? "" : " (\(definition.words))"))))
    }
}
