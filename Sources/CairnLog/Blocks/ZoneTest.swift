// What a condition asks of the least and the greatest value of a block's column.
//
// Values are words whose order is theirs: of numbers all of them, of bytes the first eight, so that what is between two words
// may still not match, and what is not surely does not.
//
// Threads: a value.

import CairnStore

/// A question to a zone.
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

    // MARK: Words

    static func word(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }

    /// What is no number is above everything; both zeros are one.
    static func word(_ value: Double) -> UInt64 {
        if value.isNaN { return .max }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// The first 8 bytes; what is missing counts as zeros.
    static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        var word: UInt64 = 0
        for (place, byte) in bytes.enumerated() { word |= UInt64(byte) << UInt64(56 - 8 * place) }
        return word
    }
}
