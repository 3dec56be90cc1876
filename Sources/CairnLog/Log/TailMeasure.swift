// The number of ignored bytes at the end of a file.                                  F-646

import CairnFileSystem
import CairnStore

enum TailMeasure {
    /// Returns the number of bytes from a position to the last nonzero one.
    static func bytes(of file: any File, from start: UInt64) throws(StoreError) -> UInt64 {
        let window = RawBytes(count: 1 << 20)
        var position = start
        var last = start
        do {
            while true {
                let count = try file.read(into: window.mutable, at: position)
                if let index = window.bytes[..<count].lastIndex(where: { $0 != 0 }) {
                    last = position + UInt64(index) + 1
                }
                if count < window.count { return last - start }
                position += UInt64(count)
            }
        } catch {
            throw StoreError(error)
        }
    }
}
