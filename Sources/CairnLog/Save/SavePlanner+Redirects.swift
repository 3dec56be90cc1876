// Objects that a save folds into others, and references to such as were folded before.                Format 78

import CairnModel
import CairnStore

extension SavePlanner {
    /// References of the request to objects that others have folded meanwhile lead to the ones in their place, as if they had
    /// been set to them. Those that a row had before, and still has, are left alone, and so are those whose relationship may
    /// not lead to the other object: they are cleared as what is gone.
    mutating func leadLateReferences(_ state: EngineState) {
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
                let entity = Int(state.blocks.entry(cell.handle).entity)
                guard isDestination(entity, ofColumn: column, rows[index].entity) else { continue }
                rows[index].values[column] = .objectID(
                    identity.id(UInt64(target), entity: catalog.schemaEntity(entity)))
                rows[index].isMerged = true
            }
        }
    }

    /// Step 9.
    mutating func planRedirects(_ state: EngineState) throws(StoreError) {
        if state.redirects == nil, request.redirects.isEmpty { return }
        for row in rows where row.fate == .live && row.stored == nil {
            let tree = catalog.entities[row.entity].tree
            let key = RedirectTable.Key(tree: catalog.trees[tree].id, row.number)
            if let entry = state.redirects?[key], entry.target != 0 {
                // Created again under its id.
                redirections.append(Redirection(tree: tree, number: row.number, target: 0))
            }
        }
        if request.redirects.isEmpty { return }
        let deleted = Set(request.deleted.lazy.map(\.id))
        var led: [ObjectID: ObjectID] = [:]
        for redirect in request.redirects {
            guard deleted.contains(redirect.id), redirect.survivor.store == redirect.id.store,
                redirect.survivor.hierarchy == redirect.id.hierarchy,
                led.updateValue(redirect.survivor, forKey: redirect.id) == nil
            else {
                throw StoreError(
                    .invalidRequest,
                    "an object is led to one other of its hierarchy, in the save that deletes it",
                    context: .init(objectID: redirect.id))
            }
        }
        var passed: [ObjectID] = []
        for redirect in request.redirects {
            // One that is gone on both sides was led elsewhere, or nowhere; one that the policy lets live is itself.
            guard let index = workingIndex(of: redirect.id), rows[index].fate != .live,
                rows[index].stored != nil
            else { continue }
            var survivor = redirect.survivor
            passed.removeAll(keepingCapacity: true)
            while let next = led[survivor],
                workingIndex(of: survivor).map({ rows[$0].fate != .live }) ?? true
            {
                passed.append(survivor)
                survivor = next
                guard passed.count <= led.count else {
                    throw StoreError(
                        .invalidRequest, "objects are led to each other in a circle",
                        context: .init(objectID: redirect.id))
                }
            }
            // Whoever comes to one of these goes on from here, so that long chains are walked once.
            for id in passed { led[id] = survivor }
            let tree = catalog.entities[rows[index].entity].tree
            guard let target = place(of: survivor, tree: tree, state) else { continue }
            redirections.append(
                Redirection(tree: tree, number: rows[index].number, target: target))
        }
    }

    /// The number of the object that an id is, or leads to, after the save; nil if there is none.
    private func place(of id: ObjectID, tree: Int, _ state: EngineState) -> UInt32? {
        if let index = survivor(of: id) {
            return rows[index].fate == .live ? rows[index].number : nil
        }
        guard !id.isTemporary, let number = UInt32(exactly: id.reference) else { return nil }
        if !state.directories[tree][number].isEmpty { return number }
        guard let target = state.redirected(number, tree: tree) else { return nil }
        if let index = workingIndex(tree: tree, number: target) {
            return rows[index].fate == .live ? target : nil
        }
        return target
    }
}
