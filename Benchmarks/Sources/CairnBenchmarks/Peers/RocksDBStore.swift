// A database of RocksDB and its column families: rows by id, ids by serial code, and the families.

import CRocksDB
import Foundation
import Synchronization

/// An open database; shared by the threads of a process.
final class RocksDBStore: @unchecked Sendable {
    // The database allows it; what else is here does not change, or is atomic or a lock.

    /// The column families, by their place in `handles`.
    enum Family: Int, CaseIterable {
        case rows, keys, children, postings
    }

    private let database: OpaquePointer?
    private let handles: [OpaquePointer?]
    private let readOptions = rocksdb_readoptions_create()
    private let writeOptions = rocksdb_writeoptions_create()
    private let nextID = Atomic<Int>(1)
    /// A row that is checked and then written holds the lock of its key, so that two threads do not both
    /// find that it is new.
    private let locks = (0..<64).map { _ in NSLock() }

    init(_ folder: String, syncs: Bool) {
        let options = Self.options()
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_set_create_missing_column_families(options, 1)
        // The names live as long as the process does; "default" has to be among them.
        let texts: [String] = ["default", "keys", "children", "postings"]
        let names = texts.map { UnsafePointer<CChar>(strdup($0)) }
        var handles = [OpaquePointer?](repeating: nil, count: names.count)
        var error: UnsafeMutablePointer<CChar>?
        let all = [OpaquePointer?](repeating: options, count: names.count)
        database = rocksdb_open_column_families(
            options, folder, Int32(names.count), names, all, &handles, &error)
        self.handles = handles
        rocksdb_writeoptions_set_sync(writeOptions, syncs ? 1 : 0)
        Self.check(error)
        if let last = lastID() { nextID.store(last + 1, ordering: .relaxed) }
    }

    static let settings = """
        RocksDB's C API, LZ4, bloom filters of 10 bits, block cache 256 MiB, memtables of 64 MiB, pipelined \
        writes, 2 background jobs, hash index in data blocks, pinned and batched gets, a column family each for \
        rows and unique keys, locks by key around check and write; relaxed has its log written and not synced
        """

    private static func options() -> OpaquePointer? {
        let options = rocksdb_options_create()
        rocksdb_options_increase_parallelism(options, 2)
        rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
        rocksdb_options_set_write_buffer_size(options, 64 << 20)
        rocksdb_options_set_max_write_buffer_number(options, 4)
        rocksdb_options_set_enable_pipelined_write(options, 1)
        rocksdb_options_set_bytes_per_sync(options, 1 << 20)
        let table = rocksdb_block_based_options_create()
        rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(10))
        rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru(256 << 20))
        rocksdb_block_based_options_set_data_block_index_type(
            table, Int32(rocksdb_block_based_table_data_block_index_type_binary_search_and_hash))
        rocksdb_options_set_block_based_table_factory(options, table)
        return options
    }

    func close() {
        // As a program that ends well: what is in memory only is written into tables.
        var error: UnsafeMutablePointer<CChar>?
        let options = rocksdb_flushoptions_create()
        for handle in handles {
            rocksdb_flush_cf(database, options, handle, &error)
            Self.check(error)
        }
        for handle in handles { rocksdb_column_family_handle_destroy(handle) }
        rocksdb_close(database)
    }

    func takeIDs(_ count: Int) -> Int {
        nextID.wrappingAdd(count, ordering: .relaxed).oldValue
    }

    private func lastID() -> Int? {
        let iterator = rocksdb_create_iterator_cf(
            database, readOptions, handles[Family.rows.rawValue])
        defer { rocksdb_iter_destroy(iterator) }
        rocksdb_iter_seek_to_last(iterator)
        guard rocksdb_iter_valid(iterator) != 0 else { return nil }
        return Self.id(Self.bytes(iterator, rocksdb_iter_key))
    }

    // MARK: Keys

    /// Calls a closure with an id as a key: big-endian, so that they are in order.
    @inline(__always)
    static func withKey<R>(_ id: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withUnsafeBytes(of: UInt64(id).bigEndian, body)
    }

    static func id(_ bytes: UnsafeRawBufferPointer) -> Int {
        Int(UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    /// Runs a closure that checks keys and writes, alone for them.
    func locked<R>(_ rows: ArraySlice<Product>, _ body: () throws -> R) rethrows -> R {
        if rows.count == 1, let row = rows.first {
            let lock = locks[
                Int(truncatingIfNeeded: UInt(bitPattern: row.serialCode.hashValue) % 64)]
            return try lock.withLock(body)
        }
        for lock in locks { lock.lock() }
        defer { for lock in locks { lock.unlock() } }
        return try body()
    }

    // MARK: Reading

    /// Calls a closure with a value, if the key is there, and gives its result.
    @inline(__always)
    func get<R>(
        _ family: Family, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R? {
        var error: UnsafeMutablePointer<CChar>?
        let slice = rocksdb_get_pinned_cf(
            database, readOptions, handles[family.rawValue],
            key.assumingMemoryBound(to: CChar.self).baseAddress, key.count, &error)
        Self.check(error)
        guard let slice else { return nil }
        defer { rocksdb_pinnableslice_destroy(slice) }
        return body(Self.bytes(slice))
    }

    /// Calls a closure with the values of keys that lie behind each other, each of so many bytes.
    func get(
        _ family: Family, keys: UnsafeRawBufferPointer, width: Int,
        _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) {
        let count = keys.count / width
        let base = keys.assumingMemoryBound(to: CChar.self).baseAddress
        let places = (0..<count).map { index in base.map { $0 + index * width } }
        var slices = [OpaquePointer?](repeating: nil, count: count)
        var errors = [UnsafeMutablePointer<CChar>?](repeating: nil, count: count)
        rocksdb_batched_multi_get_cf(
            database, readOptions, handles[family.rawValue], count, places,
            [Int](repeating: width, count: count), &slices, &errors, false)
        for index in 0..<count {
            Self.check(errors[index])
            guard let slice = slices[index] else { continue }
            body(index, Self.bytes(slice))
            rocksdb_pinnableslice_destroy(slice)
        }
    }

    /// Calls a closure with every pair, or those at and after a key, until it returns false.
    func each(
        _ family: Family, from key: UnsafeRawBufferPointer? = nil,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) {
        let iterator = rocksdb_create_iterator_cf(
            database, readOptions, handles[family.rawValue])
        defer { rocksdb_iter_destroy(iterator) }
        if let key {
            rocksdb_iter_seek(
                iterator, key.assumingMemoryBound(to: CChar.self).baseAddress, key.count)
        } else {
            rocksdb_iter_seek_to_first(iterator)
        }
        while rocksdb_iter_valid(iterator) != 0,
            body(Self.bytes(iterator, rocksdb_iter_key), Self.bytes(iterator, rocksdb_iter_value))
        {
            rocksdb_iter_next(iterator)
        }
    }

    @inline(__always)
    private static func bytes(
        _ source: OpaquePointer?,
        _ part: (OpaquePointer?, UnsafeMutablePointer<Int>?) -> UnsafePointer<CChar>? =
            rocksdb_pinnableslice_value
    ) -> UnsafeRawBufferPointer {
        var count = 0
        let base = part(source, &count)
        return UnsafeRawBufferPointer(start: base, count: count)
    }

    // MARK: Writing

    /// Collects changes and writes them as one.
    func write(_ body: (borrowing Batch) throws -> Void) rethrows {
        let batch = Batch(handles: handles)
        try body(batch)
        var error: UnsafeMutablePointer<CChar>?
        rocksdb_write(database, writeOptions, batch.batch, &error)
        Self.check(error)
    }

    /// Changes that are written as one.
    struct Batch: ~Copyable {
        fileprivate let batch = rocksdb_writebatch_create()
        fileprivate let handles: [OpaquePointer?]

        fileprivate init(handles: [OpaquePointer?]) { self.handles = handles }

        deinit { rocksdb_writebatch_destroy(batch) }

        @inline(__always)
        func put(_ family: Family, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
            rocksdb_writebatch_put_cf(
                batch, handles[family.rawValue],
                key.assumingMemoryBound(to: CChar.self).baseAddress, key.count,
                value.assumingMemoryBound(to: CChar.self).baseAddress, value.count)
        }

        func delete(_ family: Family, _ key: UnsafeRawBufferPointer) {
            rocksdb_writebatch_delete_cf(
                batch, handles[family.rawValue],
                key.assumingMemoryBound(to: CChar.self).baseAddress, key.count)
        }
    }

    private static func check(_ error: UnsafeMutablePointer<CChar>?) {
        if let error { preconditionFailure(String(cString: error)) }
    }
}
