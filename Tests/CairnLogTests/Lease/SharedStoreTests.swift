import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Stores that several processes write")
struct SharedStoreTests {
    private static func open(
        _ disk: any FileSystem, _ process: Int, durability: LogStoreOptions.Durability = .full,
        timeout: Double = 0
    ) throws -> LogStore {
        var options = SampleStore.options(on: disk, durability: durability)
        options.process = process
        options.timeout = timeout
        return try LogStore.open(at: "/store", schema: StoreOperation.schema, options: options)
    }

    private static func values(_ store: LogStore) throws -> [String: Int64] {
        var fetch = StoreFetch(entity: StoreOperation.item)
        fetch.includesRows = true
        let entity = StoreOperation.schema.entities[StoreOperation.item]
        var values: [String: Int64] = [:]
        for row in try store.snapshot().fetch(fetch).rows {
            let cells = row.cells
            guard
                case .string(let key)? = cells.value(
                    StoreOperation.key, of: entity, in: store.identity) as Value?,
                case .integer(let value)? = cells.value(
                    StoreOperation.value, of: entity, in: store.identity) as Value?
            else { continue }
            #expect(values.updateValue(value, forKey: key) == nil, "\(key) is there twice")
        }
        return values
    }

    private static func giveBack(_ store: LogStore) {
        let engine = store.engine
        engine.withTurnAnyway { turn in
            if engine.lease.isHeld { engine.giveLeaseBack(&turn) }
        }
    }

    @Test(
        "Two write in turns, and each stands on what the other wrote",
        arguments: LogStoreOptions.Durability.allCases)
    func turns(durability: LogStoreOptions.Durability) throws {
        let disk = MemoryFileSystem()
        let stores = [
            try Self.open(disk, 1, durability: durability),
            try Self.open(disk, 2, durability: durability),
        ]
        #expect(stores[0].engine !== stores[1].engine)
        for turn in 0..<10 {
            let store = stores[turn % 2]
            try StoreOperation.insert(store, ["shared": turn, "own \(turn)": turn])
            let values = try Self.values(store)
            #expect(values.count == turn + 2 && values["shared"] == Int64(turn))
            Self.giveBack(store)
        }
        for store in stores {
            _ = try store.refresh()
            #expect(try Self.values(store).count == 11)
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
        let last = try Self.open(disk, 1)
        #expect(last.recovery.wasClosed)
        #expect(try Self.values(last).count == 11)
        try last.close()
    }

    @Test("Who reads waits for a writer that has not said yet what is durable, as after a crash")
    func unsaid() throws {
        let before = MemoryFileSystem()
        let store = try Self.open(before, 1)
        let disk = try DiskImage(of: before).disk()
        try store.close()
        // The mark is not synced; and somebody opens the store to write, and reads the log.
        let lock = try disk.open("/store/lock", .readWrite)
        try lock.truncate(to: 0)
        #expect(try lock.lock(byte: 0, exclusive: true))
        var options = SampleStore.options(on: disk)
        options.isReadOnly = true
        options.timeout = 0
        let error = try #require(throws: StoreError.self) {
            try LogStore.open(at: "/store", options: options)
        }
        #expect(error.code == .storeInUse)
        try lock.unlock(byte: 0)
        let reader = try LogStore.open(at: "/store", options: options)
        #expect(reader.lastCommit == 1)
        try reader.close()
    }

    @Test("Who has the lease is waited for until the time is over, and is named")
    func bound() throws {
        let disk = MemoryFileSystem()
        let holder = try Self.open(disk, 1, durability: .relaxed)
        let other = try Self.open(disk, 2, timeout: 0.02)
        try StoreOperation.insert(holder, ["a": 1])
        let error = storeError { try StoreOperation.insert(other, ["b": 2]) }
        #expect(error?.code == .storeInUse)
        #expect(error?.message.hasSuffix("is writing to the store") == true)
        // It reads meanwhile, and writes as soon as it is its turn.
        #expect(try Self.values(other).isEmpty)
        Self.giveBack(holder)
        try StoreOperation.insert(other, ["b": 2])
        #expect(try Self.values(other) == ["a": 1, "b": 2])
        #expect(storeError { try StoreOperation.insert(holder, ["c": 3]) }?.code == .storeInUse)
        Self.giveBack(other)
        try holder.close()
        try other.close()
    }

    @Test("Who waits gets its turn from one that commits in a loop")
    func fairness() async throws {
        let disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk)
        options.timeout = 60
        options.sizes.leaseSeconds = 0.001
        var counts: [Int] = []
        try await withThrowingTaskGroup(of: Int.self) { group in
            for process in 0..<3 {
                var options = options
                options.process = process
                let store = try LogStore.open(
                    at: "/store", schema: StoreOperation.schema, options: options)
                group.addTask {
                    for turn in 0..<40 {
                        try StoreOperation.insert(store, ["\(process)": turn, "all": turn])
                    }
                    _ = try store.refresh()
                    let count = try Self.values(store).count
                    try store.close()
                    return count
                }
            }
            for try await count in group { counts.append(count) }
        }
        #expect(counts.max() == 4)
    }

    @Test("A process that dies with the lease leaves what it committed", arguments: [false, true])
    func death(inCommit: Bool) throws {
        let disk = MemoryFileSystem()
        let dying = FaultInjectingFileSystem(over: disk)
        let first = try Self.open(dying, 1, durability: .relaxed)
        let other = try Self.open(disk, 2, durability: .relaxed)
        try StoreOperation.insert(other, ["z": 0])
        Self.giveBack(other)
        for number in 0..<5 { try StoreOperation.insert(first, ["a\(number)": number]) }
        if inCommit {
            dying.crash(atMutation: dying.mutationCount + 1, afterWriting: 100)
            #expect(storeError { try StoreOperation.insert(first, ["lost": 1]) } != nil)
        } else {
            dying.crash()
        }
        // No hand is needed, and none of what was committed is lost.
        try StoreOperation.insert(other, ["b": 1])
        let values = try Self.values(other)
        #expect(values.count == 7 && values["lost"] == nil)
        try? first.close()
        try other.close()
        let last = try Self.open(disk, 1)
        #expect(try Self.values(last) == values)
        #expect(try last.check().findings.isEmpty)
        try last.close()
    }

}
