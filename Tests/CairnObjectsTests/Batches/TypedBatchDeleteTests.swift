// Batch deletes of a class's objects.

import Cairn
import Foundation
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Typed batch deletes")
struct TypedBatchDeleteTests {
    private func context(_ backend: Backend) throws -> ManagedObjectContext {
        let schema = try Schema(ManagedObjectModel(for: TypedProduct.self))
        let context = ManagedObjectContext(
            store: try backend.makeStore(schema), classes: ObjectClasses(for: TypedProduct.self))
        try context.execute(
            BatchInsertRequest(TypedProduct.self, from: 0..<8) { row, number in
                row.serialCode = "\(number)"
                row.price = Double(number)
                row.stock = number
            })
        return context
    }

    private func codes(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<TypedProduct>(sortBy: [SortKey("serialCode")]))
            .map(\.serialCode)
    }

    @Test("A predicate, a condition or nothing says which objects go", arguments: Backend.allCases)
    func which(_ backend: Backend) throws {
        let context = try context(backend)
        let limit = 3.0
        let first = try context.execute(
            BatchDeleteRequest(TypedProduct.self, where: #Predicate { $0.price < limit }))
        #expect(first.deletedCount == 3)
        #expect(try codes(context) == ["3", "4", "5", "6", "7"])
        var byCondition = BatchDeleteRequest(
            TypedProduct.self, predicate: .compare(\TypedProduct.stock, .equal, 5))
        byCondition.resultType = .objectIDs
        #expect(try context.execute(byCondition).objectIDs.count == 1)
        #expect(try codes(context) == ["3", "4", "6", "7"])
        let byName = BatchDeleteRequest(
            entityName: "TypedProduct", predicate: .compare("stock", .greater, .integer(6)))
        #expect(try context.execute(byName).deletedCount == 1)
        #expect(try context.execute(BatchDeleteRequest(TypedProduct.self)).deletedCount == 3)
        #expect(try codes(context).isEmpty)
    }

    @Test("What cannot be asked of a store deletes nothing", arguments: Backend.allCases)
    func refused(_ backend: Backend) throws {
        let context = try context(backend)
        let requests = [
            BatchDeleteRequest(entityName: "Nothing"),
            BatchDeleteRequest(
                entityName: "TypedProduct", predicate: .compare("nothing", .equal, .integer(1))),
            BatchDeleteRequest(
                TypedProduct.self, where: #Predicate { $0.serialCode.hashValue == 1 }),
        ]
        for request in requests {
            let error = #expect(throws: StoreError.self) { try context.execute(request) }
            #expect(error?.code == .invalidRequest)
        }
        #expect(try codes(context).count == 8)
    }
}
