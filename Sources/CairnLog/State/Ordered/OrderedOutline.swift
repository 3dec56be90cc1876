// What is known about the leaves of an ordered index before they are read from a checkpoint.        Format 85
//
// Threads: made by one owner, then only read.

import CCairn
import CairnFormat

/// For each leaf: the number of its entries, and the separator from the previous leaf.
final class OrderedOutline: Sendable {
    /// The separators, contiguously.
    let bytes: [UInt8]
    /// The end of each separator.
    private let ends: [UInt32]
    private let counts: [UInt16]
    /// The number of entries.
    let total: Int

    /// Reads the parts of an outline; nil if they are invalid.
    init?(_ parts: [[UInt8]]) {
        var bytes: [UInt8] = []
        var ends: [UInt32] = []
        var counts: [UInt16] = []
        var before: ArraySlice<UInt8> = []
        for part in parts {
            var offset = 0
            while offset < part.count {
                guard part.count - offset >= 3 else { return nil }
                let entries = UInt16(part[offset]) | UInt16(part[offset + 1]) << 8
                let length = Int(part[offset + 2])
                offset += 3
                guard entries > 0, length <= OrderedLeaf.longestEntry,
                    part.count - offset >= length
                else { return nil }
                let separator = part[offset..<offset + length]
                // The first is empty, the others are ascending.
                let rises = before.lexicographicallyPrecedes(separator)
                guard counts.isEmpty ? length == 0 : rises else { return nil }
                before = separator
                bytes.append(contentsOf: separator)
                ends.append(UInt32(truncatingIfNeeded: bytes.count))
                counts.append(entries)
                offset += length
            }
        }
        self.bytes = bytes
        self.ends = ends
        self.counts = counts
        total = counts.reduce(0) { $0 + Int($1) }
    }

    /// The number of leaves.
    var count: Int { counts.count }

    func entries(_ leaf: Int) -> Int { Int(counts[leaf]) }

    /// Returns the range of a leaf's separator in the bytes.
    func range(_ leaf: Int) -> Range<Int> {
        (leaf == 0 ? 0 : Int(ends[leaf - 1]))..<Int(ends[leaf])
    }

    /// Returns the lower bound of the entries of a leaf.
    func separator(_ leaf: Int) -> ArraySlice<UInt8> { bytes[range(leaf)] }

    /// Whether bytes are those of a leaf: well-formed, in order, and within the separators.
    ///
    /// An entry shares its first bytes with the previous one, so the bytes after them decide which is less.
    func isLeaf(_ leaf: Int, _ content: UnsafeRawBufferPointer) -> Bool {
        let first = separator(leaf)
        guard OrderedLeaf.isLeaf(content), let base = content.baseAddress,
            Int(content.loadUnaligned(as: UInt16.self)) == entries(leaf)
        else { return false }
        return withUnsafeTemporaryAllocation(
            byteCount: OrderedLeaf.longestEntry, alignment: 1
        ) { entry in
            guard let before = entry.baseAddress else { return false }
            // The first entry is preceded by the separator, which it may equal and with which it shares no
            // bytes.
            first.withUnsafeBytes { entry.copyMemory(from: $0) }
            var length = first.count
            var offset = OrderedLeaf.headerBytes
            while offset < content.count {
                let shared = Int(content[offset])
                let rest = Int(content[offset + 1])
                guard shared <= length else { return false }
                let common = min(length - shared, rest)
                let order =
                    common > 0 ? cairn_compare(before + shared, base + offset + 2, common) : 0
                // No entry is a prefix of another one.
                let isFirst = offset == OrderedLeaf.headerBytes
                guard order < 0 || order == 0 && isFirst && length <= rest else { return false }
                (before + shared).copyMemory(from: base + offset + 2, byteCount: rest)
                length = shared + rest
                offset += 2 + rest
            }
            if leaf + 1 == count { return true }
            return entry.prefix(length).lexicographicallyPrecedes(separator(leaf + 1))
        }
    }
}
