// LMDB: a row by its id, and the id by the serial code in a keyspace of its own, whose put says whether it
// is there. Rows are appended; readers decode what lies in the map, without a copy.

import CLMDB

final class LMDBPeer: RecordPeer, @unchecked Sendable {
    // A handle with its buffer is used by one thread at a time.

    static let settings = """
        LMDB \(MDB_VERSION_MAJOR).\(MDB_VERSION_MINOR).\(MDB_VERSION_PATCH), map of 16 GiB, MDB_NOTLS, \
        MDB_NOMEMINIT, integer keys, MDB_APPEND for rows, MDB_NOOVERWRITE for unique keys, postings MDB_DUPFIXED; \
        relaxed is MDB_NOMETASYNC, the loosest that cannot damage the file
        """

    private let store: LMDBStore
    private let record = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Record.capacity, alignment: 8)

    convenience init(at folder: String, durability: Durability, indexes: Indexes) throws {
        if indexes == .columns { throw NotOffered(reason: "has no indexes on values") }
        self.init(LMDBStore(folder, flags: durability == .full ? 0 : MDB_NOMETASYNC))
    }

    private init(_ store: LMDBStore) { self.store = store }

    deinit { record.deallocate() }

    func another() -> LMDBPeer { LMDBPeer(store) }
    func close() { store.close() }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) { write(rows, updates: false) }
    func upsert(_ rows: ArraySlice<Product>) { write(rows, updates: true) }

    private func write(_ rows: ArraySlice<Product>, updates: Bool) {
        store.writing { transaction in
            var next = (store.lastID(store.rows, transaction) ?? 0) + 1
            for row in rows {
                var (id, isNew) = (next, false)
                row.withTexts { serialCode, _, _ in
                    var key = MDB_val(serialCode)
                    withUnsafeBytes(of: id) { bytes in
                        var value = MDB_val(bytes)
                        let code = mdb_put(
                            transaction, store.keys, &key, &value, UInt32(MDB_NOOVERWRITE))
                        if code == MDB_KEYEXIST {
                            precondition(updates, "every row is new")
                            id = value.integer
                        } else {
                            LMDBStore.check(code)
                            isNew = true
                        }
                    }
                }
                if isNew { next += 1 }
                put(row, id, isNew ? MDB_APPEND : 0, transaction)
            }
        }
    }

    private func put(_ row: Product, _ id: Int, _ flags: Int32, _ transaction: OpaquePointer?) {
        guard let base = record.baseAddress else { preconditionFailure("the record has room") }
        let count = Record.encode(row, into: base)
        withUnsafeBytes(of: id) { bytes in
            var key = MDB_val(bytes)
            var value = MDB_val(mv_size: count, mv_data: base)
            LMDBStore.check(mdb_put(transaction, store.rows, &key, &value, UInt32(flags)))
        }
    }

    func deleteFlagged() -> Int {
        store.writing { transaction in
            var count = 0
            store.each(store.rows, transaction) { cursor, _, value in
                guard Record.isFlagged(value.bytes) else { return true }
                var key = MDB_val(Record.bytes(.serialCode, value.bytes))
                LMDBStore.check(mdb_del(transaction, store.keys, &key, nil))
                LMDBStore.check(mdb_cursor_del(cursor, 0))
                count += 1
                return true
            }
            return count
        }
    }

    func multiplyPrices(by factor: Double) {
        store.writing { transaction in
            store.each(store.rows, transaction) { cursor, key, value in
                // The page may be one that readers have: it is copied by the put, not changed in place.
                record.copyMemory(from: value.bytes)
                record.storeBytes(of: Record.price(value.bytes) * factor, as: Double.self)
                var (key, new) = (key, MDB_val(mv_size: value.mv_size, mv_data: record.baseAddress))
                LMDBStore.check(mdb_cursor_put(cursor, &key, &new, UInt32(MDB_CURRENT)))
                return true
            }
        }
    }

    // MARK: Reading

    func find(_ key: String) -> Product? { store.reading { find(key, $0) } }

    func lookup(_ keys: [String], _ body: (Product) -> Void) {
        store.reading { transaction in
            for key in keys { if let row = find(key, transaction) { body(row) } }
        }
    }

    @inline(__always)
    private func find(_ key: String, _ transaction: OpaquePointer?) -> Product? {
        var key = key
        return key.withUTF8 { bytes in
            var place = MDB_val(bytes)
            var id = MDB_val()
            var value = MDB_val()
            guard mdb_get(transaction, store.keys, &place, &id) == 0,
                mdb_get(transaction, store.rows, &id, &value) == 0
            else { return nil }
            return Record.decode(value.bytes)
        }
    }

    /// A key is asked for by itself: there is no other way.
    func among(_ keys: [String], _ body: (Product) -> Void) { lookup(keys, body) }

    func eachRecord(_ body: (UnsafeRawBufferPointer) -> Void) {
        store.reading { transaction in
            store.each(store.rows, transaction) { _, _, value in
                body(value.bytes)
                return true
            }
        }
    }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) {
        var (key, rest) = (key, limit)
        key.withUTF8 { bytes in
            store.reading { transaction in
                store.each(store.keys, from: MDB_val(bytes), transaction) { _, _, id in
                    var (id, value) = (id, MDB_val())
                    LMDBStore.check(mdb_get(transaction, store.rows, &id, &value))
                    body(Record.decode(value.bytes))
                    rest -= 1
                    return rest > 0
                }
            }
        }
    }

    // MARK: Families

    func insertFamilies(_ count: Int) {
        store.writing { transaction in
            for parent in 0..<count {
                for (index, child) in Family.children(of: parent).enumerated() {
                    let id = parent * Family.childrenPerParent + index
                    child.record.withUnsafeBytes {
                        put($0, store.children, id, MDB_APPEND, transaction)
                    }
                    withUnsafeBytes(of: id) {
                        put($0, store.postings, parent, MDB_APPENDDUP, transaction)
                    }
                }
            }
        }
    }

    private func put(
        _ bytes: UnsafeRawBufferPointer, _ database: MDB_dbi, _ id: Int, _ flags: Int32,
        _ transaction: OpaquePointer?
    ) {
        withUnsafeBytes(of: id) {
            var (key, value) = (MDB_val($0), MDB_val(bytes))
            LMDBStore.check(mdb_put(transaction, database, &key, &value, UInt32(flags)))
        }
    }

    func children(of parents: [Int], _ body: (Child) -> Void) {
        store.reading { transaction in
            var cursor: OpaquePointer?
            LMDBStore.check(mdb_cursor_open(transaction, store.postings, &cursor))
            defer { mdb_cursor_close(cursor) }
            for parent in parents {
                withUnsafeBytes(of: parent) {
                    var (key, id) = (MDB_val($0), MDB_val())
                    var code = mdb_cursor_get(cursor, &key, &id, MDB_SET_KEY)
                    while code == 0 {
                        var value = MDB_val()
                        LMDBStore.check(mdb_get(transaction, store.children, &id, &value))
                        body(Child(record: value.bytes))
                        code = mdb_cursor_get(cursor, &key, &id, MDB_NEXT_DUP)
                    }
                }
            }
        }
    }
}
