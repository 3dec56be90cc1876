// Relationships of a batch's rows that are set after all rows.
//
// Rows apply in their order: if two rows set the same relationship, or both ends of one, the last one wins.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

extension BatchInserter {
    /// Sets to-many relationships, and those to-one relationships whose inverse must be updated too.
    mutating func finishLateLinks(_ builder: inout CommitBuilder) throws(StoreError) {
        guard let links else { return }
        let targets = links.lateTargets
        if targets.isEmpty && links.lists.isEmpty { return }
        try makeLateTargets(links, &builder)
        let description = builder.catalog.description(of: entityIndex)
        // Within a row, to-one relationships come first.
        var all: [(row: Int, order: Int, place: Int)] = []
        for (place, target) in targets.enumerated() {
            all.append((target.open.row, target.column, place))
        }
        for (place, list) in links.lists.enumerated() {
            all.append((list.row, description.columns.count + list.relationship, place))
        }
        all.sort { $0 < $1 }
        var late = LateLinks(description, builder.catalog, identity)
        var missing = MissingTargets()
        var plans: [Int: RowLinkPlan] = [:]
        for (_, order, place) in all {
            if order < description.columns.count {
                try lead(targets[place], links, &late, &missing, &builder)
            } else {
                let list = links.lists[place]
                var plan =
                    plans[list.relationship]
                    ?? RowLinkPlan(
                        relationship: list.relationship, of: description,
                        in: builder.catalog.schema,
                        allowsMore: request.createsTargets)
                let members = try members(list, &plan, &missing, &builder)
                plans[list.relationship] = plan
                if missing.count > 0 { continue }
                // The only merge rule of to-many relationships keeps all members.
                let isChanged = try late.set(
                    list.relationship, of: list.number, to: members,
                    replaces: list.targets.replaces && !room.merges, row: list.row, &builder)
                if isChanged { links.changedLate.insert(list.number) }
                if isChanged, list.isUnchanged { countUpdate(list.row, list.number) }
            }
            if late.isLarge, missing.count == 0 { try late.write(&builder) }
        }
        try missing.check(entity.name)
        try late.write(&builder)
        try check(late, &builder)
        if request.validates { try checkCounts(links, late, &builder) }
    }

    private mutating func lead(
        _ given: BatchLinks.LateTarget, _ links: BatchLinks, _ late: inout LateLinks,
        _ missing: inout MissingTargets, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard let plan = links.plans[given.column] else { return }
        let open = given.open
        var target: UInt32?
        if let wanted = open.wanted {
            // If the object still waits for this target, the pending entry also has the targets of later rows
            // that gave way to it.
            let last = links.open[BatchLinks.Cell(given.number, given.column)]
            target = try find(last?.row == open.row ? last ?? open : open, plan, &builder)
            if target == nil, !request.ignoresMissingTargets || !plan.isOptional {
                missing.note(plan, wanted, row: open.row)
            }
        }
        if missing.count > 0 { return }
        let isChanged = try late.lead(
            given.number, given.column, to: target, row: open.row, &builder)
        if isChanged { links.changedLate.insert(given.number) }
        if isChanged, open.isUnchanged { countUpdate(open.row, given.number) }
    }

    /// Returns the numbers of the members that a row names, without duplicates.
    private mutating func members(
        _ list: BatchLinks.List, _ plan: inout RowLinkPlan, _ missing: inout MissingTargets,
        _ builder: inout CommitBuilder
    ) throws(StoreError) -> [UInt32] {
        var members: [UInt32] = []
        var known: Set<UInt32> = []
        for target in list.targets.targets {
            guard let wanted = try plan.wanted(target, row: list.row) else { continue }
            if let number = try find(wanted, plan, list.row, &builder) {
                if known.insert(number).inserted { members.append(number) }
            } else if !request.ignoresMissingTargets {
                missing.note(plan, wanted, row: list.row)
            }
        }
        return members
    }

    /// Throws if an object lost the target of a required relationship, or got a key that another object has.
    private mutating func check(_ late: LateLinks, _ builder: inout CommitBuilder)
        throws(StoreError)
    {
        for loose in late.loosened {
            let stored = builder.catalog.entities[loose.entity]
            guard
                let value = try builder.value(
                    tree: stored.tree, number: loose.number, column: loose.column),
                value.isNull
            else { continue }
            throw StoreError(
                .missingMandatory, "a required relationship is nil",
                context: .init(
                    entity: stored.name, key: stored.columns[loose.column].name, row: loose.row,
                    objectID: identity.id(UInt64(loose.number), entity: loose.entity)))
        }
        for key in late.movedKeys {
            if builder.catalog.entities[key.entity].tree == entity.tree {
                // The object that has the key may still be deleted.
                suspects.append((key.row, key.unique, key.number, key.hash))
                continue
            }
            guard
                try builder.hasRow(
                    tree: builder.catalog.entities[key.entity].tree, key.number),
                try builder.rival(of: key.number, unique: key.unique) != nil
            else { continue }
            throw StoreError(
                .constraintConflict, "the key belongs to another object",
                context: .init(
                    entity: builder.catalog.entities[key.entity].name,
                    key: builder.catalog.uniques[key.unique].names.joined(separator: ", "),
                    row: key.row, objectID: identity.id(UInt64(key.number), entity: key.entity)))
        }
    }

    /// Throws if a list that a row sets has fewer or more members than the model allows.
    private func checkCounts(
        _ links: BatchLinks, _ late: LateLinks, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        let description = builder.catalog.description(of: entityIndex)
        for list in links.lists {
            let relationship = description.relationships[list.relationship].description
            let (least, most) = (relationship.minimumCount, relationship.maximumCount)
            if least == 0 && most == 0 { continue }
            let count = try late.count(list.relationship, of: list.number, &builder)
            let isTooFew = count < least && (count > 0 || !relationship.isOptional)
            guard isTooFew || most > 0 && count > most else { continue }
            throw StoreError(
                isTooFew ? .tooFewMembers : .tooManyMembers,
                isTooFew
                    ? "\(count) objects are fewer than \(least)"
                    : "\(count) objects are more than \(most)",
                context: .init(entity: entity.name, key: relationship.name, row: list.row))
        }
    }
}
