// The byte bounds of a range of entries: those of its first entry, and those after its last one.
//
//   1. `append` the values that the first elements have.
//   2. `close` it: all entries with those values, or those whose next element lies in an interval.
//   3. `ranks` in an index, which costs two ways down the tree. `reopen` goes back to a number of bytes, for another value or
//      range behind the same ones.
//
// Keys that are cut are the same for values on both sides of a bound: then the range has more than was asked for, and the
// rows must be compared.
//
// Threads: owned by one fetch.

import CairnModel
import CairnStore

/// One end of a range of values.
enum IndexBound {
    /// Unbounded: up to the last value for which comparisons can be true. Nil and NaN are excluded.
    case open
    case including(Value)
    case excluding(Value)
}

/// Which values the element behind the equal ones may have.
enum IndexInterval {
    case between(IndexBound, IndexBound)
    /// Strings with this prefix, byte by byte.
    case beginning(String)
}

/// Room for the two ends of a range, reused from range to range.
struct IndexRangeKeys: ~Copyable {
    private var low = IndexKey()
    private var high = IndexKey()
    /// Whether it begins behind the last entry: nothing lies above the bound.
    private var isBehind = false
    /// Whether it ends with the index.
    private var isOpen = false
    /// Whether all entries in it are what was asked for; else keys are cut, and some at its ends may not be.
    private(set) var isExact = true

    /// How many bytes the values have that were appended.
    var count: Int { low.count }

    // MARK: Making

    /// Goes back to the first bytes of what was appended, before it was closed.
    mutating func reopen(at count: Int = 0) { low.cut(to: count) }

    /// Adds the value that the next element has; false if its column has no such value.
    mutating func append(_ value: Value, _ part: Catalog.IndexPart) -> Bool {
        low.append(value, part)
    }

    /// All entries with the values that were appended.
    mutating func close() {
        high.copy(low)
        isBehind = false
        isOpen = !high.raise()
        isExact = !low.isCut
    }

    /// The entries with those values whose next element lies in an interval; false if a bound is no value of its column.
    mutating func close(_ interval: IndexInterval, _ part: Catalog.IndexPart) -> Bool {
        if low.isCut {
            close()
            return true
        }
        switch interval {
        case .beginning(let text):
            guard low.append(prefix: text, part) else { return false }
            close()
            return true
        case .between(let first, let last):
            high.copy(low)
            isExact = true
            let (lower, upper) = part.isAscending ? (first, last) : (last, first)
            guard let isUnderBound = Self.end(&low, lower, part, isLower: true, &isExact),
                let isUnderEnd = Self.end(&high, upper, part, isLower: false, &isExact)
            else { return false }
            isBehind = !isUnderBound
            isOpen = !isUnderEnd
            return true
        }
    }

    /// Adds a bound to a key of the values before it. False if nothing lies beyond, nil if the value is none of the column.
    private static func end(
        _ key: inout IndexKey, _ bound: IndexBound, _ part: Catalog.IndexPart, isLower: Bool,
        _ isExact: inout Bool
    ) -> Bool? {
        // Whether the end lies before the entries of the value, and not behind them.
        let isBefore: Bool
        let isValue: Bool
        switch bound {
        case .open:
            // The end where nil is, or where NaN is.
            isBefore = !isLower
            if isLower == part.isAscending {
                isValue = key.append(.null, part)
            } else if let nan = part.kind.notANumber {
                isValue = key.append(nan, part)
            } else {
                return isLower || key.raise()
            }
        case .including(let value):
            isBefore = isLower
            isValue = key.append(value, part)
        case .excluding(let value):
            isBefore = !isLower
            isValue = key.append(value, part)
        }
        guard isValue else { return nil }
        if key.isCut {
            isExact = false
            // What shares the cut bytes may be on either side.
            return isLower || key.raise()
        }
        return isBefore || key.raise()
    }

    // MARK: Asking

    /// The ranks of the entries in it.
    func ranks(in index: OrderedIndex) -> Range<Int> {
        let lower = isBehind ? index.count : index.rank(low.bytes)
        return lower..<max(lower, isOpen ? index.count : index.rank(high.bytes))
    }
}

extension Catalog.IndexPart.Kind {
    /// The value that lies above all others and that no comparison is true of.
    fileprivate var notANumber: Value? {
        switch self {
        case .double: .double(.nan)
        case .float: .float(.nan)
        case .integer, .text, .decimal, .fixed16: nil
        }
    }
}
