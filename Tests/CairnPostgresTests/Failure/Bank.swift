// A store whose content tells whether anything was lost, done twice, or done by half.
//
//   Account   a balance; the sum of all stays what it was
//   Entry     what one transfer moved from one account to another, under a key of its own
//   Rate      what many write under the same codes; accounts may share some
//
// Threads: any, as the store.

import CairnModel
import CairnStore
import PostgresServers
import Testing

@testable import CairnPostgres

struct Bank: Sendable {
    let store: PostgresStore

    static let schema: Schema = {
        do {
            return try Schema(model)
        } catch {
            preconditionFailure("the model is right: \(error)")
        }
    }()

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Account", attributes: [.init("name", .string), .init("balance", .integer64)],
            relationships: [
                .init("sent", to: "Entry", toMany: true, inverse: "from"),
                .init("received", to: "Entry", toMany: true, inverse: "to"),
                .init("rates", to: "Rate", toMany: true, inverse: "accounts"),
            ], uniquenessConstraints: [["name"]]),
        EntityDescription(
            "Entry", attributes: [.init("key", .string), .init("amount", .integer64)],
            relationships: [
                .init("from", to: "Account", inverse: "sent"),
                .init("to", to: "Account", inverse: "received"),
            ], uniquenessConstraints: [["key"]]),
        EntityDescription(
            "Rate", attributes: [.init("code", .string), .init("value", .integer64)],
            relationships: [.init("accounts", to: "Account", toMany: true, inverse: "rates")],
            uniquenessConstraints: [["code"]]),
    ])

    init(_ url: String, _ change: (inout PostgresOptions) -> Void = { _ in }) throws {
        var options = PostgresOptions()
        options.timeout = 60
        change(&options)
        store = try PostgresStore.open(url, schema: Self.schema, options: options)
    }

    /// A bank of its own on a server, and one that nothing is done to but looking.
    static func with<R>(
        _ server: PostgresServer, through port: Int? = nil,
        _ change: (inout PostgresOptions) -> Void = { _ in }, _ body: (Bank, Bank) throws -> R
    ) throws -> R {
        let name = server.newName("bank")
        let direct = server.url([
            "cairn_schema": name, "sslmode": "disable", "gssencmode": "disable",
        ])
        let watcher = try Bank(direct)
        let url = port.map { direct.replacing(":\(server.port)/", with: ":\($0)/") } ?? direct
        let bank = try Bank(url, change)
        defer {
            _ = try? bank.store.close()
            _ = try? watcher.store.close()
            _ = try? server.run("SET lock_timeout = '60s'; DROP SCHEMA \"\(name)\" CASCADE")
        }
        return try body(bank, watcher)
    }

    private func entity(_ name: String) throws -> SchemaEntity {
        try #require(store.schema.entity(named: name))
    }

    // MARK: Writing

    static let names = (0..<8).map { "account \($0)" }
    static let opening: Int64 = 1000

    /// Opens the accounts.
    func open() throws {
        try write("Account", Self.names.map { ["name": $0, "balance": Self.opening] })
    }

    /// Inserts or updates rows.
    @discardableResult
    func write(_ entity: String, _ rows: [[String: Any]]) throws -> BatchInsertResult {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        return try store.execute(request)
    }

    /// Gives all rates that a condition finds a value.
    @discardableResult
    func setRates(_ format: String? = nil, to value: Int64) throws -> BatchUpdateResult {
        try store.execute(
            BatchUpdateRequest(
                entityName: "Rate", propertiesToUpdate: ["value": .value(.integer(value))],
                predicate: try format.map { try PredicateNode(format: $0) }))
    }

    /// Moves an amount: two accounts and an entry, in one save. Somebody else's change of an account has it begin again.
    @discardableResult
    func move(_ amount: Int64, _ key: String, from: String, to: String) throws -> SaveResult {
        while true {
            do throws(StoreError) {
                return try tryMoving(amount, key, from: from, to: to)
            } catch {
                guard error.code == .mergeConflict || error.code == .snapshotExpired else {
                    throw error
                }
            }
        }
    }

    private func tryMoving(_ amount: Int64, _ key: String, from: String, to: String)
        throws(StoreError) -> SaveResult
    {
        guard let account = store.schema.entity(named: "Account"),
            let entry = store.schema.entity(named: "Entry"),
            let balance = account.columnIndex(named: "balance")
        else { throw StoreError(.invalidRequest, "the model is another") }
        var fetch = StoreFetch(
            entity: account.index,
            predicate: .comparison(.init(.key("name"), .in, [.string(from), .string(to)])))
        fetch.includesRows = true
        let rows = try store.newestState().fetch(fetch).rows
        var request = SaveRequest()
        var ids: [String: ObjectID] = [:]
        for row in rows {
            guard
                case .string(let name) = row.cells.value(0, of: account, in: store.identity),
                case .integer(let old) = row.cells.value(balance, of: account, in: store.identity)
            else { throw StoreError(.damaged, "an account is none") }
            ids[name] = row.id
            request.updated.append(
                .init(
                    id: row.id, entity: account.index, base: row,
                    changes: [
                        (
                            column: balance,
                            value: .integer(name == from ? old - amount : old + amount)
                        )
                    ]))
        }
        var values = entry.columns.map(\.defaultValue)
        for (name, value) in [
            ("key", Value.string(key)), ("amount", .integer(amount)),
            ("from", ids[from].map { .objectID($0) } ?? .null),
            ("to", ids[to].map { .objectID($0) } ?? .null),
        ] {
            if let column = entry.columnIndex(named: name) { values[column] = value }
        }
        request.inserted = [
            .init(
                id: ObjectID(
                    temporary: 1, hierarchy: store.identity.hierarchies[entry.index],
                    context: store.identity.identifier), entity: entry.index, values: values,
                assigned: ColumnSet(values.indices))
        ]
        switch try store.save(request) {
        case .saved(let result): return result
        case .conflicts(let conflicts):
            throw StoreError(.saveConflicts, "conflicts were reported", conflicts: conflicts)
        }
    }

    // MARK: Reading

    /// The values of all objects of an entity.
    func rows(_ name: String, _ state: (any StoreSnapshot)? = nil) throws -> [[Value]] {
        let entity = try entity(name)
        var fetch = StoreFetch(entity: entity.index)
        fetch.includesRows = true
        let snapshot = try state ?? store.snapshot()
        return try snapshot.fetch(fetch).rows.map { row in
            entity.columns.indices.map { row.cells.value($0, of: entity, in: store.identity) }
        }
    }

    func count(_ name: String) throws -> Int {
        try store.snapshot().count(StoreFetch(entity: try entity(name).index))
    }

    var commit: UInt64 {
        get throws { try store.snapshot().commit }
    }

    /// The keys of all entries; checks that each account has what these say, and that no key is there twice.
    func audit() throws -> Set<String> {
        let state = try store.snapshot()
        let account = try entity("Account")
        var fetch = StoreFetch(entity: account.index)
        fetch.includesRows = true
        var balances: [ObjectID: Int64] = [:]
        for row in try state.fetch(fetch).rows {
            let value = row.cells.value(
                try #require(account.columnIndex(named: "balance")), of: account,
                in: store.identity)
            guard case .integer(let balance) = value else { continue }
            balances[row.id] = balance - Self.opening
        }
        #expect(balances.count == Self.names.count)
        #expect(balances.values.reduce(0, +) == 0, "the sum has changed")
        let entry = try entity("Entry")
        var keys: Set<String> = []
        for values in try rows("Entry", state) {
            guard case .string(let key) = values[0], case .integer(let amount) = values[1],
                case .objectID(let from) = values[try #require(entry.columnIndex(named: "from"))],
                case .objectID(let to) = values[try #require(entry.columnIndex(named: "to"))]
            else {
                Issue.record("an entry is none: \(values)")
                continue
            }
            #expect(keys.insert(key).inserted, "\(key) is there twice")
            balances[from, default: 0] += amount
            balances[to, default: 0] -= amount
        }
        #expect(balances.values.allSatisfy { $0 == 0 }, "a transfer was done by half")
        let codes = try rows("Rate", state).compactMap { $0.first?.words }
        #expect(Set(codes).count == codes.count, "a code is there twice")
        return keys
    }
}

/// The error of a store that a closure throws; nil if it throws none.
func storeError(
    _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
    do {
        try body()
    } catch let error as StoreError {
        return error
    } catch {
        Issue.record("no error of a store: \(error)", sourceLocation: location)
    }
    return nil
}

extension Value {
    /// A text as it is; empty for anything else.
    var words: String {
        if case .string(let text) = self { text } else { "" }
    }
}
