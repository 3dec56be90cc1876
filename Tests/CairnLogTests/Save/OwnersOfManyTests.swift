// Derived attributes of an owner with many members: what a save does not touch is not read.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnLog

@Suite("Owners of many members")
struct OwnersOfManyTests {
    private static let schema: Schema = {
        func derived(_ name: String, _ type: AttributeType, _ expression: String)
            -> AttributeDescription
        {
            var attribute = AttributeDescription(name, type)
            attribute.derivationExpression = expression
            return attribute
        }
        let box = EntityDescription(
            "Box",
            attributes: [
                derived("count", .integer64, "items.@count"),
                derived("sum", .integer32, "items.size.@sum"),
                derived("least", .integer64, "items.size.@min"),
                derived("greatest", .integer64, "items.size.@max"),
                derived("first", .date, "items.made.@min"),
                derived("last", .date, "items.made.@max"),
            ], relationships: [.init("items", to: "Item", toMany: true, inverse: "box")])
        let item = EntityDescription(
            "Item", attributes: [.init("size", .integer32), .init("made", .date)],
            relationships: [.init("box", to: "Box", inverse: "items")])
        guard let schema = try? Schema(ManagedObjectModel(entities: [box, item])) else {
            preconditionFailure("the model is right")
        }
        return schema
    }()

    /// A box and what is in it.
    private struct Scene {
        let store: LogStore
        let box: ObjectID
        var items: [ObjectID] = []
        private var issued: UInt64 = 0

        init() throws {
            var options = SampleStore.options(on: MemoryFileSystem(), durability: .relaxed)
            options.sizes.rowsPerBlock = 16
            store = try LogStore.open(at: "/store", schema: schema, options: options)
            var request = SaveRequest()
            let id = ObjectID(
                temporary: 1, hierarchy: store.identity.hierarchies[0],
                context: store.identity.identifier)
            request.inserted = [
                .init(
                    id: id, entity: 0, values: Array(repeating: .null, count: 6), assigned: [])
            ]
            guard case .saved(let result) = try store.save(request) else {
                preconditionFailure("nothing stands against it")
            }
            box = result.permanentIDs[id] ?? id
        }

        static func made(_ size: Int?) -> Value {
            size.map { .date(Date(timeIntervalSinceReferenceDate: Double($0))) } ?? .null
        }

        mutating func add(_ sizes: [Int?]) throws {
            var request = SaveRequest()
            for size in sizes {
                issued += 1
                request.inserted.append(
                    .init(
                        id: ObjectID(
                            temporary: issued, hierarchy: store.identity.hierarchies[1],
                            context: store.identity.identifier), entity: 1,
                        values: [
                            size.map { .integer(Int64($0)) } ?? .null, Self.made(size),
                            .objectID(box),
                        ], assigned: [0, 1, 2]))
            }
            guard case .saved(let result) = try store.save(request) else {
                preconditionFailure("nothing stands against it")
            }
            items += request.inserted.compactMap { result.permanentIDs[$0.id] }
        }

        /// Gives an item another size, or nil: takes it out.
        func change(_ index: Int, _ size: Int?, leaves: Bool = false) throws {
            let row = try #require(try store.snapshot().rows([items[index]])[0])
            var request = SaveRequest()
            request.updated = [
                .init(
                    id: row.id, entity: 1, base: row,
                    changes: leaves
                        ? [(2, .null)]
                        : [(0, size.map { .integer(Int64($0)) } ?? .null), (1, Self.made(size))])
            ]
            _ = try store.save(request)
        }

        func derived() throws -> [Value] {
            let row = try #require(try store.snapshot().rows([box])[0])
            let entity = schema.entities[0]
            return (0..<6).map { row.cells.value($0, of: entity, in: store.identity) }
        }
    }

    private static func expected(_ sizes: [Int?]) -> [Value] {
        let known = sizes.compactMap { $0 }
        func whole(_ number: Int?) -> Value { number.map { .integer(Int64($0)) } ?? .null }
        return [
            whole(sizes.count), whole(known.reduce(0, +)), whole(known.min()), whole(known.max()),
            Scene.made(known.min()), Scene.made(known.max()),
        ]
    }

    @Test("Sums and extremes follow members that come, change and go")
    func values() throws {
        try Rounds.run("owners of many members", everyDay: 10, whole: 500) { random in
            var scene = try Scene()
            var sizes: [Int?] = []
            var isIn: [Bool] = []
            for _ in 0..<30 {
                if sizes.isEmpty || random.oneIn(3) {
                    let new = (0..<Int.random(in: 1..<4, using: &random)).map { _ in
                        random.oneIn(5) ? nil : Int.random(in: -9..<10, using: &random)
                    }
                    try scene.add(new)
                    sizes += new
                    isIn += new.map { _ in true }
                } else {
                    let index = Int.random(in: sizes.indices, using: &random)
                    if random.oneIn(4) {
                        try scene.change(index, nil, leaves: true)
                        isIn[index] = false
                    } else {
                        sizes[index] =
                            random.oneIn(5) ? nil : Int.random(in: -9..<10, using: &random)
                        try scene.change(index, sizes[index])
                    }
                }
                let present = zip(sizes, isIn).filter(\.1).map(\.0)
                try #require(
                    try scene.derived() == Self.expected(present), "seed \(random.seed)")
            }
            #expect(try scene.store.check().findings.isEmpty)
            try scene.store.close()
        }
    }

    @Test("A member more or less is counted without reading the others' blocks")
    func reading() throws {
        var scene = try Scene()
        try scene.add((0..<1600).map { $0 })
        let before = scene.store.blockCache
        try scene.add([7, 800])
        try scene.change(500, 501)
        // All members would be a hundred blocks each time.
        let after = scene.store.blockCache
        #expect(after.hits + after.misses - before.hits - before.misses < 60)
        let sum = (0..<1600).reduce(0, +) + 807 + 1
        #expect(try scene.derived()[...1] == [.integer(1602), .integer(Int64(sum))])
        // The greatest goes: that, all members are asked for.
        try scene.change(1599, 3)
        #expect(try scene.derived()[3] == .integer(1598))
        try scene.store.close()
    }
}
