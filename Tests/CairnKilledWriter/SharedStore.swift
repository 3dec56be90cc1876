// A store that many processes write, and how an operation is carried out on it.
//
// Every commit has its operation's stamp as its author: so the history says which operations were done, in which order,
// also those of processes that died before they could say so.

package import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import Foundation

/// One thread's way to the shared store.
package final class SharedStore {
    /// What became of an operation.
    package enum Outcome {
        /// It is a commit.
        case committed(UInt64)
        /// There was nothing to be done, or something stood against it; in a state up to this commit.
        case nothing(UInt64)
        /// All that was read, of the state behind a commit.
        case read(UInt64, SharedContent)
        /// It says nothing about the content.
        case done

        /// The outcome as words.
        package var text: String {
            switch self {
            case .committed(let commit): "committed \(commit)"
            case .nothing(let commit): "nothing \(commit)"
            case .read(let commit, let content): "read \(commit) \(content.text)"
            case .done: "done"
            }
        }

        /// The outcome that words say; nil if they say none.
        package init?(_ words: some Collection<Substring>) {
            let commit = words.dropFirst().first.flatMap { UInt64($0) }
            switch (words.first, commit) {
            case ("committed", let commit?): self = .committed(commit)
            case ("nothing", let commit?): self = .nothing(commit)
            case ("read", let commit?):
                guard let content = SharedContent(words.dropFirst(2)) else { return nil }
                self = .read(commit, content)
            case ("done", nil): self = .done
            default: return nil
            }
        }
    }

    /// What must not happen.
    struct Unexpected: Error {
        let what: String
    }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Account",
            attributes: [
                .init("key", .string, optional: false), .init("balance", .integer64),
                .init("stamp", .integer64),
            ], uniquenessConstraints: [["key"]]),
        EntityDescription(
            "Register",
            attributes: [
                .init("key", .string, optional: false), .init("stamp", .integer64),
                .init("note", .string),
            ], uniquenessConstraints: [["key"]]),
    ])

    private let path: String
    /// nil: it only reads.
    private let durability: LogStoreOptions.Durability?
    private let backupPath: String
    package private(set) var store: LogStore

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - durability: nil: it only reads.
    ///   - backupPath: where backups go, if there are any.
    package init(
        _ path: String, _ durability: LogStoreOptions.Durability?, backupPath: String = ""
    ) throws {
        self.path = path
        self.durability = durability
        self.backupPath = backupPath
        store = try Self.open(path, durability)
    }

    private static func open(_ path: String, _ durability: LogStoreOptions.Durability?) throws
        -> LogStore
    {
        var options = WriterStore.options(durability ?? .full)
        options.isReadOnly = durability == nil
        options.timeout = 200
        return try LogStore.open(
            at: path, schema: durability == nil ? nil : try Schema(model), options: options)
    }

    /// Makes the store; gives its commit.
    package static func make(_ path: String) throws -> UInt64 {
        var options = WriterStore.options(.full)
        options.persistentHistoryTracking = true
        let store = try LogStore.open(at: path, schema: try Schema(model), options: options)
        let content = SharedContent()
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Account",
                objects: content.accounts.indices.map { number -> [String: Any] in
                    let account = content.accounts[number]
                    return [
                        "key": "a\(number)", "balance": account.balance, "stamp": account.stamp,
                    ]
                }))
        let commit = store.lastCommit
        try store.close()
        return commit
    }

    // MARK: Operations

    /// Carries out an operation.
    func carryOut(_ operation: SharedOperation, stamp: Int64) throws -> Outcome {
        switch operation {
        case .set(let registers): return try set(registers, stamp)
        case .drop(let registers): return try drop(registers, stamp)
        case .claim(let register):
            return outcome(of: try store.save(try saving(stamp, [register])))
        case .renew(let register, let seen): return try renew(register, seen: seen, stamp)
        case .move(let from, let to, let amount): return try move(amount, from, to, stamp)
        case .look: return try read()
        case .refresh:
            _ = try store.refresh()
            return try read()
        case .open:
            try store.close()
            store = try Self.open(path, durability)
            return try read()
        case .backup: return try backUp()
        case .check:
            try Self.check(store)
            return .done
        case .compact:
            _ = try store.compact()
            return .done
        }
    }

    private func set(_ registers: [Int], _ stamp: Int64) throws -> Outcome {
        var request = BatchInsertRequest(
            entityName: "Register",
            objects: registers.map { number -> [String: Any] in
                ["key": "\(number)", "stamp": stamp, "note": Self.note(stamp)]
            })
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.author = "\(stamp)"
        return outcome(of: try store.execute(request).commit)
    }

    private func drop(_ registers: [Int], _ stamp: Int64) throws -> Outcome {
        var request = BatchDeleteRequest(
            entityName: "Register",
            predicate: .or(registers.map { .compare("key", .equal, .string("\($0)")) }))
        request.author = "\(stamp)"
        return outcome(of: try store.execute(request).commit)
    }

    /// A register with its row, if it is there.
    func register(_ number: Int) throws -> (row: Row, stamp: Int64)? {
        let table = try Table("Register", store)
        guard let row = try table.rows("\(number)").first else { return nil }
        return (row, try table.integer(row, "stamp"))
    }

    private func renew(_ number: Int, seen: Int64, _ stamp: Int64) throws -> Outcome {
        // What was read before the operation was begun may be older than this.
        guard let (row, found) = try register(number), found == seen else {
            return .nothing(try store.snapshot().commit)
        }
        var request = try saving(stamp, [number])
        request.deleted = [
            .init(id: row.id, entity: row.entity, version: row.version, base: row)
        ]
        return outcome(of: try store.save(request))
    }

    private func move(_ amount: Int64, _ from: Int, _ to: Int, _ stamp: Int64) throws -> Outcome {
        for _ in 0..<100 {
            let table = try Table("Account", store)
            guard let source = try table.rows("a\(from)").first,
                let target = try table.rows("a\(to)").first
            else { throw Unexpected(what: "an account is gone") }
            var request = SaveRequest()
            request.author = "\(stamp)"
            request.resolution = .report
            for (row, change) in [(source, -amount), (target, amount)] {
                let balance = try table.integer(row, "balance") + change
                request.updated.append(
                    .init(
                        id: row.id, entity: row.entity, base: row,
                        changes: [
                            (try table.column("balance"), .integer(balance)),
                            (try table.column("stamp"), .integer(stamp)),
                        ]))
            }
            // Who meets somebody else's change has it before its eyes from then on.
            if case .saved(let result) = try store.save(request) {
                return outcome(of: result.commit)
            }
        }
        throw Unexpected(what: "a hundred conflicts one after the other")
    }

    /// A request that makes registers, if nothing stands against it.
    private func saving(_ stamp: Int64, _ registers: [Int]) throws -> SaveRequest {
        let table = try Table("Register", store)
        var request = SaveRequest()
        request.author = "\(stamp)"
        request.resolution = .report
        for (index, number) in registers.enumerated() {
            var values = [Value](repeating: .null, count: table.entity.columns.count)
            values[try table.column("key")] = .string("\(number)")
            values[try table.column("stamp")] = .integer(stamp)
            values[try table.column("note")] = .string(Self.note(stamp))
            request.inserted.append(
                .init(
                    id: ObjectID(
                        temporary: UInt64(index + 1),
                        hierarchy: store.identity.hierarchies[table.entity.index],
                        context: store.identity.identifier),
                    entity: table.entity.index, values: values, assigned: []))
        }
        return request
    }

    private func outcome(of saved: SaveOutcome) -> Outcome {
        if case .saved(let result) = saved { return outcome(of: result.commit) }
        return outcome(of: nil)
    }

    private func outcome(of commit: UInt64?) -> Outcome {
        commit.map { .committed($0) } ?? .nothing(store.lastCommit)
    }

    // MARK: Reading

    /// All that is there, in one snapshot.
    package func read() throws -> Outcome {
        let (commit, content) = try Self.content(store)
        return .read(commit, content)
    }

    /// All that a store holds, in one snapshot, and its commit.
    package static func content(_ store: LogStore) throws -> (UInt64, SharedContent) {
        let snapshot = try store.snapshot()
        var content = SharedContent(noAccounts: ())
        var known: Set<String> = []
        let registers = try Table("Register", store, snapshot)
        let accounts = try Table("Account", store, snapshot)
        for table in [registers, accounts] {
            for row in try table.rows() {
                guard case .string(let key) = try table.value(row, "key") else {
                    throw Unexpected(what: "a row without a key")
                }
                let stamp = try table.integer(row, "stamp")
                guard known.insert(key).inserted,
                    content.put(
                        key, stamp,
                        balance: table === accounts ? try table.integer(row, "balance") : nil)
                else {
                    content.wrongKeys.append(key)
                    continue
                }
                if table === registers, try table.value(row, "note") != .string(note(stamp)) {
                    throw Unexpected(what: "register \(key) has another note than stamp \(stamp)")
                }
            }
        }
        return (snapshot.commit, content)
    }

    /// Throws what a check of the store finds.
    package static func check(_ store: LogStore) throws {
        let findings = try store.check().findings
        guard findings.isEmpty else { throw Unexpected(what: "check finds \(findings)") }
    }

    private func backUp() throws -> Outcome {
        let result = try store.backup(to: backupPath)
        let backup = try Self.open(backupPath, nil)
        defer { try? backup.close() }
        try Self.check(backup)
        let (commit, content) = try Self.content(backup)
        guard commit == result.commit else {
            throw Unexpected(what: "a backup of commit \(result.commit) has commit \(commit)")
        }
        return .read(commit, content)
    }

    /// What is beside a stamp, so that a row with parts of two operations is seen; sometimes it is long.
    private static func note(_ stamp: Int64) -> String {
        let times = stamp % 29 == 0 ? 200 : Int(stamp % 5)
        return String(repeating: "\(stamp),", count: times)
    }

    /// The rows of an entity in a snapshot.
    private final class Table {
        let entity: SchemaEntity
        private let store: LogStore
        private let snapshot: any StoreSnapshot

        init(_ name: String, _ store: LogStore, _ snapshot: (any StoreSnapshot)? = nil) throws {
            guard let entity = store.schema.entity(named: name) else {
                throw Unexpected(what: "no entity \(name)")
            }
            self.entity = entity
            self.store = store
            self.snapshot = try snapshot ?? store.snapshot()
        }

        func column(_ name: String) throws -> Int {
            guard let index = entity.columns.firstIndex(where: { $0.name == name }) else {
                throw Unexpected(what: "no column \(name)")
            }
            return index
        }

        /// All rows, or those with a key.
        func rows(_ key: String? = nil) throws -> [Row] {
            var fetch = StoreFetch(
                entity: entity.index,
                predicate: key.map { .compare("key", .equal, .string($0)) })
            fetch.includesRows = true
            return try snapshot.fetch(fetch).rows
        }

        func value(_ row: Row, _ name: String) throws -> Value {
            row.cells.value(try column(name), of: entity, in: store.identity)
        }

        func integer(_ row: Row, _ name: String) throws -> Int64 {
            guard case .integer(let number) = try value(row, name) else {
                throw Unexpected(what: "a row without \(name)")
            }
            return number
        }
    }
}

extension SharedContent {
    /// Nothing yet, the accounts neither.
    fileprivate init(noAccounts: Void) {
        for number in accounts.indices { accounts[number] = Account(balance: 0, stamp: -1) }
    }

    /// Puts a row into it; false if there is no place for its key.
    fileprivate mutating func put(_ key: String, _ stamp: Int64, balance: Int64?) -> Bool {
        if let balance {
            guard key.first == "a", let number = Int(key.dropFirst()),
                accounts.indices.contains(number)
            else { return false }
            accounts[number] = Account(balance: balance, stamp: stamp)
        } else {
            guard let number = Int(key), registers.indices.contains(number) else { return false }
            registers[number] = stamp
        }
        return true
    }
}
