// A process migrates a store, which this one reads and wants to write; and it is killed at any moment.
//
// The child stops at each stage of its migration until a pipe is opened, so that what this process does meanwhile
// happens there and nowhere else.

import CairnKilledWriter
import CairnModel
import CairnMoving
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("A process that migrates", .enabled(if: ChildProcess.writer != nil))
struct MigratingProcessTests {
    private typealias Content = [Int: [String: WriterModel.Values]]

    /// A store of the first model, closed.
    private static func makeStore(_ path: String) throws -> Content {
        let store = try WriterStore.open(path, .full)
        defer { try? store.close() }
        for part in 0..<4 {
            _ = try store.execute(
                BatchInsertRequest(
                    entityName: "Item",
                    objects: (0..<100).map { number -> [String: Any] in
                        [
                            "key": "k\(part)-\(number)", "owner": part, "value": number,
                            "note": "note \(number)",
                        ]
                    }))
        }
        return try WriterStore.content(store)
    }

    /// Whether a store is of the new model. It holds the rows, computed if it is.
    private static func look(_ store: LogStore, _ expected: Content, _ place: Comment) throws
        -> Bool
    {
        #expect(try WriterStore.content(store) == expected, place)
        #expect(try store.check().findings.isEmpty, place)
        let entity = store.schema.entities[0]
        guard let upper = entity.columns.firstIndex(where: { $0.name == "upper" }) else {
            #expect(store.schema.model == WriterStore.model, place)
            return false
        }
        #expect(store.schema.model == WriterStore.nextModel, place)
        var fetch = StoreFetch(entity: 0)
        fetch.includesRows = true
        let texts = try store.snapshot().fetch(fetch).rows.map { row in
            row.cells.value(upper, of: entity, in: store.identity)
        }
        let notes = expected.values.flatMap { $0.values.map(\.note) }
        #expect(Set(texts) == Set(notes.map { .string($0.uppercased()) }), place)
        return true
    }

    private static func open(gate: String) throws {
        let file = inTime(for: "the child to come to the gate") { Foundation.open(gate, O_WRONLY) }
        guard file >= 0 else { throw ChildProcess.Failure(what: "no gate: \(errno)") }
        close(file)
    }

    /// The next lines of a child; nil when it has ended.
    private static func next(_ child: ChildProcess) throws -> [Substring]? {
        guard let lines = child.lines(within: .seconds(60)) else { return nil }
        if lines.isEmpty { throw ChildProcess.Failure(what: "it says nothing") }
        if let line = lines.first(where: { $0.hasPrefix("failed") }) {
            throw ChildProcess.Failure(what: String(line))
        }
        return lines
    }

    private static func error(_ body: () throws -> Void) -> StoreError? {
        do { try body() } catch { return error as? StoreError }
        return nil
    }

    // MARK: Beside it

    @Test(
        "Who reads goes on with the old rows; who writes is told, or waits; both open the new store afterwards"
    )
    func beside() throws {
        let program: String = try #require(ChildProcess.writer)
        let folder = try TemporaryDirectory()
        let (path, gate) = (folder.path("store"), folder.path("gate"))
        try #require(mkfifo(gate, 0o600) == 0)
        let expected = try Self.makeStore(path)
        let reader = try WriterStore.open(path, .full, isReadOnly: true)
        let child = try ChildProcess(program, [path, "migrate", gate])
        let waiting = TestThreads()
        let outcome = Mutex<Result<Bool, any Error>?>(nil)
        var told: [String] = []
        while let lines = try Self.next(child) {
            for line in lines {
                told.append(String(line))
                guard line.hasPrefix("at ") else { continue }
                let place: Comment = "\(line)"
                #expect(try !reader.refresh(), place)
                #expect(try !Self.look(reader, expected, place), place)
                #expect(try LogStore.metadata(forStoreAt: path).model == WriterStore.model, place)
                let bodies: [() throws -> Void] = [
                    {
                        let store = try WriterStore.open(path, .full, timeout: 0.02)
                        defer { try? store.close() }
                        try store.engine.withLease { _ in }
                    },
                    { try WriterStore.migrate(path, timeout: 0.02) { _ in } },
                ]
                for body in bodies {
                    #expect(Self.error(body)?.code == .storeInUse, place)
                }
                if line == "at finishing" {
                    waiting.start {
                        let result = Result {
                            let store = try WriterStore.open(
                                path, .full, model: WriterStore.nextModel, timeout: 60)
                            defer { try? store.close() }
                            return try Self.look(store, expected, "who has waited")
                        }
                        outcome.withLock { $0 = result }
                    }
                }
                try Self.open(gate: gate)
            }
        }
        #expect(told == ["at keys", "at deriving", "at finishing", "migrated"])
        waiting.join()
        let opened = try outcome.withLock { try $0?.get() }
        #expect(opened == true)
        // The one that follows shows what it had, and says why.
        for _ in 0..<2 {
            let error = Self.error { try reader.refresh() }
            #expect(error?.code == .incompatibleModel)
            #expect(error?.message == "the store's model has changed since it was opened")
            #expect(try !Self.look(reader, expected, "the follower"))
        }
        try reader.close()
        let again = try WriterStore.open(path, .full, isReadOnly: true)
        #expect(try Self.look(again, expected, "the reader that has opened it again"))
        try again.close()
        #expect(Self.error { _ = try WriterStore.open(path, .full) }?.code == .incompatibleModel)
    }

    // MARK: Killed

    /// Looks at what a killed migration has left, and finishes it; says whether it was the new store.
    private static func look(_ path: String, _ expected: Content, _ place: Comment) throws -> Bool {
        let files = FileManager.default
        let backup = path + "-old"
        let reader = try WriterStore.open(path, .full, isReadOnly: true)
        let isNew = try look(reader, expected, place)
        if isNew { try reader.backupBeforeMigration(to: backup) }
        try reader.close()
        #expect(try LogStore.check(at: path, depth: .all).findings.isEmpty, place)
        if isNew {
            let old = try WriterStore.open(backup, .full)
            #expect(try !look(old, expected, place), place)
            try old.close()
            try files.removeItem(atPath: backup)
        }
        let model = isNew ? WriterStore.nextModel : WriterStore.model
        let writer = try WriterStore.open(path, .full, model: model)
        #expect(try look(writer, expected, place) == isNew, place)
        try writer.close()
        try WriterStore.migrate(path) { _ in }
        let last = try WriterStore.open(path, .full, model: WriterStore.nextModel)
        #expect(try look(last, expected, place), place)
        try last.close()
        try files.removeItem(atPath: path)
        return isNew
    }

    @Test("Killed at each of its stages, it leaves the old store")
    func killedAtStages() throws {
        let program: String = try #require(ChildProcess.writer)
        let folder = try TemporaryDirectory()
        let (spare, path) = (folder.path("spare"), folder.path("store"))
        let gate = folder.path("gate")
        try #require(mkfifo(gate, 0o600) == 0)
        let expected = try Self.makeStore(spare)
        for stage in ["keys", "deriving", "finishing"] {
            try FileManager.default.copyItem(atPath: spare, toPath: path)
            let child = try ChildProcess(program, [path, "migrate", gate])
            var isThere = false
            while !isThere, let lines = try Self.next(child) {
                for line in lines {
                    isThere = line == "at \(stage)"
                    if !isThere { try Self.open(gate: gate) }
                }
            }
            #expect(isThere && child.end().wasKilled)
            #expect(try !Self.look(path, expected, "killed at \(stage)"))
        }
    }

    @Test("Killed at any moment, it leaves the old store or the new one")
    func killed() throws {
        let program: String = try #require(ChildProcess.writer)
        let folder = try TemporaryDirectory()
        let (spare, path) = (folder.path("spare"), folder.path("store"))
        let expected = try Self.makeStore(spare)
        // Once in peace, for how long it takes.
        try FileManager.default.copyItem(atPath: spare, toPath: path)
        let begin = ContinuousClock.now
        let whole = try ChildProcess(program, [path, "migrate", ""])
        var told: [Substring] = []
        while let lines = try Self.next(whole) { told += lines }
        let length = ContinuousClock.now - begin
        #expect(told.last == "migrated")
        #expect(try Self.look(path, expected, "in peace"))
        var (olds, news) = (0, 0)
        try Rounds.run("killed migrations", everyDay: 8, whole: 1000) { random in
            try FileManager.default.copyItem(atPath: spare, toPath: path)
            let child = try ChildProcess(program, [path, "migrate", ""])
            let moment =
                ContinuousClock.now + length * Double.random(in: 0...1.1, using: &random)
            var told: [Substring] = []
            while ContinuousClock.now < moment {
                guard let lines = child.lines(within: moment - ContinuousClock.now) else { break }
                told += lines
            }
            told += child.end().lines
            let isNew = try Self.look(path, expected, "seed \(random.seed), it said \(told)")
            if told.contains("migrated") { #expect(isNew, "seed \(random.seed)") }
            if isNew { news += 1 } else { olds += 1 }
        }
        Campaign.report("killed migrations left the old store", olds)
        Campaign.report("killed migrations left the new store", news)
    }
}
