// The byte bounds of a range of entries: those of its first entry, and those after its last one.
//
//   1. `append` the values of the leading elements.
//   2. `close` it: all entries with those values, or those whose next element is in an interval.
//   3. `ranks` in an index, which costs two descents of the tree. `reopen` returns to a number of bytes, for
//      another value or range after the same ones.
//
// Truncated keys are equal for values on both sides of a bound: then the range contains more than was
// requested, and the rows must be compared.
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

/// The values that the element after the equal ones may have.
enum IndexInterval {
    case between(IndexBound, IndexBound)
    /// Strings with this prefix, byte by byte.
    case beginning(String)
}

/// Memory for the two ends of a range, reused from range to range.
struct IndexRangeKeys: ~Copyable {
    private var low = IndexKey()
    private var high = IndexKey()
    /// Whether it begins after the last entry: nothing is above the bound.
    private var isBehind = false
    /// Whether it ends with the index.
    private var isOpen = false
    /// Whether all entries in it were requested; otherwise keys are truncated, and some at its ends may not
    /// match.
    private(set) var isExact = true

    /// The number of bytes of the appended values.
    var count: Int { low.count }

    // MARK: Making

    /// Returns to the first appended bytes, as before `close`.
    mutating func reopen(at count: Int = 0) { low.cut(to: count) }

    /// Appends the value of the next element; false if its column cannot have it.
    mutating func append(_ value: Value, _ part: Catalog.IndexPart) -> Bool {
        low.append(value, part)
    }

    /// Closes the range of all entries with the appended values.
    mutating func close() {
        high.copy(low)
        isBehind = false
        isOpen = !high.raise()
        isExact = !low.isCut
    }

    /// Closes the range of the entries with those values whose next element is in an interval; false if the
    /// column cannot have a bound's value.
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

    /// Appends a bound to a key of the preceding values. False if nothing is beyond it, nil if the column
    /// cannot have the value.
    private static func end(
        _ key: inout IndexKey, _ bound: IndexBound, _ part: Catalog.IndexPart, isLower: Bool,
        _ isExact: inout Bool
    ) -> Bool? {
        // Whether the end is before the entries of the value, and not after them.
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
            // Entries with the truncated bytes may be on either side.
            return isLower || key.raise()
        }
        return isBefore || key.raise()
    }

    // MARK: Asking

    /// Returns the ranks of the entries in the range.
    func ranks(in index: OrderedIndex) -> Range<Int> {
        let lower = isBehind ? index.count : index.rank(low.bytes)
        return lower..<max(lower, isOpen ? index.count : index.rank(high.bytes))
    }
}

extension Catalog.IndexPart.Kind {
    /// The value above all others, for which no comparison is true.
    fileprivate var notANumber: Value? {
        switch self {
        case .double: .double(.nan)
        case .float: .float(.nan)
        case .integer, .text, .decimal, .fixed16: nil
        }
    }
}
