// A value in a side segment that waits for a save.                                      Format 60.5
//
// Threads: any.

import CairnFormat
import CairnStore

/// The frames of a value, and their owner.
final class StagedPart: StagedBytes {
    let storeID: StoreID
    let staging: StagingArea
    let segment: Segment
    /// The range of its frames, with the chain values.
    let start: LogEnd
    let end: LogEnd
    let reference: ValueReference
    /// The owner that was specified when it was written.
    let owner: LargeValueReader.Owner

    init(
        of storeID: StoreID, in staging: StagingArea, _ segment: Segment, start: LogEnd,
        end: LogEnd,
        reference: ValueReference, owner: LargeValueReader.Owner
    ) {
        self.storeID = storeID
        self.staging = staging
        self.segment = segment
        self.start = start
        self.end = end
        self.reference = reference
        self.owner = owner
    }

    func reading() -> any ValueReading {
        ValueFrames(
            ValuePieces(reference, in: segment, storeTag: storeID.tag, owner: owner))
    }

    func release() {
        staging.release(segment.number, start)
    }
}
