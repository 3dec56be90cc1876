// Blocks of rows whose derived texts are as large as the texts they are made of.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Blocks of derived texts")
struct DerivedBlockTests {
    @Test("A batch's blocks keep to their budget of bytes, derived texts included")
    func budget() throws {
        var attributes = [AttributeDescription("name", .string)]
        for (name, function) in [
            ("key", "canonical"), ("shout", "uppercase"), ("low", "lowercase"),
        ] {
            var attribute = AttributeDescription(name, .string)
            attribute.derivationExpression = "\(function):(name)"
            attributes.append(attribute)
        }
        let model = ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: attributes, uniquenessConstraints: [["name"]])
        ])
        var options = SampleStore.options(on: MemoryFileSystem())
        options.sizes.bytesPerBlock = 16 << 10
        let store = try LogStore.open(at: "/store", schema: Schema(model), options: options)
        // Four texts of a thousand bytes a row: four rows a block.
        let names = (0..<100).map { number in
            String(repeating: Character(UnicodeScalar(97 + UInt8(number % 26))), count: 1000)
                + "\(100 + number)"
        }
        _ = try store.execute(
            BatchInsertRequest(entityName: "Item", objects: names.map { ["name": $0] }))
        let state = store.engine.registry.published()
        var handle = state.blocks.first(ofEntity: 0)
        var rows: [Int] = []
        while handle != .none {
            let entry = state.blocks.entry(handle)
            rows.append(Int(entry.rows))
            handle = state.blocks.next(after: entry)
        }
        #expect(rows.reduce(0, +) == 100)
        #expect(rows.allSatisfy { $0 * 4 * 1000 <= options.sizes.bytesPerBlock }, "\(rows)")
        let snapshot = try store.snapshot()
        #expect(
            try snapshot.count(
                StoreFetch(
                    entity: 0, predicate: .compare("shout", .equal, .string(names[7].uppercased())))
            )
                == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }
}
