// Reads values that have their own frames.                                           Format 40
//
// A cell holds the place of the first frame, the length of the value and its checksum. The frames follow one
// another in the same segment.
// Threads: any.

import CairnFormat
import CairnStore
import Synchronization

/// Finds the frames of large values, also in segments that were created after the block was read.
final class LargeValueReader: Sendable {
    private struct Lent: Sendable {
        weak let segment: Segment?
    }

    private let segments: Mutex<[UInt32: Segment]>
    /// Segments that only past states use, which close them when they end.
    private let lent = Mutex<[UInt32: [Lent]]>([:])
    private let storeTag: UInt32

    init(storeTag: UInt32) {
        self.storeTag = storeTag
        segments = Mutex([:])
    }

    func add(_ segment: Segment) {
        segments.withLock { $0[segment.number] = segment }
    }

    /// Finds values in segments as long as other objects retain them.
    ///
    /// - Complexity: O(segments that are lent).
    func lend(_ segments: [Segment]) {
        lent.withLock { lent in
            lent = lent.compactMapValues { known in
                let rest = known.filter { $0.segment != nil }
                return rest.isEmpty ? nil : rest
            }
            for segment in segments
            where lent[segment.number]?.contains(where: { $0.segment === segment }) != true {
                lent[segment.number, default: []].append(Lent(segment: segment))
            }
        }
    }

    /// The number of lent segments, including released ones that have not been removed yet.
    var lentSegments: Int { lent.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    private func segment(_ number: UInt32) -> Segment? {
        segments.withLock { $0[number] }
            ?? lent.withLock { lent in
                lent[number]?.lazy.compactMap(\.segment).first
            }
    }

    /// Forgets a segment that no state refers to.
    func remove(_ number: UInt32) {
        segments.withLock { $0[number] = nil }
    }

    /// The owner of a value.
    struct Owner: Equatable {
        let tree: UInt32
        let number: UInt32
        let property: UInt32
    }

    /// Reads the value that a cell's reference names.
    ///
    /// - Parameter owner: the owner that it must have; nil: its checksum suffices.
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
        guard let segment = segment(reference.place.segment) else {
            throw .damaged(
                "a value's segment is missing (F-631)", segment: reference.place.segment)
        }
        var pieces = ValuePieces(reference, in: segment, storeTag: storeTag, owner: owner)
        var value: [UInt8] = []
        while let payload = try pieces.next() {
            value.append(contentsOf: ValuePayload.piece(of: payload.bytes))
        }
        return value
    }
}
