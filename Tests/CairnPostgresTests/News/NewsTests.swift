// Commits of others, told to who observes a store: here two stores that are opened in one schema, as two processes would.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("News of what others commit", .enabled(if: PostgresServer.isInstalled))
struct NewsTests {
    /// Notes what it is told.
    private final class Listener: Sendable {
        private let sets: Monitor<[ChangeSet]>
        private let observation: ChangeObservation

        init(_ store: any PersistentStore) {
            let sets = Monitor<[ChangeSet]>([])
            self.sets = sets
            observation = store.observeChanges { set in sets.update { $0.append(set) } }
        }

        /// All that was told, once a commit is among it.
        func sets(through commit: UInt64) -> [ChangeSet] {
            inTime(for: "commit \(commit) to be told") {
                while true {
                    let found = sets.wait(until: .now + 1) { sets in
                        sets.contains { $0.commit >= commit } ? sets : nil
                    }
                    if let found { return found }
                }
            }
        }

        func end() { observation.cancel() }
    }

    /// A schema of the server's with a store in it, that several open.
    private func withURL(_ body: (String) throws -> Void) throws {
        let server = try PostgresServer.shared()
        let name = server.newName("news")
        defer { _ = try? server.run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE") }
        try body(server.url(["cairn_schema": name]))
    }

    private func schema() throws -> Schema {
        let item = EntityDescription(
            "Item", attributes: [.init("code", .string), .init("size", .integer64)],
            uniquenessConstraints: [["code"]])
        return try Schema(ManagedObjectModel(entities: [item]))
    }

    private func open(
        _ url: String, _ change: (inout PostgresOptions) -> Void = { _ in }
    ) throws -> PostgresStore {
        var options = PostgresOptions()
        change(&options)
        return try PostgresStore.open(url, schema: try schema(), options: options)
    }

    /// Inserts a row, or changes the one with its code; gives the commit.
    @discardableResult
    private func write(
        _ store: PostgresStore, _ code: String, _ size: Int, by author: String? = nil
    )
        throws -> UInt64
    {
        var request = BatchInsertRequest(
            entityName: "Item", objects: [["code": code, "size": size]])
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.author = author
        return try #require(try store.execute(request).commit)
    }

    @Test("commits are told in their order, with who made them and what they changed")
    func order() throws {
        try withURL { url in
            let (here, there) = (try open(url), try open(url))
            let listener = Listener(here)
            var commits: [UInt64] = []
            for round in 0..<20 {
                commits.append(try write(there, "a\(round)", round, by: "there"))
                commits.append(try write(here, "a\(round)", round + 1, by: "here"))
            }
            let last = try #require(commits.last)
            let sets = listener.sets(through: last)
            #expect(sets.map(\.commit) == commits)
            for (index, set) in sets.enumerated() {
                #expect(set.isFromAnotherProcess == (index % 2 == 0))
                #expect(set.author == (index % 2 == 0 ? "there" : "here"))
                #expect(try set.insertedObjectIDs().count == (index % 2 == 0 ? 1 : 0))
                #expect(try set.updatedObjectIDs().count == (index % 2 == 0 ? 0 : 1))
            }
            // Nothing is told twice.
            let next = try write(there, "next", 0)
            #expect(listener.sets(through: next).map(\.commit) == commits + [next])
            listener.end()
            try here.close()
            try there.close()
        }
    }

    @Test("many writers at once are told in the order of their commits, each commit once")
    func manyWriters() throws {
        try withURL { url in
            let stores = try (0..<4).map { _ in try open(url) }
            let begin = try stores[0].snapshot().commit
            let listeners = stores.map { Listener($0) }
            let threads = TestThreads()
            for (place, store) in stores.enumerated() {
                threads.start {
                    for round in 0..<25 {
                        #expect(throws: Never.self) {
                            try write(store, "\(place).\(round % 5)", round)
                        }
                    }
                }
            }
            threads.join()
            let last = try stores[0].snapshot().commit
            for (place, listener) in listeners.enumerated() {
                let sets = listener.sets(through: last)
                #expect(sets.map(\.commit) == Array(begin + 1...last), "store \(place)")
                #expect(sets.count { !$0.isFromAnotherProcess } == 25)
            }
            for store in stores { try store.close() }
        }
    }

    @Test("a server that does not tell is looked at", arguments: [true, false])
    func polling(isTold: Bool) throws {
        try withURL { url in
            let here = try open(url) { $0.newsInterval = 0.01 }
            let there = try open(url) { $0.notifies = isTold }
            let listener = Listener(here)
            let commit = try write(there, "a", 1)
            #expect(listener.sets(through: commit).map(\.commit) == [commit])
        }
    }

    @Test("a connection that was lost is opened again, and what was missed is read")
    func reconnecting() throws {
        let server = try PostgresServer.shared()
        try withURL { url in
            let name = server.newName("listener")
            let here = try open(url + "&application_name=\(name)")
            let there = try open(url)
            let listener = Listener(here)
            let first = try write(there, "a", 1)
            _ = listener.sets(through: first)
            try server.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(name)'"
            )
            let second = try write(there, "b", 1)
            #expect(listener.sets(through: second).map(\.commit) == [first, second])
        }
    }

    @Test("who was away for longer than a store remembers is told that anything may have changed")
    func forgotten() throws {
        let server = try PostgresServer.shared()
        try withURL { url in
            let (here, there) = (
                try open(url) { $0.newsInterval = 3600 }, try open(url) { $0.notifies = false }
            )
            let listener = Listener(here)
            let name = here.core.layout.space
            // Its first look is over when it has told of others: from then on it looks when it is told to.
            let loud = try open(url)
            for round in 0..<2 {
                let commit = try write(loud, "c", round)
                #expect(listener.sets(through: commit).last?.commit == commit)
            }
            let commits = try (0..<3).map { try write(there, "a", $0) }
            try server.run(
                "UPDATE \"\(name)\".cairn_store SET history_begins = \(commits[1])")
            let own = try write(here, "b", 1)
            let sets = Array(listener.sets(through: own).dropFirst(2))
            let known = [commits[2]...commits[2], own...own]
            #expect(sets.map(\.commits) == [commits[0]...commits[1]] + known)
            #expect(throws: StoreError.self) { try sets[0].entities() }
            #expect(try sets[1].updatedObjectIDs().count == 1)
            #expect(sets.map(\.isFromAnotherProcess) == [true, true, false])
        }
    }

    @Test("without a history the last commits are kept, and no others")
    func trimming() throws {
        let server = try PostgresServer.shared()
        try withURL { url in
            let store = try open(url)
            let name = store.core.layout.space
            try write(store, "a", 0)
            #expect(try store.historyBounds() == nil)
            #expect(try server.run("SELECT count(*) FROM \"\(name)\".cairn_changes") == "1\n")
            // As if very many had been made.
            try server.run("UPDATE \"\(name)\".cairn_store SET last_commit = 20000")
            let writer = HistoryWriter(layout: store.core.layout, author: nil, contextName: nil)
            _ = try store.core.ask(writer.forgetting)
            #expect(try server.run("SELECT count(*) FROM \"\(name)\".cairn_changes") == "0\n")
            #expect(
                try server.run("SELECT history_begins FROM \"\(name)\".cairn_store") == "10000\n")
            // With a history nothing goes.
            let other = try open(url) { $0.persistentHistoryTracking = true }
            let commit = try write(store, "a", 1)
            _ = try store.core.ask(writer.forgetting)
            #expect(store.historyTracking == .keptOn && other.historyTracking == .on)
            let transactions = try store.execute(.fetchHistory(after: nil)).transactions
            #expect(transactions.map(\.transactionNumber) == [commit])
        }
    }

    @Test("a history that another process begins or ends is that of all")
    func historyOfOthers() throws {
        try withURL { url in
            let early = try open(url)
            try write(early, "a", 1)
            let keeping = try open(url) { $0.persistentHistoryTracking = true }
            let commit = try write(early, "b", 1, by: "early")
            let seen = try keeping.execute(.fetchHistory(after: nil)).transactions
            #expect(seen.map(\.transactionNumber) == [commit])
            #expect(seen.first?.author == "early")
            _ = try open(url) { $0.persistentHistoryTracking = false }
            try write(early, "c", 1)
            #expect(throws: StoreError.self) { try keeping.fetchHistory(.fetchHistory(after: nil)) }
            #expect(keeping.historyTracking == .off)
        }
    }
}
