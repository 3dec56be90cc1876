// Leaves of an ordered index that are read from a checkpoint, or reconstructed.

import CairnFormat

extension OrderedOutline {
    /// Unpacks the leaves of a part; nil if the part does not contain them.
    func unpack(
        _ bytes: UnsafeRawBufferPointer, first: Int, count: Int, _ pages: inout PageTransaction
    ) -> [Page]? {
        var leaves: [Page] = []
        var offset = 0
        for leaf in first..<first + count {
            guard bytes.count - offset >= OrderedLeaf.headerBytes else { return nil }
            let used = Int(bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self))
            guard used <= bytes.count - offset else { return nil }
            let content = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + used])
            guard isLeaf(leaf, content), let base = content.baseAddress else { return nil }
            let page = pages.allocate(.node)
            page.data.copyMemory(from: base, byteCount: used)
            leaves.append(page)
            offset += used
        }
        return offset == bytes.count ? leaves : nil
    }

    /// Copies the leaves from another tree with the same entries, divided at the separators.
    func copy(
        _ index: OrderedIndex, first: Int, count: Int, _ pages: inout PageTransaction
    ) -> [Page] {
        (first..<first + count).map { leaf in
            let start = separator(leaf).withUnsafeBytes { index.rank($0) }
            let end =
                leaf + 1 == self.count
                ? index.count : separator(leaf + 1).withUnsafeBytes { index.rank($0) }
            let copy = OrderedLeaf.make(in: &pages)
            var cursor = OrderedCursor(index, ranks: start..<max(start, end))
            var before: [UInt8] = []
            while let number = cursor.next() {
                let entry = cursor.key + withUnsafeBytes(of: number.bigEndian) { Array($0) }
                let shared = zip(before, entry).prefix { $0 == $1 }.count
                // A tree with other entries has those that the checkpoint should have had: as many as fit are
                // copied.
                guard copy.used + 2 + entry.count - shared <= OrderedLeaf.capacity else { break }
                entry.withUnsafeBytes { copy.append($0, shared: shared) }
                before = Array(entry)
            }
            return copy.page
        }
    }
}
