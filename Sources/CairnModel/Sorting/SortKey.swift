// One key of a sort order.
//
// Threads: a value.

/// What objects are sorted by: the value at a key path, and how texts are compared.
///
/// ```swift
/// request.sortDescriptors = [
///     SortKey("shop.name", comparison: .localizedStandard), SortKey("price", ascending: false),
/// ]
/// ```
public struct SortKey: Sendable, Hashable, Codable {
    /// The key path: a stored property, the (dotted) leaf of a composite attribute, or one of these across to-one
    /// relationships. Nil on the way gives nil.
    public var key: String
    /// Whether small values come first; nil counts as smallest, unless ``nulls`` says otherwise.
    public var isAscending: Bool
    /// How texts are compared. For all but texts only `.binary` is possible.
    public var comparison: Comparison
    /// Where objects without a value come; nil: first if ascending, and last if not, as in Core Data. A fetch index has that
    /// order only: with the other one the objects are sorted.
    public var nulls: NullsPosition?

    /// Sorts by the value at a key path.
    ///
    /// ```swift
    /// SortKey("price", nulls: .last)      // cheap ones first, and those without a price at the end
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

    /// Sorts by the value at a key path, in the way of one of Core Data's selectors: see ``Comparison``.
    ///
    /// - Throws: `PredicateFormatError` naming a selector that a store does not know.
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

    /// How texts are compared. All orders are the same in every locale, in memory and in the store.
    public enum Comparison: String, Sendable, Hashable, CaseIterable, Codable {
        /// By their UTF-8 bytes, which is the order of their scalars: `compare:`.
        case binary
        /// By their bytes without regard to case: `caseInsensitiveCompare:`.
        case caseInsensitive
        /// By letters first, without regard to case and accents, and by these where the letters are equal:
        /// `localizedCompare:`. It is the order of the option `[l]` of a predicate.
        case localized
        /// By letters first, and by accents where these are equal, without regard to case:
        /// `localizedCaseInsensitiveCompare:`.
        case localizedCaseInsensitive
        /// As ``localized``, but numbers in the texts are compared by size, as people list files:
        /// `localizedStandardCompare:`. A number is a run of the digits 0 to 9.
        case localizedStandard

        /// The comparison that a selector of Core Data names; nil for any other selector.
        public init?(selector: String) {
            guard let known = Self.allCases.first(where: { $0.selector == selector }) else {
                return nil
            }
            self = known
        }

        /// The selector that Core Data has for it.
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
