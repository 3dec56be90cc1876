// A value that waits in a side segment for a save.                                      Format 60.5
//
// Threads: any.

import CairnFormat
import CairnStore

/// The frames of a value, and whose they are.
final class StagedPart: StagedBytes {
    let engine: Engine
    let segment: Segment
    /// Where its frames are, with the chain values.
    let start: LogEnd
    let end: LogEnd
    let reference: ValueReference
    /// Whose it was said to be when it was written.
    let owner: LargeValueReader.Owner

    init(
        _ engine: Engine, _ segment: Segment, start: LogEnd, end: LogEnd,
        reference: ValueReference, owner: LargeValueReader.Owner
    ) {
        self.engine = engine
        self.segment = segment
        self.start = start
        self.end = end
        self.reference = reference
        self.owner = owner
    }

    func reading() -> any ValueReading {
        ValueFrames(
            nil,
            ValuePieces(reference, in: segment, storeTag: engine.storeID.tag, owner: owner))
    }

    func release() {
        if engine.staging.release(segment.number, start) { engine.scheduleStagingTrim() }
    }
}
