// The position of a number of one type among the numbers of another.
//
// A column of integers is compared with `< 2.5`: among the integers there is a first that is not below 2.5
// and a last that is not above it, and every comparison with 2.5 equals one with one of these. Both are found
// by binary search with the order that the evaluator uses, so the semantics are the same. For that, doubles
// and floats are numbered in their order, infinities at the ends; NaN is not among them.

import CairnModel
import FoundationEssentials

/// The first number not below a value, and the last one not above it; nil if there is none.
struct NumberBounds<T> {
    let first: T?
    let last: T?

    /// Searches by the order of a number and the value, which must rise with the number.
    init(_ low: UInt64, _ high: UInt64, _ number: (UInt64) -> T, _ order: (T) -> Int) {
        /// The first place from which on the condition holds; one more than `high` may not exist, so nil.
        func firstPlace(_ holds: (Int) -> Bool) -> UInt64? {
            guard holds(order(number(high))) else { return nil }
            var (below, found) = (low, high)
            while below < found {
                let middle = below + (found - below) / 2
                if holds(order(number(middle))) { found = middle } else { below = middle + 1 }
            }
            return found
        }
        first = firstPlace { $0 >= 0 }.map(number)
        guard let above = firstPlace({ $0 > 0 }) else {
            last = number(high)
            return
        }
        last = above == low ? nil : number(above - 1)
    }
}

extension NumberBounds where T == Int64 {
    /// The bounds of a value among the integers; nil if it has no order among them.
    init?(integers value: Value) {
        let comparison = ValueComparison(operator: .equal)
        guard comparison.order(.integer(0), value) != nil else { return nil }
        self.init(0, .max, OrderedWord.integer) { comparison.order(.integer($0), value) ?? 0 }
    }
}

extension NumberBounds where T == Double {
    /// The bounds of a value among the doubles; nil if it has no order among them.
    init?(doubles value: Value) {
        let comparison = ValueComparison(operator: .equal)
        guard comparison.order(.double(0), value) != nil else { return nil }
        self.init(
            OrderedWord.of(-Double.infinity), OrderedWord.of(Double.infinity), OrderedWord.double
        ) { comparison.order(.double($0), value) ?? 0 }
    }
}

extension NumberBounds where T == Float {
    /// The bounds of a value among the floats; nil if it has no order among them.
    init?(floats value: Value) {
        let comparison = ValueComparison(operator: .equal)
        guard comparison.order(.float(0), value) != nil else { return nil }
        self.init(
            UInt64(OrderedWord.of(-Float.infinity)), UInt64(OrderedWord.of(Float.infinity)),
            { OrderedWord.float(UInt32(truncatingIfNeeded: $0)) }
        ) { comparison.order(.float($0), value) ?? 0 }
    }
}
