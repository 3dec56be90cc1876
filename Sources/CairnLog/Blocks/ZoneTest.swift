// The condition on the minimum and maximum of a block's column.
//
// Values are compared as words with the same order (`OrderedWord`): for bytes, the first eight, so that a
// value between two words may still not match, but one outside certainly does not.
//
// Threads: a value.

import CairnStore

/// A test of a zone.
struct ZoneTest: Sendable {
    /// The column's index in the entity.
    let column: Int
    /// The range of words that a match can have.
    private(set) var low = UInt64.min
    private(set) var high = UInt64.max
    /// Whether a match is nil.
    private(set) var isNil = false

    /// Whether a block with the zone can contain a match.
    func canHold(in zone: BlockZone) -> Bool {
        isNil ? zone.hasNil : zone.hasValue && zone.high >= low && zone.low <= high
    }
}
