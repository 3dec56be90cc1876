// The replacement for a part of a checkpoint that cannot be read: see `CheckpointImage`.

import CairnFormat
import CairnStore

extension CheckpointImage {
    /// Copies a part from a state that was rebuilt from the log, whose blocks have other handles.
    func copy(_ part: Part, of state: EngineState, _ pages: inout PageTransaction)
        -> [Page]
    {
        switch part {
        case .directory(let tree, let leaves):
            let handles = blocks.handles
            return copy([leaves], of: state.directories[tree].cells, &pages) { bits in
                let cell = DirectoryCell(bits: bits)
                guard !cell.isEmpty, let handle = handles[state.blocks.entry(cell.handle).place]
                else { return 0 }
                return DirectoryCell(
                    handle: BlockHandle(raw: handle), slot: cell.slot, version: cell.version
                ).bits
            }
        case .inverse(let index, let inverse):
            return copy(inverse.heads, of: state.inverses[index].heads, &pages) { $0 }
                + copy(inverse.links, of: state.inverses[index].links, &pages) { $0 }
        case .partition(let unique, let partition):
            return [copy(partition, of: state.uniques[unique], bits: bits[unique], &pages)]
        case .postings(let index, let partition):
            let table = state.fetchIndexes[index].postings.table
            return [copy(partition, of: table, bits: postingBits[index], &pages)]
        case .leaves(let place, let outline, let first, let run):
            let index =
                switch place {
                case .ordered(let index): state.fetchIndexes[index].ordered
                case .lists(let index): state.fetchIndexes[index].postings.lists
                }
            return outline.copy(index, first: first, count: Int(run.count), &pages)
        }
    }

    private func copy(
        _ partition: CheckpointContents.Partition, of index: UniqueIndex, bits: Int,
        _ pages: inout PageTransaction
    ) -> Page {
        let table = HashPartition.make(capacity: Int(partition.capacity), in: &pages)
        index.forEachPartition { _, other in
            for slot in 0..<other.capacity {
                let value = other[slot]
                let half = UInt32(truncatingIfNeeded: value)
                guard value != 0, bits == 0 || half >> UInt32(32 - bits) == partition.number
                else { continue }
                table.insert(value, bits: bits, in: &pages)
            }
        }
        return table.header
    }

    private func copy(
        _ parts: [CheckpointContents.Leaves], of array: RadixArray,
        _ pages: inout PageTransaction, _ change: (UInt64) -> UInt64
    ) -> [Page] {
        var leaves: [Page] = []
        for part in parts {
            for number in part.first..<part.first + part.count {
                let leaf = pages.allocate(.large)
                for slot in 0..<512 {
                    leaf.data.storeBytes(
                        of: change(array[number * 512 + UInt32(slot)]), toByteOffset: slot * 8,
                        as: UInt64.self)
                }
                leaves.append(leaf)
            }
        }
        return leaves
    }

    /// Pages without content, for a part that is lost; `failure` reports it.
    func empty(_ part: Part, _ count: Int, _ pages: inout PageTransaction) -> [Page] {
        switch part {
        case .partition(_, let partition), .postings(_, let partition):
            [HashPartition.make(capacity: Int(partition.capacity), in: &pages).header]
        case .leaves: (0..<count).map { _ in OrderedLeaf.make(in: &pages).page }
        case .directory, .inverse: (0..<count).map { _ in pages.allocateZeroed(.large) }
        }
    }
}
