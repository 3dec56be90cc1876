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

    /// The tests that every match of a condition meets.
    static func tests(of filter: Filter) -> [ZoneTest] {
        switch filter {
        case .isNull(let column): [ZoneTest(column: column, isNil: true)]
        case .not(.isNull(let column)): [ZoneTest(column: column)]
        case .integer(let column, let order, let value):
            test(column, order, word(value), isExact: true)
        case .double(let column, let order, let value):
            value.isNaN ? [] : test(column, order, word(value), isExact: true)
        case .float(let column, let order, let value):
            value.isNaN ? [] : test(column, order, word(Double(value)), isExact: true)
        case .bytes(let column, let order, let value):
            test(column, order, value.withUnsafeBytes { word($0) }, isExact: false)
        case .and(let filters): filters.flatMap { tests(of: $0) }
        case .or(let filters): hull(filters)
        default: []
        }
    }

    private static func test(
        _ column: Int, _ order: Filter.Order, _ word: UInt64, isExact: Bool
    ) -> [ZoneTest] {
        switch order {
        case .equal: return [ZoneTest(column: column, low: word, high: word)]
        case .lessOrEqual: return [ZoneTest(column: column, high: word)]
        case .greaterOrEqual: return [ZoneTest(column: column, low: word)]
        case .less:
            if isExact, word == .min { return [] }
            return [ZoneTest(column: column, high: isExact ? word - 1 : word)]
        case .greater:
            if isExact, word == .max { return [] }
            return [ZoneTest(column: column, low: isExact ? word + 1 : word)]
        }
    }

    /// What any of some conditions leaves, if each asks one and the same column.
    private static func hull(_ filters: [Filter]) -> [ZoneTest] {
        var hull: ZoneTest?
        for filter in filters {
            let tests = tests(of: filter)
            guard tests.count == 1, !tests[0].isNil else { return [] }
            guard let known = hull else {
                hull = tests[0]
                continue
            }
            guard known.column == tests[0].column else { return [] }
            hull?.low = min(known.low, tests[0].low)
            hull?.high = max(known.high, tests[0].high)
        }
        return hull.map { [$0] } ?? []
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
