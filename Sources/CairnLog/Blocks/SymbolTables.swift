// Symbol tables shared by blocks: many blocks encode the same strings with the same symbols, and one shared
// table stays in the processor's cache where one per block would not.
//
// Threads: any.

import CairnFormat
import Synchronization

/// A table that blocks share. It exists as long as something refers to it.
final class SharedSymbols: @unchecked Sendable {
    // Written once, before another thread can see it.
    let entries: UnsafeRawPointer
    private let count: Int

    fileprivate init(copying bytes: UnsafeRawBufferPointer) {
        count = bytes.count
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 64)
        UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyMemory(from: bytes)
        entries = UnsafeRawPointer(memory)
    }

    deinit { entries.deallocate() }

    fileprivate func has(_ bytes: UnsafeRawBufferPointer) -> Bool {
        compareCells(UnsafeRawBufferPointer(start: entries, count: count), bytes) == 0
    }
}

/// The shared tables.
final class SymbolTables: Sendable {
    /// By checksum and length: the checksum takes an instruction per eight bytes, whereas hashing an array
    /// examines each byte. Of two tables with the same key, the later one is known.
    private let known = Mutex<[UInt64: SharedSymbols]>([:])
    /// The maximum number of tables: if there are more, none is common.
    private static let most = 256

    /// Returns the shared copy of a table.
    func shared(_ table: SymbolTable) -> SharedSymbols {
        let bytes = table.bytes
        let key =
            UInt64(Checksum.crc32c(bytes)) << 32 | UInt64(truncatingIfNeeded: bytes.count)
        return known.withLock { known in
            if let shared = known[key], shared.has(bytes) { return shared }
            if known.count >= Self.most { known.removeAll() }
            let shared = SharedSymbols(copying: bytes)
            known[key] = shared
            return shared
        }
    }
}
