// How a predicate is written as a format string.

/// A style of format strings.
package enum PredicateStyle {
    /// It parses back into the same tree.
    case exact
    /// As Core Data writes it, which programs compare texts with: truth values are numbers, whole numbers have no point, nil is
    /// `nil`, texts stand in double quotes, and dates have whole microseconds. What it parses back into is equal in every
    /// comparison, but for dates, which may differ by half of one.
    case coreData
}
