// RocksDB: a row by its id, and the id by the serial code in a column family of its own, which is asked
// before a row is written. What one transaction writes is one batch; a row that the batch itself has
// already is found in a dictionary beside it.

import CRocksDB

final class RocksDBPeer: RecordPeer, @unchecked Sendable {
    // A handle with its buffer is used by one thread at a time.

    static let settings = RocksDBStore.settings

    private let store: RocksDBStore
    private let record = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Record.capacity, alignment: 8)

    convenience init(at folder: String, durability: Durability, indexes: Indexes) throws {
        if indexes == .columns { throw NotOffered(reason: "has no indexes on values") }
        self.init(RocksDBStore(folder, syncs: durability == .full))
    }

    private init(_ store: RocksDBStore) { self.store = store }

    deinit { record.deallocate() }

    func another() -> RocksDBPeer { RocksDBPeer(store) }
    func close() { store.close() }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) { write(rows, updates: false) }
    func upsert(_ rows: ArraySlice<Product>) { write(rows, updates: true) }

    private func write(_ rows: ArraySlice<Product>, updates: Bool) {
        store.locked(rows) {
            var next = store.takeIDs(rows.count)
            // One row alone cannot meet another of its batch.
            var own: [String: Int] = [:]
            if rows.count > 1 { own.reserveCapacity(rows.count) }
            store.write { batch in
                for row in rows {
                    row.withTexts { serialCode, _, _ in
                        let key = UnsafeRawBufferPointer(serialCode)
                        let stored =
                            own[row.serialCode] ?? store.get(.keys, key) { RocksDBStore.id($0) }
                        precondition(updates || stored == nil, "every row is new")
                        let id = stored ?? next
                        put(row, id, batch)
                        guard stored == nil else { return }
                        RocksDBStore.withKey(id) { batch.put(.keys, key, $0) }
                        if rows.count > 1 { own[row.serialCode] = id }
                        next += 1
                    }
                }
            }
        }
    }

    private func put(_ row: Product, _ id: Int, _ batch: borrowing RocksDBStore.Batch) {
        guard let base = record.baseAddress else { preconditionFailure("the record has room") }
        let count = Record.encode(row, into: base)
        let key = UInt64(id).bigEndian
        withUnsafeBytes(of: key) {
            batch.put(.rows, $0, UnsafeRawBufferPointer(start: base, count: count))
        }
    }

    func deleteFlagged() -> Int {
        var count = 0
        store.write { batch in
            store.each(.rows) { key, value in
                guard Record.isFlagged(value) else { return true }
                batch.delete(.keys, Record.bytes(.serialCode, value))
                batch.delete(.rows, key)
                count += 1
                return true
            }
        }
        return count
    }

    func multiplyPrices(by factor: Double) {
        store.write { batch in
            store.each(.rows) { key, value in
                record.copyMemory(from: value)
                record.storeBytes(of: Record.price(value) * factor, as: Double.self)
                batch.put(.rows, key, UnsafeRawBufferPointer(rebasing: record[..<value.count]))
                return true
            }
        }
    }

    // MARK: Reading

    func find(_ key: String) -> Product? {
        var key = key
        return key.withUTF8 { bytes in
            guard let id = store.get(.keys, UnsafeRawBufferPointer(bytes), RocksDBStore.id) else {
                return nil
            }
            return RocksDBStore.withKey(id) { store.get(.rows, $0, Record.decode) }
        }
    }

    func lookup(_ keys: [String], _ body: (Product) -> Void) {
        let width = keys.first?.utf8.count ?? 0
        for start in stride(from: 0, to: keys.count, by: 64) {
            let part = keys[start..<min(start + 64, keys.count)]
            precondition(part.allSatisfy { $0.utf8.count == width }, "keys are of one length")
            var ids: [UInt64] = []
            Array(part.joined().utf8).withUnsafeBytes {
                store.get(.keys, keys: $0, width: width) {
                    ids.append($1.loadUnaligned(as: UInt64.self))
                }
            }
            ids.withUnsafeBytes {
                store.get(.rows, keys: $0, width: 8) { body(Record.decode($1)) }
            }
        }
    }

    func among(_ keys: [String], _ body: (Product) -> Void) { lookup(keys, body) }

    func eachRecord(_ body: (UnsafeRawBufferPointer) -> Void) {
        store.each(.rows) { _, value in
            body(value)
            return true
        }
    }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) {
        var (key, rest) = (key, limit)
        key.withUTF8 { bytes in
            store.each(.keys, from: UnsafeRawBufferPointer(bytes)) { _, id in
                if let row = store.get(.rows, id, Record.decode) { body(row) }
                rest -= 1
                return rest > 0
            }
        }
    }

    // MARK: Families

    func insertFamilies(_ count: Int) {
        store.write { batch in
            for parent in 0..<count {
                for (index, child) in Family.children(of: parent).enumerated() {
                    let id = parent * Family.childrenPerParent + index
                    let bytes = child.record
                    let ids = [UInt64(parent).bigEndian, UInt64(id).bigEndian]
                    ids.withUnsafeBytes { posting in
                        batch.put(.postings, posting, UnsafeRawBufferPointer(start: nil, count: 0))
                        bytes.withUnsafeBytes {
                            batch.put(
                                .children, UnsafeRawBufferPointer(rebasing: posting[8...]), $0)
                        }
                    }
                }
            }
        }
    }

    func children(of parents: [Int], _ body: (Child) -> Void) {
        for parent in parents {
            RocksDBStore.withKey(parent) { key in
                store.each(.postings, from: key) { posting, _ in
                    guard posting.prefix(8).elementsEqual(key) else { return false }
                    let child = store.get(
                        .children, UnsafeRawBufferPointer(rebasing: posting[8...])
                    ) { Child(record: $0) }
                    if let child { body(child) }
                    return true
                }
            }
        }
    }
}
