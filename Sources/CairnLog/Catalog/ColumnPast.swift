// The meaning of a column's cell in blocks that are older than the column, or than its rules.     Format 70.5
//
// Blocks are not rewritten when the model changes: each names the version of the schema in which it was
// written, and is read with the current schema.
//
//   - A block from before the column was added has no cells of it: its rows have the initial value.
//   - A block from before the column was required may have nil, which is read as the default of that time.
//     Later changes of the default have no effect; and if the column was optional again in between, a nil in
//     a block from that time stays nil.
//
// How numbers are widened follows from the column entries in the block.
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
    /// The versions from which on nil has another meaning, ascending.
    package private(set) var nilValues: [NilValue] = []

    /// From a version of the schema on there is no nil, and earlier nils are read as a value.
    package struct NilValue: Sendable, Hashable {
        package let since: UInt32
        package let value: PastCell
    }

    /// Creates the past of a column that existed from the beginning.
    package init() {}

    /// Creates the past of a column that was added in a version.
    package init(since version: UInt32, initialValue: PastCell) {
        // Without an initial value, there is nothing to replace.
        if !initialValue.isNull { since = version }
        self.initialValue = initialValue
    }

    /// Whether every cell is read as it is.
    package var isPlain: Bool { initialValue.isNull && nilValues.isEmpty }

    /// Records that there are no nils from a version on.
    package mutating func require(since version: UInt32, _ value: PastCell) {
        nilValues.append(NilValue(since: version, value: value))
    }

    /// Converts all values to another type.
    mutating func convert(_ conversion: ValueConversion) {
        initialValue = conversion.convert(initialValue)
        nilValues = nilValues.map {
            NilValue(since: $0.since, value: conversion.convert($0.value))
        }
    }

    /// Returns the meaning of nil in a block of a version.
    package func value(forNilIn version: UInt32) -> PastCell {
        nilValues.first { $0.since > version }?.value ?? .null
    }

    /// Returns the value of rows in a block that has no cells of the column.
    package func value(forMissingIn version: UInt32) -> PastCell {
        // A block may omit a column in which all cells are nil.
        version < since && !initialValue.isNull ? initialValue : value(forNilIn: version)
    }
}

extension ValueConversion {
    /// The converted cell; nil stays nil.
    fileprivate func convert(_ cell: PastCell) -> PastCell {
        // Integers and booleans have the same cells in columns of all their types.
        guard self == .floatToDouble, case .float(let bits) = cell else { return cell }
        return .double(Double(Float(bitPattern: bits)))
    }
}
