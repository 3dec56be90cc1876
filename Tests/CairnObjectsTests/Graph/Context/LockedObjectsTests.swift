// Objects that a save relies on without changing them.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Objects that must be unchanged")
struct LockedObjectsTests {
    /// A shop and a product of one store; a request that changes the product and relies on the shop.
    private struct Scene {
        let stack: Stack
        let shop: ObjectID
        let product: ObjectID
        var request = SaveRequest()

        init(_ backend: Backend) throws {
            stack = try Stack(Models.shop, backend)
            let ids = try stack.store { context in
                [
                    context.make("Shop", ["name": "S"]),
                    context.make("Product", ["name": "P", "serialCode": "1"]),
                ]
            }
            shop = ids[0]
            product = ids[1]
            let rows = try stack.store.snapshot().rows(ids)
            let (shopRow, productRow) = (try #require(rows[0]), try #require(rows[1]))
            let column = try #require(
                stack.store.schema.entities[productRow.entity].columnIndex(named: "name"))
            request.locked = [.init(id: shop, entity: shopRow.entity, base: shopRow)]
            request.updated = [
                .init(
                    id: product, entity: productRow.entity, base: productRow,
                    changes: [(column, .string("changed"))])
            ]
        }

        func change(_ key: String, _ value: Any?, of id: ObjectID) throws {
            let context = stack.context()
            context.object(with: id)[key] = value
            try context.save()
        }

        func productName() throws -> String? {
            try stack.context().existingObject(with: product).string("name")
        }
    }

    @Test("Nobody has changed it: the save goes through", arguments: Backend.allCases)
    func unchanged(_ backend: Backend) throws {
        let scene = try Scene(backend)
        guard case .saved(let result) = try scene.stack.store.save(scene.request) else {
            Issue.record("the save is in conflict")
            return
        }
        #expect(result.rows[scene.shop] == nil, "what is locked is not written")
        #expect(try scene.productName() == "changed")
    }

    @Test(
        "Somebody has changed or deleted it: a conflict that names it", arguments: Backend.allCases,
        [false, true])
    func changed(_ backend: Backend, _ isDeleted: Bool) throws {
        var scene = try Scene(backend)
        if isDeleted {
            let context = scene.stack.context()
            context.delete(context.object(with: scene.shop))
            try context.save()
        } else {
            try scene.change("name", "T", of: scene.shop)
        }
        let error = storeError { _ = try scene.stack.store.save(scene.request) }
        #expect(error?.code == .mergeConflict && error?.versions.count == 1)
        let conflict = try #require(error?.versions.first)
        #expect(conflict.id == scene.shop && !conflict.isDeletion)
        #expect((conflict.stored == nil) == isDeleted && conflict.base?.version == 1)
        #expect(conflict.stored.map(\.version) == (isDeleted ? nil : 2))
        #expect(try scene.productName() == "P")
        scene.request.resolution = .report
        guard case .conflicts(let conflicts) = try scene.stack.store.save(scene.request) else {
            Issue.record("the conflict is not reported")
            return
        }
        #expect(conflicts.count == 1)
        #expect(try scene.productName() == "P")
    }

    @Test(
        "A request with nothing else is compared all the same, and makes no commit",
        arguments: Backend.allCases)
    func alone(_ backend: Backend) throws {
        var scene = try Scene(backend)
        scene.request.updated = []
        guard case .saved(let result) = try scene.stack.store.save(scene.request) else {
            Issue.record("the save is in conflict")
            return
        }
        #expect(result.commit == nil && result.rows.isEmpty)
        try scene.change("name", "T", of: scene.shop)
        let error = storeError { _ = try scene.stack.store.save(scene.request) }
        #expect(error?.code == .mergeConflict)
        #expect(error?.versions.map(\.id) == [scene.shop])
        scene.request.resolution = .report
        guard case .conflicts(let conflicts) = try scene.stack.store.save(scene.request) else {
            Issue.record("the conflict is not reported")
            return
        }
        #expect(conflicts.count == 1)
    }

    @Test(
        "What the request itself deletes is compared as that: gone on both sides is no conflict",
        arguments: Backend.allCases, [false, true])
    func deletedToo(_ backend: Backend, _ isGone: Bool) throws {
        var scene = try Scene(backend)
        let locked = scene.request.locked[0]
        scene.request.deleted = [
            .init(id: scene.shop, entity: locked.entity, version: locked.base.version)
        ]
        if isGone {
            let context = scene.stack.context()
            context.delete(context.object(with: scene.shop))
            try context.save()
            guard case .saved = try scene.stack.store.save(scene.request) else {
                Issue.record("the save is in conflict")
                return
            }
            #expect(try scene.productName() == "changed")
        } else {
            try scene.change("name", "T", of: scene.shop)
            let error = storeError { _ = try scene.stack.store.save(scene.request) }
            #expect(error?.versions.map(\.isDeletion) == [true])
        }
    }

    @Test("A policy that resolves has nothing to decide about it", arguments: Backend.allCases)
    func resolving(_ backend: Backend) throws {
        for kind in MergePolicyKind.allCases where kind != .error {
            var scene = try Scene(backend)
            try scene.change("name", "T", of: scene.shop)
            scene.request.resolution = .policy(kind)
            _ = try scene.stack.store.save(scene.request)
            #expect(try scene.productName() == "changed")
            let shop = try scene.stack.context().existingObject(with: scene.shop)
            #expect(shop.string("name") == "T")
        }
    }

    @Test("What is only computed anew is no conflict", arguments: Backend.allCases)
    func derived(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let ids = try stack.store { [$0.make("Author", ["name": "A"]), $0.make("Tag")] }
        let rows = try stack.store.snapshot().rows(ids)
        let (author, tag) = (try #require(rows[0]), try #require(rows[1]))
        try stack.store { [$0.make("Article", ["author": $0.object(with: ids[0])])] }
        #expect(try stack.store.snapshot().rows([ids[0]])[0]?.version == 2)
        var request = SaveRequest()
        request.locked = [.init(id: ids[0], entity: author.entity, base: author)]
        request.deleted = [.init(id: ids[1], entity: tag.entity, version: 1)]
        _ = try stack.store.save(request)
        #expect(try stack.context().count("Tag") == 0)
    }
}
