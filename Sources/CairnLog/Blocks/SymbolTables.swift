// Tables of symbols that blocks have in common: the same texts are coded by the same symbols for many blocks, and one copy of
// them stays in the processor's cache where each block's own would not.
//
// Threads: any.

import CairnFormat
import Synchronization

/// A table that blocks share; there as long as somebody has it.
final class SharedSymbols: @unchecked Sendable {
    // Written once, before anybody else knows it.
    let entries: UnsafeRawPointer

    fileprivate init(copying bytes: UnsafeRawBufferPointer) {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 64)
        UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyMemory(from: bytes)
        entries = UnsafeRawPointer(memory)
    }

    deinit { entries.deallocate() }
}

/// The tables that are shared.
final class SymbolTables: Sendable {
    private let known = Mutex<[[UInt8]: SharedSymbols]>([:])
    /// Of more tables than these none is a common one.
    private static let most = 256

    /// The copy of a table.
    func shared(_ table: SymbolTable) -> SharedSymbols {
        let bytes = Array(table.bytes)
        return known.withLock { known in
            if let shared = known[bytes] { return shared }
            if known.count >= Self.most { known.removeAll() }
            let shared = bytes.withUnsafeBytes { SharedSymbols(copying: $0) }
            known[bytes] = shared
            return shared
        }
    }
}
