// The survivors of objects that were merged into others.
//
// Threads: any.

import CairnModel
import CairnStore
import Synchronization

extension PostgresSnapshot {
    /// The same request with redirected object ids replaced by their survivors.
    func redirected(_ request: StoreFetch) throws(StoreError) -> StoreFetch {
        guard core.hasRedirects.load(ordering: .relaxed), let condition = request.predicate else {
            return request
        }
        var named: [UInt32: Set<ObjectID>] = [:]
        _ = condition.replacingObjectIDs { id in
            if identity.entity(of: id) != nil { named[id.hierarchy, default: []].insert(id) }
            return nil
        }
        var survivors: [ObjectID: ObjectID] = [:]
        for (hierarchy, ids) in named {
            for id in try known(ids, hierarchy) {
                survivors[id] = try redirectedObjectID(for: id)
            }
        }
        var request = request
        request.predicate = condition.replacingObjectIDs { survivors[$0] }
        return request
    }

    /// Those of some ids that lead to others. Few do, and most conditions name none.
    private func known(_ ids: Set<ObjectID>, _ hierarchy: UInt32) throws(StoreError) -> [ObjectID] {
        let result = try reading.ask(
            Statement(
                """
                SELECT id FROM \(core.layout.sql(.redirects)) \
                WHERE hierarchy = $1 AND id = ANY($2::bigint[])
                """,
                [
                    .int64(Int64(hierarchy)),
                    .array(.int64s(ids.map { Int64(bitPattern: $0.reference) })),
                ]))
        return try StoreCore.sql { () throws(SQLFailure) in
            try (0..<result.rowCount).map { row throws(SQLFailure) in
                ObjectID(
                    store: identity.identifier, hierarchy: hierarchy,
                    reference: UInt64(bitPattern: try result.int64(row, 0)))
            }
        }
    }

    func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        guard let entity = identity.entity(of: id),
            core.hasRedirects.load(ordering: .relaxed)
        else { return nil }
        var number = Int64(bitPattern: id.reference)
        var known: Set<Int64> = [number]
        while true {
            let result = try reading.ask(
                Statement(
                    """
                    SELECT survivor FROM \(core.layout.sql(.redirects)) \
                    WHERE hierarchy = $1 AND id = $2
                    """, [.int64(Int64(id.hierarchy)), .int64(number)]))
            guard result.rowCount > 0 else { break }
            number = try StoreCore.sql { () throws(SQLFailure) in try result.int64(0, 0) }
            guard known.insert(number).inserted else {
                throw StoreError(.damaged, "ids are redirected in a circle")
            }
        }
        if known.count == 1 { return nil }
        // Who it leads to may be gone as well.
        let survivor = identity.id(UInt64(bitPattern: number), entity: entity)
        return try rows([survivor])[0] == nil ? nil : survivor
    }
}
