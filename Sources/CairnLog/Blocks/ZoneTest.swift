// The condition on the minimum and maximum of a block's column.
//
// Values are words whose order is theirs (`OrderedWord`): of bytes the first eight, so that what is between two words may
// still not match, and what is not surely does not.
//
// Threads: a value.

import CairnStore

/// A test of a zone.
struct ZoneTest: Sendable {
    /// By index of the entity.
    let column: Int
    /// The words that a match can have.
    private(set) var low = UInt64.min
    private(set) var high = UInt64.max
    /// Whether a match has nil.
    private(set) var isNil = false

    /// Whether a block with the zone can hold a match.
    func canHold(in zone: BlockZone) -> Bool {
        isNil ? zone.hasNil : zone.hasValue && zone.high >= low && zone.low <= high
    }
}
