// A whole store, from one place to another: the log, PostgreSQL, PostgreSQL, the log.

import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import CairnTestSupport
import FoundationEssentials
import PostgresServers
import StoreBackends
import Testing

@testable import CairnPostgres

@Suite("Copies of whole stores", .enabled(if: PostgresServer.isInstalled))
struct CopyTests {
    /// Fills a store with everything that there is.
    private func fill(_ subject: Subject, operations: Int, _ random: inout RandomSource) throws {
        try subject.insertSample()
        try subject.batch("Person", RandomOperation.people.map { ["name": $0] })
        for _ in 0..<operations { _ = try RandomOperation.random(&random).run(subject) }
        try subject.save { draft in
            let sights = try ["s", "t", "u"].map { try draft.insert("Sight", ["name": $0]) }
            let route = try draft.insert("Route", ["name": "round", "sights": sights])
            for name in ["x", "y", "z"] {
                try draft.insert("Stop", ["name": name, "route": route])
            }
        }
        let route = try subject.id("Route", "round")
        let orders = [("sights", "Sight", ["u", "s", "t"]), ("stops", "Stop", ["z", "x", "y"])]
        for (key, entity, names) in orders {
            let members = try names.map { try subject.id(entity, $0) }
            try subject.save { try $0.order(route, key, members) }
        }
        try subject.save { draft in
            for (index, name) in ["one", "two", "three"].enumerated() {
                try draft.insert("Desk", ["number": index + 100])
                try draft.insert("Person", ["name": name, "city": "'; DROP TABLE \"x\" --"])
            }
        }
        for (gone, survivor) in [("one", "two"), ("two", "three")] {
            let (id, survivor) = (
                try subject.id("Person", gone), try subject.id("Person", survivor)
            )
            try subject.save { draft in
                try draft.delete(id)
                draft.request.redirects = [.init(id: id, survivor: survivor)]
                draft.request.author = "cleaner"
                draft.request.contextName = "folding"
            }
        }
        try subject.store.setMetadata(
            ["name": .string("a \"quoted\" 'name'"), "seen": .date(Date()), "n": .integer(7)],
            identifier: nil)
        try subject.store.writeMetadata()
        if let last = try subject.store.historyBounds()?.last {
            try subject.store.setHistoryConsumer("search", seen: last - 1, mustExist: false)
        }
    }

    /// The same lines, said by the first that differ.
    private func expectSame(_ one: [String], _ other: [String], _ comment: String) {
        for (line, same) in zip(one, other) where line != same {
            Issue.record("\(comment): \(line)\nis\n\(same)")
            return
        }
        #expect(one.count == other.count, "\(comment)")
    }

    private func url(_ name: String) throws -> String {
        try PostgresServer.shared().url(["cairn_schema": name])
    }

    @Test(
        "A store is the same one in every place: on the log, in a database, in another schema, and on the log again",
        arguments: [Backend.log, .logOnDisk, .postgres], [true, false])
    func everywhere(_ backend: Backend, history: Bool) throws {
        try Rounds.run("copies of \(backend) \(history)", everyDay: 1, whole: 20) { random in
            let seed = random.seed
            try backend.withSubject(history: history) { subject in
                try fill(subject, operations: 40, &random)
                let name = "cairn-copy-\(UUID().uuidString)"
                let folder = FileManager.default.temporaryDirectory.appending(path: name).path
                defer {
                    for schema in [name, name + "2"] {
                        _ = try? PostgresServer.shared().run("DROP SCHEMA \"\(schema)\" CASCADE")
                    }
                    try? FileManager.default.removeItem(atPath: folder)
                }
                let source: [String]
                let report: StoreCopyReport
                if let log = subject.store as? LogStore {
                    source = try StoreDump.lines(log)
                    report = try log.copy(toDatabase: url(name))
                } else {
                    let store = try #require(subject.store as? PostgresStore)
                    source = try StoreDump.lines(store.content())
                    report = try store.copy(toDatabase: url(name))
                }
                #expect(report.redirects >= 2)
                #expect((report.transactions > 0) == history)
                let first = try PostgresStore.open(url(name), schema: SampleModel.schema)
                expectSame(source, try StoreDump.lines(first.content()), "\(seed), first")
                try first.copy(toDatabase: url(name + "2"))
                let second = try PostgresStore.open(url(name + "2"), schema: nil)
                expectSame(source, try StoreDump.lines(second.content()), "\(seed), second")
                #expect(try second.copy(toFolder: folder) == report)
                let log = try LogStore.open(at: folder, schema: SampleModel.schema)
                expectSame(source, try StoreDump.lines(log), "\(seed), log")
                if let same = subject.store as? LogStore {
                    #expect(try export(same) == export(log))
                }
                #expect(try export(log) == export(second))
                let found = try LogStore.check(at: folder)
                #expect(found.findings.isEmpty, "\(seed): \(found.findings)")
                try goOn(subject, [Subject(store: first), Subject(store: log)], &random)
                for store in [first, second, log] as [any PersistentStore] { try store.close() }
            }
        }
    }

    private func export(_ store: LogStore) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try store.export { bytes += Array($0) }
        return bytes
    }

    private func export(_ store: PostgresStore) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try store.export { bytes += Array($0) }
        return bytes
    }

    /// What is done to the store and to its copies comes to the same.
    private func goOn(
        _ subject: Subject, _ copies: [Subject], _ random: inout RandomSource
    ) throws {
        let seed = random.seed
        let first = try subject.store.obtainPermanentIDs(forEntities: [subject.entity("Item").index]
        )
        for copy in copies {
            // A number is not given again.
            let id = try copy.store.obtainPermanentIDs(
                forEntities: [copy.entity("Item").index])[0]
            #expect(try subject.store.snapshot().rows([id])[0] == nil)
            #expect(id.hierarchy == first[0].hierarchy && id.store == first[0].store)
        }
        for _ in 0..<20 {
            let operation = RandomOperation.random(&random)
            let outcome = try operation.run(subject)
            for copy in copies {
                #expect(try operation.run(copy) == outcome, "\(seed): \(operation)")
            }
        }
        let route = try subject.id("Route", "round")
        for each in [subject] + copies {
            try each.save { draft in
                let new = try draft.insert("Sight", ["name": "late"])
                try draft.pair(route, "sights", new)
                try draft.insert("Stop", ["name": "late", "route": route])
            }
            #expect(try each.members("Route", "round", "sights") == "u s t late")
            #expect(try each.members("Route", "round", "stops") == "z x y late")
        }
        let content = try subject.content(versions: false)
        for copy in copies { expectSame(content, try copy.content(versions: false), "\(seed)") }
    }
}
