// One key of a sort order.
//
// Threads: a value.

/// A sort key: the value at a key path, and how strings are compared.
///
/// ```swift
/// request.sortDescriptors = [
///     SortKey("shop.name", comparison: .localizedStandard), SortKey("price", ascending: false),
/// ]
/// ```
public struct SortKey: Sendable, Hashable, Codable {
    /// The key path: a stored property, the (dotted) leaf of a composite attribute, or one of these across to-one
    /// relationships. A key path that passes through nil is nil.
    public var key: String
    /// Whether small values come first. Nil is the smallest value, unless ``nulls`` is set.
    public var isAscending: Bool
    /// How strings are compared. Other types only support `.binary`.
    public var comparison: Comparison
    /// Where objects without a value come; nil: first if ascending, otherwise last, as in Core Data. A fetch index only has
    /// that order; with any other the objects are sorted.
    public var nulls: NullsPosition?

    /// Sorts by the value at a key path.
    ///
    /// ```swift
    /// SortKey("price", nulls: .last)      // cheapest first, those without a price at the end
    /// ```
    public init(
        _ key: String, ascending: Bool = true, comparison: Comparison = .binary,
        nulls: NullsPosition? = nil
    ) {
        self.key = key
        self.isAscending = ascending
        self.comparison = comparison
        self.nulls = nulls
    }

    /// Sorts by the value at a key path, using one of Core Data's selectors: see ``Comparison``.
    ///
    /// - Throws: `PredicateFormatError` naming a selector that stores do not support.
    public init(_ key: String, ascending: Bool, selector: String) throws(PredicateFormatError) {
        guard let comparison = Comparison(selector: selector) else {
            let known = Comparison.allCases.map(\.selector).joined(separator: ", ")
            throw PredicateFormatError(
                "a store cannot sort by the selector \(selector): it knows \(known)", key: key)
        }
        self.init(key, ascending: ascending, comparison: comparison)
    }

    /// Where objects without a value come.
    public enum NullsPosition: String, Sendable, Hashable, CaseIterable, Codable {
        /// Before all others.
        case first
        /// After all others.
        case last
    }

    /// Whether nil counts as greatest, and not as smallest.
    package var nilIsGreatest: Bool { nulls == (isAscending ? .last : .first) }

    /// The key in one word, or few, for people: `-price nulls first`.
    package var outline: String {
        "\(isAscending ? "" : "-")\(key)"
            + (nilIsGreatest ? " nulls \(isAscending ? "last" : "first")" : "")
    }

    /// How strings are compared. All orders are the same in every locale, in memory and in the store.
    public enum Comparison: String, Sendable, Hashable, CaseIterable, Codable {
        /// By their UTF-8 bytes, which is the order of their Unicode scalars: `compare:`.
        case binary
        /// By their bytes, ignoring case: `caseInsensitiveCompare:`.
        case caseInsensitive
        /// By letters first, ignoring case and diacritics, and by these if the letters are equal: `localizedCompare:`. This
        /// is the order of a predicate's option `[l]`.
        case localized
        /// By letters first, and by diacritics if these are equal, ignoring case: `localizedCaseInsensitiveCompare:`.
        case localizedCaseInsensitive
        /// Like ``localized``, but numbers in the strings are compared by value, as in lists of files:
        /// `localizedStandardCompare:`. A number is a sequence of the digits 0 to 9.
        case localizedStandard

        /// The comparison for one of Core Data's selectors; nil for any other selector.
        public init?(selector: String) {
            guard let known = Self.allCases.first(where: { $0.selector == selector }) else {
                return nil
            }
            self = known
        }

        /// Core Data's selector for it.
        public var selector: String {
            switch self {
            case .binary: "compare:"
            case .caseInsensitive: "caseInsensitiveCompare:"
            case .localized: "localizedCompare:"
            case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
            case .localizedStandard: "localizedStandardCompare:"
            }
        }
    }
}
