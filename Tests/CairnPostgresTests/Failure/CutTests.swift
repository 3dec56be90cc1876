// A connection that is cut at each message of a request, in both directions: before it, in the middle of it, with the server
// told and without. Whatever the server got of it, the request is carried out once and as a whole, and told once.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite(
    "Connections that are cut at each step of the protocol",
    .enabled(if: PostgresServer.isInstalled))
struct CutTests {
    /// What is being done when the connection is cut.
    enum Work: String, CaseIterable {
        case save, change, batchInsert, batchUpdate, metadata

        fileprivate func perform(_ bank: Bank, _ round: Int) throws -> UInt64? {
            switch self {
            case .save:
                return try bank.move(1, "cut \(round)", from: Bank.names[0], to: Bank.names[1])
                    .commit
            // Of rows that are known: without reading them.
            case .change:
                while true {
                    do throws(StoreError) {
                        return try change(bank, round)
                    } catch {
                        guard error.code == .mergeConflict || error.code == .snapshotExpired else {
                            throw error
                        }
                    }
                }
            case .batchInsert:
                return try bank.write(
                    "Rate", (0..<5).map { ["code": "r\($0)", "value": Int64(round)] }
                ).commit
            case .batchUpdate:
                return try bank.setRates("code BEGINSWITH 'u'", to: Int64(round)).commit
            case .metadata:
                try bank.store.setMetadata(["round": .integer(Int64(round))], identifier: nil)
                try bank.store.writeMetadata()
                return nil
            }
        }

        private func change(_ bank: Bank, _ round: Int) throws(StoreError) -> UInt64? {
            let rate = bank.store.schema.entity(named: "Rate")?.index ?? 0
            var fetch = StoreFetch(
                entity: rate, predicate: .compare("code", .beginsWith, .string("u")))
            fetch.includesRows = true
            var request = SaveRequest()
            request.updated = try bank.store.newestState().fetch(fetch).rows.map {
                .init(
                    id: $0.id, entity: rate, base: $0,
                    changes: [(column: 1, value: .integer(Int64(round)))])
            }
            guard case .saved(let result) = try bank.store.save(request) else { return nil }
            return result.commit
        }

        fileprivate func check(_ watcher: Bank, _ round: Int) throws {
            switch self {
            case .save: #expect(try watcher.audit().contains("cut \(round)"))
            case .change, .batchInsert, .batchUpdate:
                let letter = self == .batchInsert ? "r" : "u"
                let values = try watcher.rows("Rate").filter { $0[0].words.hasPrefix(letter) }
                #expect(values.count == 5)
                #expect(values.allSatisfy { $0[1] == .integer(Int64(round)) })
            case .metadata:
                #expect(try watcher.store.metadata().values["round"] == .integer(Int64(round)))
            }
        }
    }

    @Test("what writes is done once, wherever it is cut", arguments: Work.allCases)
    func writing(_ work: Work) throws {
        let server = try PostgresServer.shared()
        let proxy = try CuttingProxy(to: server.port)
        var random = RandomSource("cuts of \(work)")
        try Bank.with(server, through: proxy.port) { bank, watcher in
            try bank.open()
            try bank.write("Rate", (0..<5).map { ["code": "u\($0)", "value": Int64(0)] })
            let told = Mutex<[UInt64]>([])
            let observation = bank.store.observeChanges { set in
                told.withLock { $0.append(set.commit) }
            }
            defer { observation.cancel() }
            var round = 0
            var cuts = 0
            for manner in [CuttingProxy.Manner.ends, .endsForClient] {
                for direction in CuttingProxy.Direction.allCases {
                    let step = Campaign.step(11)
                    var message = Int.random(in: 0..<step, using: &random)
                    while true {
                        round += 1
                        let before = try watcher.commit
                        told.withLock { $0 = [] }
                        proxy.arm(
                            .init(
                                direction, message: message,
                                bytes: Int.random(in: 0...4, using: &random), manner))
                        let commit =
                            try manner == .ends
                            ? work.perform(bank, round) : perform(work, bank, round, proxy, server)
                        guard proxy.hasCut else { break }
                        cuts += 1
                        let place = "seed \(random.seed): \(manner) \(direction) \(message)"
                        try work.check(watcher, round)
                        if work != .metadata {
                            #expect(commit == before + 1, "\(place)")
                            #expect(try watcher.commit == before + 1, "\(place)")
                            #expect(told.withLock { $0 } == [before + 1], "\(place)")
                        }
                        message += step
                    }
                }
            }
            #expect(cuts > 0)
            Campaign.report("cuts of \(work)", cuts)
        }
    }

    /// Does the work. What is hidden from the server reaches it once whoever works has given it up or waits for it.
    private func perform(
        _ work: Work, _ bank: Bank, _ round: Int, _ proxy: CuttingProxy, _ server: PostgresServer
    ) throws -> UInt64? {
        let result = Mutex<Result<UInt64?, any Error>?>(nil)
        let threads = TestThreads()
        threads.start {
            let done = Result { try work.perform(bank, round) }
            result.withLock { $0 = done }
        }
        var isOver: Bool { result.withLock { $0 != nil } }
        try inTime(for: "a cut", within: 300) {
            while !isOver, !proxy.hasCut { Thread.sleep(forTimeInterval: 0.001) }
            let waiting = """
                SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                AND application_name = 'cairn'
                """
            while !isOver, try server.run(waiting) == "0\n" {}
            proxy.letGo()
        }
        threads.join()
        return try result.withLock { $0 }?.get() ?? nil
    }

    @Test(
        "what reads gives the right answer or says that the state is gone, and the next state is right"
    )
    func reading() throws {
        let server = try PostgresServer.shared()
        let proxy = try CuttingProxy(to: server.port)
        var random = RandomSource("cuts of reading")
        try Bank.with(server, through: proxy.port) { bank, _ in
            try bank.open()
            for direction in CuttingProxy.Direction.allCases {
                for isPinned in [false, true] {
                    let step = Campaign.step(5)
                    var message = Int.random(in: 0..<step, using: &random)
                    while true {
                        proxy.arm(.init(direction, message: message, .ends))
                        let error = storeError {
                            let state =
                                try isPinned ? bank.store.snapshot() : bank.store.newestState()
                            for _ in 0..<2 {
                                #expect(try bank.rows("Account", state).count == Bank.names.count)
                            }
                        }
                        guard proxy.hasCut else { break }
                        #expect(error == nil || error?.code == .snapshotExpired)
                        #expect(try bank.rows("Account").count == Bank.names.count)
                        #expect(try bank.store.metadata().values.isEmpty)
                        message += step
                    }
                }
            }
        }
    }

    @Test("a commit whose answer never comes is found to be one")
    func silentAnswer() throws {
        let server = try PostgresServer.shared()
        let proxy = try CuttingProxy(to: server.port)
        try Bank.with(server, through: proxy.port, { $0.timeout = 3 }) { bank, watcher in
            try bank.open()
            try bank.move(1, "first", from: Bank.names[0], to: Bank.names[1])
            proxy.arm(nil)
            try bank.move(1, "second", from: Bank.names[0], to: Bank.names[1])
            let last = proxy.count(.toClient) - 1
            let before = try watcher.commit
            proxy.arm(.init(.toClient, message: last, .silent))
            #expect(
                try bank.move(1, "third", from: Bank.names[0], to: Bank.names[1]).commit
                    == before + 1)
            #expect(proxy.hasCut)
            #expect(try watcher.audit() == ["first", "second", "third"])
        }
    }

    @Test("a commit that comes late finds that it was given up")
    func late() throws {
        let server = try PostgresServer.shared()
        let proxy = try CuttingProxy(to: server.port)
        try Bank.with(server, through: proxy.port, { $0.timeout = 3 }) { bank, watcher in
            try bank.open()
            try bank.write("Rate", [["code": "a", "value": Int64(1)]])
            try bank.setRates(to: 2)
            proxy.arm(nil)
            try bank.setRates(to: 3)
            // Behind it come the number of the commit, the token, two rows of the history, the notification and the end, of
            // three messages each, and the end of the batch.
            let place = proxy.count(.toServer) - 19
            let before = try watcher.commit
            proxy.arm(.init(.toServer, message: place, .silent))
            #expect(storeError { try bank.setRates(to: 4) }?.code == .storeInUse)
            #expect(proxy.hasCut)
            let given =
                "SELECT count(*) FROM \"\(bank.store.core.layout.space)\".cairn_tokens WHERE commit = 0"
            #expect(try server.run(given) == "1\n")
            proxy.letGo()
            #expect(try watcher.commit == before)
            try bank.setRates(to: 5)
            #expect(try watcher.rows("Rate") == [[.string("a"), .integer(5)]])
        }
    }
}
