// CairnPostgres, as a program's author uses it.

import Cairn
import CairnPostgres
import Foundation

struct CairnPostgresPeer {
    private let task: PostgresTask
    private let store: PostgresStore

    init(_ task: PostgresTask) throws {
        self.task = task
        if task.part == .load {
            let connection = try PQConnection(task.url)
            try connection.run("DROP SCHEMA IF EXISTS bench_cairn CASCADE")
        }
        store = try PostgresStore.open(
            task.url + "?cairn_schema=bench_cairn", schema: try Schema(CairnPeer.model))
    }

    func measure() throws -> PostgresFigures {
        defer { try? store.close() }
        switch task.part {
        case .load, .reload: return try load()
        case .fetch: return try fetch()
        case .saves:
            return try save(PostgresPart.manySaves, of: PostgresPart.changed)
        case .single: return try save(PostgresPart.singleSaves, of: 1)
        }
    }

    private func load() throws -> PostgresFigures {
        let rows = Product.rows(task.rows)
        let columns = try ProductColumns(store.schema)
        return try PostgresFigures.measure(count: task.rows) {
            let position = Counter(0)
            let task = task
            var request = BatchInsertRequest(entity: columns.entity) { row in
                let index = position.value
                if index == rows.endIndex { return true }
                position.value = index + 1
                columns.fill(row, task.product(rows[index]))
                return false
            }
            request.mergePolicy = .overwrite
            let result = try store.execute(request)
            precondition(result.insertedCount + result.updatedCount == rows.count)
        }
    }

    private func context() -> ManagedObjectContext {
        ManagedObjectContext(
            store: store, classes: ObjectClasses(for: Item.self, ParentItem.self))
    }

    private func fetch() throws -> PostgresFigures {
        let context = context()
        var tally = Tally()
        let figures = try PostgresFigures.measure(count: task.objects) {
            var request = FetchRequest<Item>()
            request.fetchLimit = task.objects
            for item in try context.fetch(request) { tally.add(item.product) }
        }
        precondition(tally.count == task.objects, "all objects are there")
        return figures
    }

    private func save(_ saves: Int, of count: Int) throws -> PostgresFigures {
        let context = context()
        var request = FetchRequest<Item>()
        request.fetchLimit = max(count, 1000)
        let items = try context.fetch(request)
        var place = 0
        return try PostgresFigures.measure(count: saves) {
            for _ in 0..<saves {
                for _ in 0..<count {
                    items[place % items.count].quantity += 1
                    items[place % items.count].price += 0.25
                    place += 1
                }
                try context.save()
            }
        }
    }
}
