// Reads values that have frames of their own.                                        Format 40
//
// A cell holds where the first frame is, how long the value is and its checksum. The frames follow one
// another in the same segment.
// Threads: any.

import CairnFormat
import CairnStore
import Synchronization

/// Finds the frames of large values, also in segments that came later than the block was read.
final class LargeValueReader: Sendable {
    private let segments: Mutex<[UInt32: Segment]>
    private let storeTag: UInt32

    init(storeTag: UInt32) {
        self.storeTag = storeTag
        segments = Mutex([:])
    }

    func add(_ segment: Segment) {
        segments.withLock { $0[segment.number] = segment }
    }

    /// Forgets a segment that no state refers to.
    func remove(_ number: UInt32) {
        segments.withLock { $0[number] = nil }
    }

    /// Whose value it is.
    struct Owner: Equatable {
        let tree: UInt32
        let number: UInt32
        let property: UInt32
    }

    /// The value that a cell's reference names.
    ///
    /// - Parameter owner: whose it must be; nil: its checksum says enough.
    /// - Throws: `StoreError` with `.damaged` and the place.
    func read(
        _ cell: UnsafeRawBufferPointer, from place: Place, owner: Owner? = nil
    ) throws(StoreError) -> [UInt8] {
        let reference: ValueReference
        do {
            reference = try ValueReference(decoding: cell)
        } catch {
            throw StoreError(error, at: place)
        }
        guard let segment = segments.withLock({ $0[reference.place.segment] }) else {
            throw .damaged(
                "a value's segment is missing (F-631)", segment: reference.place.segment)
        }
        var value: [UInt8] = []
        var offset = UInt64(reference.place.byteOffset)
        var sequence: UInt32 = 0
        while UInt64(value.count) < reference.length {
            let (header, payload) = try segment.frame(at: offset, storeTag: storeTag)
            guard header.kind == .value else {
                throw .damaged(
                    "\(sequence == 0 ? "no large value is here (F-631)" : "a large value ends early (F-632)")",
                    segment: segment.number, offset: offset)
            }
            do {
                let head = try ValuePayload(decoding: payload.bytes)
                let data = ValuePayload.piece(of: payload.bytes)
                guard head.sequence == sequence, head.totalLength == reference.length,
                    head.pieceOffset == UInt64(value.count)
                else {
                    throw StoreError.damaged(
                        "a piece of a large value is out of place (F-632)", segment: segment.number,
                        offset: offset)
                }
                if let owner,
                    owner
                        != Owner(tree: head.tree, number: head.number, property: head.property)
                {
                    throw StoreError.damaged(
                        "a large value belongs to another row (F-632)", segment: segment.number,
                        offset: offset)
                }
                value.append(contentsOf: data)
            } catch let error as FormatError {
                throw .damaged(
                    "\(error.what) (\(error.rule))", segment: segment.number, offset: offset)
            } catch let error as StoreError {
                throw error
            } catch {
                preconditionFailure("decoding throws format errors alone: \(error)")
            }
            sequence += 1
            offset += UInt64(header.frameLength)
        }
        guard value.withUnsafeBytes({ Checksum.crc32c($0) }) == reference.checksum else {
            throw .damaged(
                "a large value is damaged (F-634)", segment: segment.number,
                offset: UInt64(reference.place.byteOffset))
        }
        return value
    }
}
