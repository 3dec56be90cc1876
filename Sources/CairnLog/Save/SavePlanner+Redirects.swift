// Objects that a save merges into others, and references to objects that were merged before.        Format 78

import CairnModel
import CairnStore

extension SavePlanner {
    /// Redirects references of the request to objects that were merged into others concurrently, as if they
    /// had been set to the survivors. References that a row had before and still has do not change.
    /// References whose relationship cannot contain the survivor are cleared, as if their target were
    /// deleted.
    mutating func leadLateReferences(_ builder: borrowing CommitBuilder) {
        let state = builder.state
        for index in rows.indices where rows[index].kind != .deleted {
            for reference in catalog.entities[rows[index].entity].references {
                let column = catalog.references[reference].column
                guard case .objectID(let id) = rows[index].values[column], !id.isTemporary,
                    id.store == identity.identifier, workingIndex(of: id) == nil,
                    let tree = catalog.entities[rows[index].entity].columns[column].target,
                    id.hierarchy == catalog.trees[tree].id,
                    let number = UInt32(exactly: id.reference),
                    let target = state.redirected(number, tree: tree),
                    rows[index].stored?.values[column] != .objectID(id)
                else { continue }
                let cell = state.directories[tree][target]
                if cell.isEmpty {
                    builder.tools.partial?.miss(tree: tree, number: target)
                    continue
                }
                let entity = Int(state.blocks.entry(cell.handle).entity)
                guard isDestination(entity, ofColumn: column, rows[index].entity) else { continue }
                rows[index].values[column] = .objectID(
                    identity.id(UInt64(target), entity: catalog.schemaEntity(entity)))
                rows[index].isMerged = true
            }
        }
    }

    /// Step 9.
    mutating func planRedirects(_ builder: borrowing CommitBuilder) throws(StoreError) {
        let state = builder.state
        if state.redirects == nil, request.redirects.isEmpty, successors.isEmpty { return }
        if state.redirects != nil {
            for row in rows where row.fate == .live && row.stored == nil {
                let tree = catalog.entities[row.entity].tree
                let key = RedirectTable.Key(tree: catalog.trees[tree].id, row.number)
                if let entry = state.redirects?[key], entry.target != 0 {
                    // Recreated with its id.
                    redirections.append(Redirection(tree: tree, number: row.number, target: 0))
                }
            }
        }
        for (index, successor) in successors.sorted(by: { $0.key < $1.key }) {
            guard rows[index].fate != .live,
                rows[index].stored != nil || !rows[index].id.isTemporary,
                let target = standing(successor)
            else { continue }
            let tree = catalog.entities[rows[index].entity].tree
            let number = rows[index].number
            // An object that was merged before, then recreated and absorbed again, may already redirect
            // there.
            if rows[index].stored == nil,
                state.redirected(number, tree: tree) == rows[target].number
            {
                continue
            }
            redirections.append(
                Redirection(tree: tree, number: number, target: rows[target].number))
        }
        if !request.redirects.isEmpty { try planRequestedRedirects(builder) }
    }

    /// Returns the row that has replaced another one; nil if that is deleted for good.
    func standing(_ index: Int) -> Int? {
        var index = index
        while rows[index].fate != .live {
            // Each has lost to a row that was live then, so this terminates.
            if case .absorbed(let next) = rows[index].fate {
                index = next
            } else if let next = successors[index] {
                index = next
            } else {
                return nil
            }
        }
        return index
    }

    private mutating func planRequestedRedirects(_ builder: borrowing CommitBuilder)
        throws(StoreError)
    {
        let state = builder.state
        let deleted = Set(request.deleted.lazy.map(\.id))
        var led: [ObjectID: ObjectID] = [:]
        for redirect in request.redirects {
            let isNamed = deleted.contains(redirect.id)
            guard try isNamed ? true : isUnused(redirect.id, builder),
                redirect.survivor.isTemporary || redirect.survivor.store == redirect.id.store,
                redirect.survivor.hierarchy == redirect.id.hierarchy,
                led.updateValue(redirect.survivor, forKey: redirect.id) == nil
            else {
                throw StoreError(
                    .invalidRequest,
                    "an object can only be redirected to another one in its hierarchy, in the save that deletes it",
                    context: .init(objectID: redirect.id))
            }
        }
        var passed: [ObjectID] = []
        for redirect in request.redirects {
            let number: UInt32
            if let index = workingIndex(of: redirect.id) {
                // A row that the policy keeps live is not redirected.
                guard rows[index].fate != .live, rows[index].stored != nil else { continue }
                number = rows[index].number
            } else if !deleted.contains(redirect.id) {
                number = UInt32(truncatingIfNeeded: redirect.id.reference)
            } else {
                continue  // Gone on both sides: it was led elsewhere, or nowhere.
            }
            var survivor = redirect.survivor
            passed.removeAll(keepingCapacity: true)
            while let next = led[survivor],
                workingIndex(of: survivor).map({ rows[$0].fate != .live }) ?? true
            {
                passed.append(survivor)
                survivor = next
                guard passed.count <= led.count else {
                    throw StoreError(
                        .invalidRequest, "objects are redirected to each other in a circle",
                        context: .init(objectID: redirect.id))
                }
            }
            // Later walks that reach one of these continue from the survivor, so that long chains are walked
            // once.
            for id in passed { led[id] = survivor }
            guard let tree = catalog.treeIndex(id: redirect.id.hierarchy),
                let target = try place(of: survivor, tree: tree, builder), target != number,
                state.redirected(number, tree: tree) != target
            else { continue }
            redirections.append(Redirection(tree: tree, number: number, target: target))
        }
    }

    /// Whether an id was issued, but the save names no object with it: a new object that was merged into
    /// another.
    private func isUnused(_ id: ObjectID, _ builder: borrowing CommitBuilder) throws(StoreError)
        -> Bool
    {
        guard !id.isTemporary, id.store == identity.identifier, workingIndex(of: id) == nil,
            let tree = catalog.treeIndex(id: id.hierarchy),
            let number = UInt32(exactly: id.reference)
        else { return false }
        return try builder.isIssuedAndFree(tree: tree, number: number)
    }

    /// Returns the number of the object that an id refers to after the save, following redirects; nil if
    /// there is none.
    private func place(of id: ObjectID, tree: Int, _ builder: borrowing CommitBuilder)
        throws(StoreError) -> UInt32?
    {
        if let index = workingIndex(of: id) { return standing(index).map { rows[$0].number } }
        guard !id.isTemporary, let number = UInt32(exactly: id.reference) else { return nil }
        if try builder.hasRow(tree: tree, number) { return number }
        guard let target = builder.state.redirected(number, tree: tree) else { return nil }
        if let index = workingIndex(tree: tree, number: target) {
            return standing(index).map { rows[$0].number }
        }
        return target
    }
}
