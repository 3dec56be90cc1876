// Migrations of every kind whose power fails, or whose calls do, at any change of the disk.
//
//   1. What is there then opens, to read and to write, as one of the states that the migration leads through: in one
//      commit that is the old store or the new one. `check` finds nothing.
//   2. What the migration has done is there for good when it returns.
//   3. The migration goes on from there, also in the same process, and ends as it would have ended.
//   4. Whenever the store is of a newer model, the backup that the migration leaves is there, and opens as what the store
//      was before.

import Cairn
import CairnFileSystem
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving
@testable import CairnObjects

@Suite("Migrations of every kind that are cut off (SC2)")
struct CutOffMigrationTests {
    typealias Kind = CutOffMigration.Kind

    // MARK: What is there

    /// The number of the state that a store is in.
    private static func state(
        of store: LogStore, _ migration: CutOffMigration, _ place: Comment
    ) throws -> Int {
        let state = CutOffMigration.State(
            model: migration.models.firstIndex(of: store.schema.model) ?? -1,
            text: try migration.text(store))
        #expect(try store.check().findings.isEmpty, place)
        return try #require(migration.states.firstIndex(of: state), place)
    }

    /// Looks at what is there; says which of the states it is.
    @discardableResult
    private static func look(
        _ image: DiskImage?, _ migration: CutOffMigration, _ place: Comment
    ) throws -> Int {
        let image = try #require(image, place)
        var reading = migration.options(try image.disk())
        reading.isReadOnly = true
        let reader = try LogStore.open(at: "/store", options: reading)
        let found = try state(of: reader, migration, place)
        try checkBackup(of: reader, migration.states[found], migration, place)
        try reader.close()

        let disk = try image.disk()
        let options = migration.options(disk)
        let model = migration.models[migration.states[found].model]
        let writer = try LogStore.open(at: "/store", schema: try Schema(model), options: options)
        #expect(try state(of: writer, migration, place) == found, place)
        try writer.close()
        #expect(try !disk.list("/store").contains("migration"), place)
        try migration.migrate(disk)
        try checkEnd(disk, migration, place)
        return found
    }

    /// The store is what the whole migration makes of it.
    private static func checkEnd(
        _ disk: any FileSystem, _ migration: CutOffMigration, _ place: Comment
    ) throws {
        let options = migration.options(disk)
        let model = migration.models[migration.last.model]
        let store = try LogStore.open(at: "/store", schema: try Schema(model), options: options)
        #expect(
            try state(of: store, migration, place) == migration.states.count - 1, place)
        #expect(try store.metadata().values.isEmpty, place)
        try store.close()
        let report = try LogStore.check(at: "/store", depth: .all, options: options)
        #expect(report.findings.isEmpty, place)
        #expect(try !disk.list("/store").contains("migration"), place)
    }

    /// The backup that a migration leaves.
    private static func checkBackup(
        of store: LogStore, _ state: CutOffMigration.State, _ migration: CutOffMigration,
        _ place: Comment
    ) throws {
        let disk = MemoryFileSystem()
        guard let old = migration.unmigrated(state) else {
            let error = storeError { try store.backupBeforeMigration(to: "/store", on: disk) }
            #expect(error?.code == .pastStateUnavailable, place)
            return
        }
        try store.backupBeforeMigration(to: "/store", on: disk)
        let copy = try LogStore.open(
            at: "/store", schema: try Schema(migration.models[old.model]),
            options: migration.options(disk))
        #expect(try migration.text(copy) == old.text, place)
        #expect(try copy.check().findings.isEmpty, place)
        try copy.close()
    }

    // MARK: Power

    @Test("The power fails after any change of the disk", arguments: Kind.allCases)
    func powerLoss(_ kind: Kind) throws {
        var random = RandomSource("\(kind) migration under power loss")
        let migration = try CutOffMigration(kind)
        let disk = try PowerLossDisk(holding: migration.start)
        let start = disk.changeCount
        try migration.migrate(disk)
        let end = disk.changeCount
        #expect(end > start + 10)
        var seen: Set<Int> = []
        var images = 0
        // Before the first change and after the last one; of those between a sample.
        let between = Campaign.sample(Array(start + 1..<end), oneIn: 8, using: &random)
        for count in [start] + between + [end] {
            for _ in 0..<Campaign.count(1, whole: 200) {
                let place: Comment =
                    "\(kind) after \(count - start) of \(end - start) changes, seed \(random.seed)"
                let state = try Self.look(disk.image(after: count, &random), migration, place)
                if count == start { #expect(state == 0, place) }
                if count == end { #expect(state == migration.states.count - 1, place) }
                seen.insert(state)
                images += 1
            }
        }
        if between.count == end - start - 1 { #expect(seen == Set(migration.states.indices)) }
        Campaign.report("images of a \(kind) migration, after \(end - start) changes", images)
    }

    // MARK: Calls

    /// Lets one call of a migration fail, perhaps all those that follow it, and goes on; false if there was no such call.
    private static func fail(
        _ operation: FileSystemError.Operation, _ number: Int, _ migration: CutOffMigration,
        _ random: inout RandomSource
    ) throws -> Bool {
        let disk = try PowerLossDisk(holding: migration.start)
        let faulty = FaultInjectingFileSystem(over: disk)
        let repeats = random.oneIn(3)
        faulty.fail(
            operation, number: number, with: random.oneIn(2) ? .ioError : .noSpace,
            afterWriting: [0, 50, 700].randomElement(using: &random) ?? 0, repeats: repeats)
        let place: Comment =
            "\(migration.kind), \(operation) \(number), repeats: \(repeats), seed \(random.seed)"
        var failure: (any Error)?
        do {
            try migration.migrate(faulty)
        } catch {
            failure = error
            #expect(error is StoreError, place)
        }
        let wasCalled = faulty.count(operation) >= number
        #expect(wasCalled || failure == nil, place)
        for _ in 0..<Campaign.count(1, whole: 2) {
            let image = disk.image(after: disk.changeCount, &random)
            let state = try look(image, migration, place)
            if failure == nil { #expect(state == migration.states.count - 1, place) }
        }
        // The same process tries again.
        faulty.clearFaults()
        try migration.migrate(faulty)
        try checkEnd(faulty, migration, place)
        let image = disk.image(after: disk.changeCount, &random)
        #expect(try look(image, migration, place) == migration.states.count - 1, place)
        return wasCalled
    }

    @Test("Any of its calls fails, once or from then on", arguments: Kind.allCases)
    func failingCalls(_ kind: Kind) throws {
        var random = RandomSource("\(kind) migration with failing calls")
        let migration = try CutOffMigration(kind)
        // How often each is called when none fails.
        let whole = FaultInjectingFileSystem(over: try PowerLossDisk(holding: migration.start))
        try migration.migrate(whole)
        let operations: [FileSystemError.Operation] = [
            .open, .read, .write, .synchronize, .syncDirectory, .truncate, .unlink, .list, .size,
            .lock, .identify, .makeDirectory, .removeDirectory,
        ]
        var calls = 0
        for operation in Campaign.sample(operations, oneIn: 3, using: &random) {
            let count = whole.count(operation)
            let step = Campaign.step(operation == .read ? 188 : 92)
            // Behind the last one nothing fails.
            let first = Int.random(in: 1...min(step, max(count, 1)), using: &random)
            for number in stride(from: first, through: count + (step == 1 ? 1 : 0), by: step) {
                if try Self.fail(operation, number, migration, &random) { calls += 1 }
            }
        }
        #expect(calls > 0)
        Campaign.report("failing calls of a \(kind) migration", calls)
    }

    // MARK: The backup

    /// A store that has been migrated, opened to be read.
    private static func migrated(_ migration: CutOffMigration) throws -> LogStore {
        let disk = try migration.start.disk()
        try migration.migrate(disk)
        var options = migration.options(disk)
        options.isReadOnly = true
        return try LogStore.open(at: "/store", options: options)
    }

    /// Looks at what is left of a backup of the store as it was: none, or all of it; a second one follows.
    private static func lookAtBackup(
        _ disk: any FileSystem, of store: LogStore, _ migration: CutOffMigration, isWhole: Bool,
        _ place: Comment
    ) throws {
        let old = try #require(migration.unmigrated(migration.last))
        var options = migration.options(disk)
        options.createsIfMissing = false
        options.isReadOnly = true
        for isSecond in [false, true] {
            if isSecond { try store.backupBeforeMigration(to: "/store", on: disk) }
            do {
                let copy = try LogStore.open(at: "/store", options: options)
                #expect(try migration.text(copy) == old.text, place)
                #expect(copy.schema.model == migration.models[old.model], place)
                #expect(try copy.check().findings.isEmpty, place)
                try copy.close()
            } catch let error as StoreError {
                #expect(error.code == .openFailed && !isWhole && !isSecond, place)
            }
        }
    }

    @Test(
        "A backup of the store as it was before, cut off: there is none, or all of it",
        arguments: Kind.allCases)
    func backups(_ kind: Kind) throws {
        var random = RandomSource("backup before a \(kind) migration")
        let migration = try CutOffMigration(kind)
        let store = try Self.migrated(migration)
        let disk = PowerLossDisk()
        try store.backupBeforeMigration(to: "/store", on: disk)
        var images = 0
        let counts = Array(0..<disk.changeCount)
        for count in Campaign.sample(counts, oneIn: 2, using: &random) + [disk.changeCount] {
            for _ in 0..<Campaign.count(1, whole: 100) {
                let image = disk.image(after: count, &random)
                try Self.lookAtBackup(
                    try image?.disk() ?? MemoryFileSystem(), of: store, migration,
                    isWhole: count == disk.changeCount,
                    "\(kind) after \(count) changes, seed \(random.seed)")
                images += 1
            }
        }
        #expect(images > 5)
        for operation in [
            FileSystemError.Operation.write, .synchronize, .syncDirectory, .makeDirectory,
        ] {
            var number = 1
            while true {
                let disk = MemoryFileSystem()
                let faulty = FaultInjectingFileSystem(over: disk)
                faulty.fail(operation, number: number, with: .noSpace, afterWriting: 50)
                let result = try? store.backupBeforeMigration(to: "/store", on: faulty)
                try Self.lookAtBackup(
                    disk, of: store, migration, isWhole: result != nil,
                    "\(kind), \(operation) \(number)")
                if faulty.count(operation) < number { break }
                number += 1
            }
        }
        try store.close()
        Campaign.report("images of backups before a \(kind) migration", images)
    }
}
