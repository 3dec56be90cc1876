// A database of GRDB with its tables, for both ways of using it.

import Foundation
import GRDB

enum GRDBStore {
    static let settings = """
        GRDB 7.10 on the system's SQLite, DatabasePool, the same pragmas as sqlite (WAL, FULL or NORMAL, 256 MiB of \
        cache, mapped, autocheckpoint 16384 pages)
        """

    static func open(_ folder: String, _ durability: Durability, _ indexes: Indexes) throws
        -> DatabasePool
    {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            for pragma in [
                "cache_size = -262144", "mmap_size = 1073741824", "wal_autocheckpoint = 16384",
            ] { try database.execute(sql: "PRAGMA \(pragma)") }
        }
        let pool = try DatabasePool(path: "\(folder)/store.sqlite", configuration: configuration)
        // Opening a pool sets NORMAL by itself, after what is prepared above.
        try pool.writeWithoutTransaction {
            let wanted = durability == .full ? 2 : 1
            try $0.execute(sql: "PRAGMA synchronous = \(wanted)")
            let mode = try Int.fetchOne($0, sql: "PRAGMA synchronous")
            precondition(mode == wanted, "commits are as durable as is asked for")
        }
        try pool.write { database in
            try database.create(table: "product", options: .ifNotExists) { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("serialCode", .text).notNull().unique()
                table.column("name", .text)
                table.column("price", .double)
                table.column("quantity", .integer)
                table.column("updatedAt", .double)
                table.column("category", .text)
                table.column("flag", .boolean)
            }
            if indexes == .columns {
                for column in ["price", "updatedAt"] {
                    try database.create(
                        indexOn: "product", columns: [column], options: .ifNotExists)
                }
            }
            try database.create(table: "child", options: .ifNotExists) { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("parent", .integer).notNull().indexed()
                table.column("label", .text)
                table.column("amount", .integer)
            }
        }
        return pool
    }
}

/// A peer on a pool, which any number of threads use.
protocol GRDBBased: Peer {
    var pool: DatabasePool { get }
    init(_ pool: DatabasePool)
}

extension GRDBBased {
    init(at folder: String, durability: Durability, indexes: Indexes) throws {
        self.init(try GRDBStore.open(folder, durability, indexes))
    }

    func another() -> Self { Self(pool) }

    func close() throws {
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try pool.close()
    }

    func groups(by text: ProductText) throws -> Groups {
        try pool.read { database in
            let counts = try Int.fetchCursor(
                database,
                sql: "SELECT COUNT(*) FROM product GROUP BY \(text.rawValue) HAVING COUNT(*) >= 2")
            var groups = Groups()
            while let count = try counts.next() { groups.add(count) }
            return groups
        }
    }
}
