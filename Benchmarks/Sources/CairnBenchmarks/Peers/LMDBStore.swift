// An environment of LMDB and its databases: rows by id, ids by serial code, and the families.

import CLMDB

/// An open environment; shared by the threads of a process.
final class LMDBStore: @unchecked Sendable {
    // The environment allows it; each transaction is of one thread.
    let environment: OpaquePointer?
    let rows: MDB_dbi
    let keys: MDB_dbi
    let children: MDB_dbi
    let postings: MDB_dbi

    init(_ folder: String, flags: Int32) {
        var environment: OpaquePointer?
        Self.check(mdb_env_create(&environment))
        self.environment = environment
        Self.check(mdb_env_set_mapsize(environment, 16 << 30))
        Self.check(mdb_env_set_maxdbs(environment, 4))
        Self.check(
            mdb_env_open(environment, folder, UInt32(flags | MDB_NOTLS | MDB_NOMEMINIT), 0o644))
        var transaction: OpaquePointer?
        Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        func database(_ name: String, _ flags: Int32) -> MDB_dbi {
            var database = MDB_dbi()
            Self.check(mdb_dbi_open(transaction, name, UInt32(flags | MDB_CREATE), &database))
            return database
        }
        rows = database("rows", MDB_INTEGERKEY)
        keys = database("keys", 0)
        children = database("children", MDB_INTEGERKEY)
        postings = database(
            "postings", MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP)
        Self.check(mdb_txn_commit(transaction))
    }

    func close() { mdb_env_close(environment) }

    /// Runs a closure in a transaction that writes.
    func writing<R>(_ body: (OpaquePointer?) throws -> R) rethrows -> R {
        var transaction: OpaquePointer?
        Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        let result = try body(transaction)
        Self.check(mdb_txn_commit(transaction))
        return result
    }

    /// Runs a closure in a transaction that reads.
    func reading<R>(_ body: (OpaquePointer?) throws -> R) rethrows -> R {
        var transaction: OpaquePointer?
        Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        return try body(transaction)
    }

    /// Calls a closure with every pair, or those at and after a key; it ends when that returns false.
    func each(
        _ database: MDB_dbi, from key: MDB_val? = nil, _ transaction: OpaquePointer?,
        _ body: (OpaquePointer?, MDB_val, MDB_val) -> Bool
    ) {
        var cursor: OpaquePointer?
        Self.check(mdb_cursor_open(transaction, database, &cursor))
        defer { mdb_cursor_close(cursor) }
        var place = key ?? MDB_val()
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &place, &value, key == nil ? MDB_FIRST : MDB_SET_RANGE)
        while code == 0, body(cursor, place, value) {
            code = mdb_cursor_get(cursor, &place, &value, MDB_NEXT)
        }
        precondition(code == 0 || code == MDB_NOTFOUND, Self.message(code))
    }

    /// The greatest integer key; nil if there is none.
    func lastID(_ database: MDB_dbi, _ transaction: OpaquePointer?) -> Int? {
        var cursor: OpaquePointer?
        Self.check(mdb_cursor_open(transaction, database, &cursor))
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        guard mdb_cursor_get(cursor, &key, &value, MDB_LAST) == 0 else { return nil }
        return key.integer
    }

    static func check(_ code: Int32) { precondition(code == 0, message(code)) }
    private static func message(_ code: Int32) -> String { String(cString: mdb_strerror(code)) }
}

extension MDB_val {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    init(_ text: UnsafeBufferPointer<UInt8>) { self.init(UnsafeRawBufferPointer(text)) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
    var integer: Int { bytes.loadUnaligned(as: Int.self) }
}
