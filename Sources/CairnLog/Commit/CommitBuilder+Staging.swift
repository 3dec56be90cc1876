// Staged values in a commit: they are adopted in place, and rows refer to them.            Format 65.2
//
// A value that was written for another row, or that a commit has used already, is copied into the log
// instead, piece by piece.
//
// Threads: within the turn, in one thread.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials
import Synchronization

/// The staged values of one save.
final class StagedUse {
    /// The parts that rows may refer to in place.
    fileprivate var adopted: [ObjectIdentifier: StagedPart] = [:]
    /// Those of them that a row refers to.
    fileprivate var used: [StagedPart] = []
    /// By segment: the offset up to which it is adopted.
    fileprivate var ends: [UInt32: UInt64] = [:]
    /// The number of adopted bytes.
    fileprivate var bytes: UInt64 = 0

    /// Records that the commit is made.
    func settle(in area: StagingArea) {
        area.adoptedBytes.add(bytes, ordering: .relaxed)
        for (number, end) in ends {
            area.settle(
                number, upTo: end,
                used: Set(used.filter { $0.segment.number == number }.map(\.start.offset)))
        }
    }
}

extension CommitBuilder {
    /// Adopts the staged values of a request that are where their rows may refer to them.
    mutating func adopt(_ staged: StagedUse, of request: SaveRequest) throws(StoreError) {
        for object in request.inserted {
            for (column, value) in object.values.enumerated() {
                take(value, column, object.id, object.entity, staged)
            }
        }
        for object in request.updated {
            for (column, value) in object.changes {
                take(value, column, object.id, object.entity, staged)
            }
        }
        var ends: [UInt32: StagedPart] = [:]
        for part in staged.adopted.values
        where part.end.offset > ends[part.segment.number]?.end.offset ?? 0 {
            ends[part.segment.number] = part
        }
        var parts: [AdoptPayload.Part] = []
        for (number, last) in ends.inKeyOrder() {
            let side = state.segments.sides.first { $0.segment.number == number }
            let header = UInt64(SegmentHeader.size)
            staged.ends[number] = last.end.offset
            // A later value was adopted before, with everything that precedes it.
            guard last.end.offset > side?.end ?? header else { continue }
            let startChain: UInt32
            if let side {
                startChain = side.chain
            } else {
                startChain = try last.segment.headerChain()
            }
            parts.append(
                AdoptPayload.Part(
                    segment: number, start: side?.end ?? header, end: last.end.offset,
                    startChain: startChain, endChain: last.end.chain))
            state.segments.adopt(last.segment, end: last.end.offset, chain: last.end.chain)
            staged.bytes += last.end.offset - (side?.end ?? header)
        }
        self.staged = staged
        if parts.isEmpty { return }
        try log.append(.adopt) { writer throws(StoreError) in
            AdoptPayload(parts: parts).encode(to: &writer)
        }
    }

    private func take(
        _ value: Value, _ column: Int, _ id: ObjectID, _ entity: Int, _ staged: StagedUse
    ) {
        guard let part = StagedValue.find(value)?.bytes as? StagedPart,
            part.staging === tools.staging,
            let number = id.number, !id.isTemporary,
            part.owner == owner(entity: entity, column: column, number: number),
            tools.staging.isWaiting(part.segment.number, part.start),
            // A value that another process has compacted since can still be read, and is copied.
            !tools.staging.isAdopted(part.segment.number)
                || state.segments[part.segment.number] != nil
        else { return }
        staged.adopted[ObjectIdentifier(part)] = part
    }

    private func owner(entity: Int, column: Int, number: UInt32) -> LargeValueReader.Owner {
        let stored = catalog.entities[entity]
        return LargeValueReader.Owner(
            tree: catalog.trees[stored.tree].id, number: number,
            property: stored.columns[column].propertyID)
    }

    /// The reference to a staged value, for the cell of a row: to where it was written, or to its copy in the
    /// log.
    mutating func reference(
        _ value: StagedValue, _ staged: StagedUse, entity: Int, column: Int, number: UInt32
    ) throws(StoreError) -> ValueReference {
        let owner = owner(entity: entity, column: column, number: number)
        if let part = value.bytes as? StagedPart, part.owner == owner,
            staged.adopted[ObjectIdentifier(part)] != nil
        {
            staged.used.append(part)
            return part.reference
        }
        let reading = value.bytes.reading()
        var (first, checksum, offset, sequence) = (Place.none, UInt32(0), UInt64(0), UInt32(0))
        while let piece = try reading.next(upTo: StagingArea.pieceSize) {
            let head = ValuePayload(
                tree: owner.tree, number: number, property: owner.property, sequence: sequence,
                totalLength: value.count, pieceOffset: offset)
            let place = try log.append(.value) { writer throws(StoreError) in
                piece.withUnsafeBytes { head.encode(piece: $0, to: &writer) }
            }
            if sequence == 0 { first = place }
            checksum = piece.withUnsafeBytes { Checksum.crc32c($0, continuing: checksum) }
            offset += UInt64(piece.count)
            sequence += 1
        }
        return ValueReference(place: first, length: value.count, checksum: checksum)
    }
}
