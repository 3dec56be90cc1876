// The inner loops of comparisons: one for each operator and width, over plain memory, so that several rows
// are compared at the same time.
//
//   - Narrow integers are distances from a base: the constant becomes a distance, too, and a constant outside
//     the width decides for the whole block.
//   - With a dictionary each entry is tested once; if one of them matches, rows are compared with its code.
//
// The result is undefined for nil rows: the caller clears them afterwards.
//
// Threads: functions.

import CairnFormat

enum FilterKernels {
    /// Compares integers.
    static func compare(
        _ cells: DecodedColumn, _ order: Filter.Order, _ value: Int64, _ rows: Int,
        into out: UnsafeMutablePointer<UInt8>
    ) {
        let values = cells.values
        switch cells.width {
        case 8: compare(values.assumingMemoryBound(to: Int64.self), order, value, rows, into: out)
        case 1:
            narrow(values.assumingMemoryBound(to: UInt8.self), cells.base, order, value, rows, out)
        case 2:
            narrow(values.assumingMemoryBound(to: UInt16.self), cells.base, order, value, rows, out)
        case 4:
            narrow(values.assumingMemoryBound(to: UInt32.self), cells.base, order, value, rows, out)
        default:
            out.update(repeating: order.holds(cells.base, value) ? 1 : 0, count: rows)
        }
    }

    @inline(__always)
    private static func narrow<T: FixedWidthInteger & UnsignedInteger>(
        _ values: UnsafePointer<T>, _ base: Int64, _ order: Filter.Order, _ value: Int64,
        _ rows: Int, _ out: UnsafeMutablePointer<UInt8>
    ) {
        let (distance, isOverflow) = value.subtractingReportingOverflow(base)
        let isBelow = isOverflow ? value < base : distance < 0
        let isAbove = isOverflow ? value > base : distance > Int64(T.max)
        if isBelow || isAbove {
            // All cells are on one side of the constant.
            let holds =
                switch order {
                case .equal: false
                case .less, .lessOrEqual: isAbove
                case .greater, .greaterOrEqual: isBelow
                }
            return out.update(repeating: holds ? 1 : 0, count: rows)
        }
        compare(values, order, T(truncatingIfNeeded: distance), rows, into: out)
    }

    /// Compares numbers in their stored form.
    @inline(__always)
    static func compare<T: Comparable>(
        _ values: UnsafePointer<T>, _ order: Filter.Order, _ value: T, _ rows: Int,
        into out: UnsafeMutablePointer<UInt8>
    ) {
        switch order {
        case .equal: for row in 0..<rows { out[row] = values[row] == value ? 1 : 0 }
        case .less: for row in 0..<rows { out[row] = values[row] < value ? 1 : 0 }
        case .lessOrEqual: for row in 0..<rows { out[row] = values[row] <= value ? 1 : 0 }
        case .greater: for row in 0..<rows { out[row] = values[row] > value ? 1 : 0 }
        case .greaterOrEqual: for row in 0..<rows { out[row] = values[row] >= value ? 1 : 0 }
        }
    }

    /// Tests each entry of a dictionary, and sets each row to the result for its code.
    @inline(__always)
    static func select(
        _ cells: DecodedColumn, _ rows: Int, into out: UnsafeMutablePointer<UInt8>,
        _ holds: (UnsafeRawBufferPointer) -> Bool
    ) {
        guard let codes = cells.codes else {
            preconditionFailure("a column with a dictionary has codes")
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: cells.dictionaryCount) { matches in
            var count = 0
            var last = 0
            for entry in matches.indices {
                let isMatch = holds(cells.dictionaryEntry(entry))
                matches.initializeElement(at: entry, to: isMatch ? 1 : 0)
                if isMatch {
                    count += 1
                    last = entry
                }
            }
            switch count {
            case 0: out.update(repeating: 0, count: rows)
            case 1:
                let wanted = UInt16(truncatingIfNeeded: last)
                for row in 0..<rows { out[row] = codes[row] == wanted ? 1 : 0 }
            case matches.count: out.update(repeating: 1, count: rows)
            default: for row in 0..<rows { out[row] = matches[Int(codes[row])] }
            }
        }
    }
}
