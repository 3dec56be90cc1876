// Fetch indexes of a store against its rows, whatever is written, moved and reopened.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Fetch indexes")
struct FetchIndexTests {
    /// Which indexes the model of a store declares.
    enum Declared: CaseIterable {
        case none, some, all
    }

    static func schema(_ declared: Declared) throws -> Schema {
        typealias Index = FetchIndexDescription
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("key", .string), .init("name", .string), .init("rank", .integer32),
                .init("weight", .double), .init("ratio", .float), .init("price", .decimal),
                .init("when", .date), .init("flag", .boolean), .init("tag", .uuid),
                .init("text", .string),
            ], uniquenessConstraints: [["key"]])
        item.relationships = [RelationshipDescription("owner", to: "Owner", inverse: "items")]
        var special = EntityDescription("Special", attributes: [.init("extra", .integer64)])
        special.superentityName = "Item"
        var owner = EntityDescription("Owner", attributes: [.init("name", .string)])
        owner.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "owner")
        ]
        if declared != .none {
            item.indexes = [
                Index("byRank", elements: [.init("rank")]),
                Index("byName", elements: [.init("name"), .init("rank", ascending: false)]),
            ]
        }
        if declared == .all {
            item.indexes += [
                Index("byWeight", elements: [.init("weight", ascending: false)]),
                Index("byRatio", elements: [.init("ratio")]),
                Index("byPrice", elements: [.init("price"), .init("flag")]),
                Index("byWhen", elements: [.init("when"), .init("name", ascending: false)]),
                Index("byTag", elements: [.init("tag")]),
                Index("byText", elements: [.init("text")]),
                Index("byOwner", elements: [.init("owner"), .init("rank")]),
                // Left out: repeated, or of something that has no cell.
                Index("again", elements: [.init("rank")]),
                Index("none", elements: [.init(expression: "length:(name)", type: "Integer 64")]),
            ]
            special.indexes = [
                Index("byExtra", elements: [.init("extra"), .init("rank")]),
                Index("repeated", elements: [.init("rank")]),
            ]
        }
        return try Schema(ManagedObjectModel(entities: [item, special, owner]))
    }

    // MARK: Comparing

    private static func ids(_ view: FetchIndexView, _ range: FetchIndexView.Range) -> [UInt32] {
        var cursor = view.cursor(range)
        var found: [UInt32] = []
        while let number = cursor.next() { found.append(number) }
        return found
    }

    private static func expect(_ problems: [String], _ place: Comment) {
        #expect(problems == [], place)
    }

    /// What a fetch index says against what sorting and filtering rows say.
    static func problems(_ store: LogStore, _ random: inout RandomSource) throws -> [String] {
        let pin = store.engine.registry.pin()
        return try withExtendedLifetime(pin) { try problems(pin.state, store, &random) }
    }

    static func problems(_ state: EngineState, _ store: LogStore, _ random: inout RandomSource)
        throws -> [String]
    {
        var problems: [String] = []
        func fetch(_ fetch: StoreFetch) throws -> [UInt32] {
            try FetchRunner(reader: store.engine.reader, state: state, fetch: fetch).result().ids
                .map {
                    UInt32($0.reference)
                }
        }
        for index in state.catalog.fetchIndexes.indices {
            let view = FetchIndexView(state, index: index)
            let definition = view.definition
            guard let all = view.range() else { return ["no range of all of \(definition.name)"] }
            var sorted = StoreFetch(entity: definition.entity)
            sorted.sort = zip(definition.names, definition.parts).map {
                SortKey($0, ascending: $1.isAscending)
            }
            let wanted = try fetch(sorted)
            let found = Self.ids(view, all)
            let isCut = definition.names.contains("text")
            if isCut ? Set(found) != Set(wanted) || found.count != wanted.count : found != wanted {
                problems.append("\(definition.name) has another order or other objects")
            }
            guard !wanted.isEmpty, let number = wanted.randomElement(using: &random) else {
                continue
            }
            // The values of some row: equality on all elements, on some of them, and ranges.
            let entity = state.catalog.entities[definition.entity]
            let cell = state.directories[entity.tree][number]
            let concrete = Int(state.blocks.entry(cell.handle).entity)
            let reader = RowReader(
                catalog: state.catalog, identity: store.engine.identity, entity: concrete)
            let row = try reader.values(
                try store.engine.reader.block(state.blocks.entry(cell.handle), in: state), cell.slot
            )
            let values = definition.parts.map { row[$0.column] }
            func isNaN(_ value: Value) -> Bool {
                switch value {
                case .double(let value): value.isNaN
                case .float(let value): value.isNaN
                default: false
                }
            }
            if values.contains(where: isNaN) { continue }
            for length in 1...values.count {
                let equal = Array(values.prefix(length))
                var query = StoreFetch(entity: definition.entity)
                query.predicate = .and(
                    zip(definition.names, equal).map {
                        .compare($0, .equal, $1)
                    })
                let expected = try fetch(query).sorted()
                guard let range = view.range(equal: equal) else {
                    problems.append("\(definition.name) has no range of its values")
                    continue
                }
                let here = Self.ids(view, range).sorted()
                if range.isExact ? here != expected : !Set(expected).isSubset(of: here) {
                    problems.append("\(definition.name) has others under \(equal)")
                }
                if view.count(range) != here.count {
                    problems.append(
                        "\(definition.name) counts \(view.count(range)) of \(here.count)")
                }
            }
            if definition.hasPostings {
                guard var postings = view.postings(equal: values),
                    let range = view.range(equal: values)
                else { return ["no postings in \(definition.name)"] }
                var numbers: [UInt32] = []
                while let number = postings.numbers.next() { numbers.append(number) }
                // Others may be there whose keys share the hash, which is common only where few bits of it are left.
                let here = Self.ids(view, range).sorted()
                let isRight =
                    state.hashSeed < 32
                    ? Set(here).isSubset(of: numbers)
                        && zip(numbers, numbers.dropFirst()).allSatisfy(<)
                    : numbers == here
                if !isRight || numbers.count != postings.count {
                    problems.append("the postings of \(definition.name) are others under \(values)")
                }
            }
            problems += try ranges(view, values, state, fetch)
        }
        return problems
    }

    /// Ranges on the first element, around a value.
    private static func ranges(
        _ view: FetchIndexView, _ values: [Value], _ state: EngineState,
        _ fetch: (StoreFetch) throws -> [UInt32]
    ) throws -> [String] {
        let definition = view.definition
        // References and UUIDs have no order for a predicate.
        guard !["owner", "tag", "flag"].contains(definition.names[0]), !values[0].isNull else {
            return []
        }
        var problems: [String] = []
        let bounds: [(PredicateNode.Comparison.Operator, IndexBound, IndexBound)] = [
            (.less, .open, .excluding(values[0])),
            (.lessOrEqual, .open, .including(values[0])),
            (.greater, .excluding(values[0]), .open),
            (.greaterOrEqual, .including(values[0]), .open),
        ]
        for (comparison, low, high) in bounds {
            var query = StoreFetch(entity: definition.entity)
            query.predicate = .compare(definition.names[0], comparison, values[0])
            let expected = try fetch(query).sorted()
            guard let range = view.range(then: .between(low, high)) else {
                problems.append("no range of \(definition.name)")
                continue
            }
            let here = ids(view, range).sorted()
            if range.isExact ? here != expected : !Set(expected).isSubset(of: here) {
                problems.append("\(definition.name) has others \(comparison) \(values[0])")
            }
        }
        return problems
    }
}

/// A store with fetch indexes on which random things are done.
private struct IndexedShop {
    let disk = MemoryFileSystem()
    var options: LogStoreOptions
    var declared = FetchIndexTests.Declared.all
    var store: LogStore
    private var nextTemporary = 0
    private let context = UUID()

    init(_ random: inout RandomSource) throws {
        options = SampleStore.options(on: disk, durability: .relaxed)
        options.sizes.segmentBytes = [6000, 1 << 30].randomElement(using: &random)!
        options.sizes.rowsPerBlock = [4, 30, 1024].randomElement(using: &random)!
        options.sizes.hashBits = [5, 10, 32].randomElement(using: &random) ?? 32
        options.sizes.mergedBlocks = [3, 32].randomElement(using: &random)!
        options.sizes.largeValueBytes = [200, 4096].randomElement(using: &random)!
        options.sizes.checkpointBytes = [3000, 64 << 20].randomElement(using: &random)!
        options.sizes.closingCheckpointBytes = [1, 1 << 30].randomElement(using: &random)!
        options.sizes.askedCompactionFloor = 0
        options.cacheBytes = [0, 1 << 20].randomElement(using: &random)!
        options.makeScheduler = { ManualScheduler() }
        store = try LogStore.open(
            at: "/store", schema: FetchIndexTests.schema(declared), options: options)
    }

    mutating func reopen(_ declared: FetchIndexTests.Declared?) throws {
        try store.close()
        let schema = try declared.map { try FetchIndexTests.schema($0) }
        store = try LogStore.open(at: "/store", schema: schema, options: options)
        // Without a model the store's own rules, which is the one that it was made with.
        self.declared = declared ?? .all
    }

    private static let names: [String] = (0..<9).map {
        $0 == 0 ? "" : $0 % 4 == 3 ? "a\u{0}\u{1}\($0)" : "name \($0 / 2)"
    }

    /// The values of an item but for its key, some of which are nil.
    private func values(_ random: inout RandomSource) -> [String: Value] {
        var values: [String: Value] = [:]
        func set(_ key: String, _ value: Value) { values[key] = random.oneIn(5) ? .null : value }
        set("name", .string(Self.names.randomElement(using: &random)!))
        set("rank", .integer(Int64(random.next() % 7) - 3))
        let doubles = [0, -0.0, 1.5, -1.5, .infinity, -.infinity, .nan, 1e300]
        set("weight", .double(doubles.randomElement(using: &random)!))
        set("ratio", .float(Float(doubles.randomElement(using: &random)!)))
        let sign = random.oneIn(2) ? "-" : ""
        let price = "\(sign)\(random.next() % 30)e\(Int(random.next() % 5) - 2)"
        set("price", .decimal(Decimal(string: price) ?? 0))
        set("when", .date(Date(timeIntervalSinceReferenceDate: Double(random.next() % 5))))
        set("flag", .boolean(random.oneIn(2)))
        let byte = UInt8(random.next() % 5)
        set("tag", .uuid(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte))))
        let length = [3, 61, 62, 63, 64, 90, 300].randomElement(using: &random)!
        set("text", .string(String(repeating: "x", count: length) + "\(random.next() % 3)"))
        return values
    }

    private func rows(_ entity: String) throws -> [Row] {
        guard let description = store.schema.entity(named: entity) else { return [] }
        var fetch = StoreFetch(entity: description.index)
        fetch.includesRows = true
        return try store.snapshot().fetch(fetch).rows
    }

    // MARK: Steps

    mutating func step(_ random: inout RandomSource) throws {
        switch random.next() % 10 {
        case 0...2: try batch(&random)
        case 3...6: try save(&random)
        case 7: try delete(&random)
        case 8: try owners(&random)
        default:
            if random.oneIn(2) {
                _ = try store.compact()
            } else {
                try store.engine.takeCheckpoint()
            }
        }
    }

    private func batch(_ random: inout RandomSource) throws {
        let entity = random.oneIn(3) ? "Special" : "Item"
        guard let description = store.schema.entity(named: entity) else { return }
        let count = [1, 5, 40, 300].randomElement(using: &random)!
        let given: [[String: Any]] = (0..<count).map { _ in
            var row: [String: Any] = ["key": "key \(random.next() % 500)"]
            for (name, value) in values(&random) {
                switch value {
                case .string(let value): row[name] = value
                case .integer(let value): row[name] = value
                case .double(let value): row[name] = value
                case .float(let value): row[name] = value
                case .decimal(let value): row[name] = value
                case .date(let value): row[name] = value
                case .boolean(let value): row[name] = value
                case .uuid(let value): row[name] = value
                default: row[name] = NSNull()
                }
            }
            if entity == "Special", random.oneIn(2) { row["extra"] = Int64(random.next() % 5) }
            return row
        }
        var request = BatchInsertRequest(entityName: description.name, objects: given)
        request.mergePolicy =
            random.oneIn(4) ? .mergeByPropertyStoreTrump : .mergeByPropertyObjectTrump
        request.setOnly = random.oneIn(2)
        request.prunesMissing = random.oneIn(15)
        // All rows of it may be about objects of the other entity.
        request.allowsEmpty = true
        do {
            _ = try store.execute(request)
        } catch {
            // A key of the other entity.
            guard error.code == .constraintConflict else { throw error }
        }
    }

    private mutating func save(_ random: inout RandomSource) throws {
        let schema = store.schema
        var request = SaveRequest()
        request.resolution = .policy(.mergeByPropertyObjectTrump)
        let stored = try rows("Item").shuffled(using: &random)
        let owners = try rows("Owner")
        let count = [1, 1, 4, 60].randomElement(using: &random)!
        for row in stored.prefix(count) {
            if random.oneIn(4) {
                request.deleted.append(
                    .init(id: row.id, entity: row.entity, version: row.version))
                continue
            }
            let entity = schema.entities[row.entity]
            var changes: [(column: Int, value: Value)] = []
            for (name, value) in values(&random) where random.oneIn(3) {
                if let column = entity.columnIndex(named: name) { changes.append((column, value)) }
            }
            if let column = entity.columnIndex(named: "owner"), random.oneIn(3) {
                let owner = owners.randomElement(using: &random).map { Value.objectID($0.id) }
                changes.append((column, owner ?? .null))
            }
            request.updated.append(
                .init(id: row.id, entity: row.entity, base: row, changes: changes))
        }
        for _ in 0..<count {
            guard let entity = schema.entity(named: random.oneIn(3) ? "Special" : "Item") else {
                continue
            }
            let given = values(&random)
            nextTemporary += 1
            let key = Value.string("new \(random.next() % 200)")
            request.inserted.append(
                .init(
                    id: ObjectID(
                        temporary: UInt64(nextTemporary),
                        hierarchy: store.identity.hierarchies[entity.index], context: context),
                    entity: entity.index,
                    values: entity.columns.map { $0.name == "key" ? key : given[$0.name] ?? .null },
                    assigned: ColumnSet(entity.columns.indices)))
        }
        _ = try store.save(request)
    }

    private func delete(_ random: inout RandomSource) throws {
        guard let item = store.schema.entity(named: "Item") else { return }
        var fetch = StoreFetch(
            entity: item.index,
            predicate: .compare("rank", .equal, .integer(Int64(random.next() % 7) - 3)))
        fetch.limit = [3, 100].randomElement(using: &random)
        _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
    }

    /// Owners come, and go with what leads to them cleared.
    private func owners(_ random: inout RandomSource) throws {
        let owners = try rows("Owner")
        if let owner = owners.randomElement(using: &random), owners.count > 4 {
            _ = try store.execute(BatchDeleteRequest(.ids([owner.id], entity: owner.entity)))
        } else {
            _ = try store.execute(
                BatchInsertRequest(entityName: "Owner", objects: [["name": "owner"], [:]]))
        }
    }
}

extension FetchIndexTests {
    /// A closed store with a checkpoint that holds fetch indexes.
    private func checkpointed(_ random: inout RandomSource) throws -> (IndexedShop, DiskImage) {
        var shop = try IndexedShop(&random)
        shop.options.sizes.closingCheckpointBytes = 1
        shop.options.sizes.segmentBytes = 1 << 30
        try shop.reopen(.all)
        for _ in 0..<25 { try shop.step(&random) }
        // A commit in the newest segment: what is of an older one is read at once. And no index is empty.
        for entity in ["Item", "Special"] {
            _ = try shop.store.execute(
                BatchInsertRequest(entityName: entity, objects: [["key": "last \(entity)"]]))
        }
        try shop.store.engine.takeCheckpoint()
        try shop.reopen(.all)
        try shop.store.close()
        return (shop, try DiskImage(of: shop.disk))
    }

    @Test("A checkpoint has them, and they are read when they are touched")
    func lazily() throws {
        var random = RandomSource()
        var (shop, _) = try checkpointed(&random)
        for declared in [Declared.all, .some, .none] {
            shop.store = try LogStore.open(
                at: "/store", schema: Self.schema(declared), options: shop.options)
            #expect(shop.store.recovery.checkpoint != nil)
            let pin = shop.store.engine.registry.pin()
            let unread = pin.state.fetchIndexes.filter { content in
                let index = content.ordered
                return index.height > 0
                    && LatePage.isTagged(OrderedInner(index.root).unreadChild(0).address)
            }
            // Later a commit may lie behind the checkpoint, or another segment.
            if declared == .all { #expect(unread.count == pin.state.fetchIndexes.count) }
            Self.expect(try Self.problems(shop.store, &random), "\(declared)")
            #expect(try shop.store.check().findings.isEmpty)
            for _ in 0..<3 { try shop.step(&random) }
            Self.expect(try Self.problems(shop.store, &random), "\(declared)")
            try shop.reopen(declared)
            Self.expect(try Self.problems(shop.store, &random), "\(declared)")
            try shop.store.close()
            shop.store = try LogStore.open(
                at: "/store", schema: Self.schema(.all), options: shop.options)
            // One that was dropped is there again.
            Self.expect(try Self.problems(shop.store, &random), "\(declared)")
            try shop.step(&random)
            try shop.store.close()
        }
    }

    @Test("A row whose old and new key share a hash stays in the list of the hash")
    func sharedHash() throws {
        var random = RandomSource(seed: 5)
        var options = SampleStore.options(on: MemoryFileSystem())
        options.sizes.hashBits = 1
        options.sizes.closingCheckpointBytes = 1
        let schema = try Self.schema(.all)
        var store = try LogStore.open(at: "/store", schema: schema, options: options)
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Item", objects: (0..<40).map { ["key": "key \($0)", "rank": $0 % 7] }))
        // The new key comes before the old one, then behind it.
        for expression in ["rank - 1", "rank + 3", "0 - rank"] {
            var request = BatchUpdateRequest(entityName: "Item")
            request.propertiesToUpdate = ["rank": try PatchedSample.expression(expression)]
            _ = try store.execute(request)
            Self.expect(try Self.problems(store, &random), "\(expression)")
            #expect(try store.check().findings.isEmpty, "\(expression)")
            // A checkpoint keeps how many bits there are, whoever opens it.
            try store.close()
            options.sizes.hashBits = options.sizes.hashBits == 1 ? 32 : 1
            store = try LogStore.open(at: "/store", schema: schema, options: options)
            #expect(store.recovery.checkpoint != nil)
            #expect(store.engine.registry.pin().state.hashSeed == 1)
            Self.expect(try Self.problems(store, &random), "\(expression), reopened")
            #expect(try store.check().findings.isEmpty, "\(expression), reopened")
        }
        try store.close()
    }

    @Test("One that is new is built once, and kept in a checkpoint")
    func builtOnce() throws {
        var random = RandomSource()
        var (shop, _) = try checkpointed(&random)
        try shop.reopen(.some)
        _ = try shop.store.execute(
            BatchInsertRequest(entityName: "Item", objects: [["key": "some"]]))
        try shop.store.engine.takeCheckpoint()
        try shop.store.close()
        // No commit of a program follows.
        for (declared, isKept) in [(Declared.some, true), (.all, true), (.none, false)] {
            shop.store = try LogStore.open(
                at: "/store", schema: Self.schema(declared), options: shop.options)
            Self.expect(try Self.problems(shop.store, &random), "\(declared)")
            let count = try shop.store.statistics().fetchIndexes.count
            try shop.store.close()
            let image = try DiskImage(of: shop.disk)
            // Who only reads, and brings no model, makes do with those of the checkpoint.
            let reader = try LogStore.open(
                at: "/store", options: FollowingStores.reading(try image.disk()))
            #expect(reader.recovery.checkpoint != nil)
            #expect(try (reader.statistics().fetchIndexes.count == count) == isKept, "\(declared)")
            Self.expect(try Self.problems(reader, &random), "\(declared)")
            try reader.close()
        }
    }

    @Test("Damage to a checkpoint changes nothing that they say (CK1)")
    func damaged() throws {
        var random = RandomSource()
        let (shop, image) = try checkpointed(&random)
        let name = try #require(image.files.keys.first { $0.hasPrefix("checkpoint") })
        let bytes = image.files[name] ?? []
        for _ in 0..<Campaign.count(3, whole: 5000) {
            var damaged = image
            damaged.files[name]?[Int(random.next() % UInt64(bytes.count))] ^=
                1 << UInt8(random.next() % 8)
            var options = shop.options
            options.fileSystem = try damaged.disk()
            let store = try LogStore.open(
                at: "/store", schema: Self.schema(.all), options: options)
            Self.expect(try Self.problems(store, &random), "seed \(random.seed)")
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }

    @Test(
        "They say what rows say, after every commit, after compaction, reopened, and to old states")
    func random() throws {
        try Rounds.run("fetch indexes", everyDay: 1, whole: 2000) { random in
            var shop = try IndexedShop(&random)
            var pins: [PinnedState<EngineState>] = []
            var options = shop.options
            options.isReadOnly = true
            options.followsWriter = false
            let follower = try LogStore.open(
                at: "/store", schema: try Self.schema(.some), options: options)
            for step in 0..<40 {
                try shop.step(&random)
                let place: Comment = "step \(step), seed \(random.seed)"
                if step % 3 == 0 { Self.expect(try Self.problems(shop.store, &random), place) }
                if random.oneIn(10) { pins.append(shop.store.engine.registry.pin()) }
                for pin in pins where random.oneIn(8) {
                    Self.expect(try Self.problems(pin.state, shop.store, &random), place)
                }
                if random.oneIn(8) {
                    try shop.store.synchronize()
                    _ = try follower.refresh()
                    Self.expect(try Self.problems(follower, &random), place)
                    #expect(try follower.check().findings.isEmpty, place)
                }
                if random.oneIn(8) {
                    pins = []
                    try shop.reopen(
                        random.oneIn(3) ? nil : Declared.allCases.randomElement(using: &random))
                    let expected = try Self.schema(shop.declared).entities.reduce(0) {
                        $0 + $1.description.indexes.count
                    }
                    let pin = shop.store.engine.registry.pin()
                    // Three of them are left out.
                    #expect(
                        pin.state.fetchIndexes.count == (expected > 3 ? expected - 3 : expected),
                        place)
                    Self.expect(try Self.problems(shop.store, &random), place)
                    #expect(try shop.store.check().findings.isEmpty, place)
                }
            }
            pins = []
            try follower.close()
            Self.expect(try Self.problems(shop.store, &random), "seed \(random.seed)")
            #expect(try shop.store.check().findings.isEmpty, "seed \(random.seed)")
            try shop.store.close()
            let report = try LogStore.check(at: "/store", options: shop.options)
            #expect(report.findings.isEmpty, "seed \(random.seed)")
        }
    }
}
