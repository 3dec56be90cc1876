// The meaning of a column's cell in blocks that are older than the column, or than its rules.         Format 70.5
//
// Blocks are not written anew when the model changes: each names the version of the schema in which it was written, and is read
// as today's schema has it.
//
//   - A block from before the column came has no cells of it: its rows have the initial value.
//   - A block from before the column was required may have nil: that reads as what was the default then. Later changes of the
//     default mean nothing; and if the column was optional again in between, the nil of a block from then is one.
//
// How numbers are widened is seen from what the block says of its own columns.
//
// Threads: a value.

package import CairnFormat
import CairnModel

/// The replacement for a column that older blocks do not have.
package struct ColumnPast: Sendable, Hashable {
    /// The first version of the schema that has the column, if it has an initial value.
    package private(set) var since: UInt32 = 1
    /// The value of rows in blocks of earlier versions.
    package private(set) var initialValue = PastCell.null
    /// Since which versions nil is something else; by rising version.
    package private(set) var nilValues: [NilValue] = []

    /// From a version of the schema on there is no nil, and what was nil before has a value.
    package struct NilValue: Sendable, Hashable {
        package let since: UInt32
        package let value: PastCell
    }

    /// A column that was there from the beginning.
    package init() {}

    /// A column that comes with a version.
    package init(since version: UInt32, initialValue: PastCell) {
        // Without an initial value there is nothing to be read otherwise.
        if !initialValue.isNull { since = version }
        self.initialValue = initialValue
    }

    /// Whether every cell means what it says.
    package var isPlain: Bool { initialValue.isNull && nilValues.isEmpty }

    /// From a version on there is no nil any more.
    package mutating func require(since version: UInt32, _ value: PastCell) {
        nilValues.append(NilValue(since: version, value: value))
    }

    /// From here on all values are of another type.
    mutating func convert(_ conversion: ValueConversion) {
        initialValue = conversion.convert(initialValue)
        nilValues = nilValues.map {
            NilValue(since: $0.since, value: conversion.convert($0.value))
        }
    }

    /// What nil means in a block of a version.
    package func value(forNilIn version: UInt32) -> PastCell {
        nilValues.first { $0.since > version }?.value ?? .null
    }

    /// The value of rows in a block that has no cells of the column.
    package func value(forMissingIn version: UInt32) -> PastCell {
        // A block may leave out a column in which all is nil.
        version < since && !initialValue.isNull ? initialValue : value(forNilIn: version)
    }
}

extension ValueConversion {
    /// The cell that it becomes; none stays none.
    fileprivate func convert(_ cell: PastCell) -> PastCell {
        // Whole numbers and truth values are the same cells in columns of all their types.
        guard self == .floatToDouble, case .float(let bits) = cell else { return cell }
        return .double(Double(Float(bitPattern: bits)))
    }
}
