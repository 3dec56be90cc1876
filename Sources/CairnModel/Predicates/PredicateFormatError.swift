// What is wrong with a predicate, and where in its text.

/// An error in a predicate: in its text, or in how it fits an entity.
///
/// Foundation has a `PredicateError` already: the name says that this one is about the format.
public struct PredicateFormatError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    public let message: String
    /// The same sentence without the values that the predicate has, `$value` in the place of each: what may be logged.
    public let plainMessage: String
    /// Where in the format, in characters from 0; nil if the predicate was not read from a text.
    public let offset: Int?
    /// The format; nil if the predicate was not read from a text.
    public let format: String?
    /// The key that does not fit, if it is about one.
    public let key: String?

    /// An error at a place of a format, or about a key.
    public init(
        _ message: String, offset: Int? = nil, format: String? = nil, key: String? = nil
    ) {
        self.message = message
        plainMessage = message
        self.offset = offset
        self.format = format
        self.key = key
    }

    /// An error whose sentence quotes parts of the predicate.
    init(key: String?, quoting sentence: (Quote) -> String) {
        message = sentence(Quote(showsValues: true))
        plainMessage = sentence(Quote(showsValues: false))
        offset = nil
        format = nil
        self.key = key
    }

    /// How a sentence quotes what it is about.
    struct Quote {
        let showsValues: Bool

        func callAsFunction(_ node: ExpressionNode) -> String {
            "\(showsValues ? node : node.withoutValues)"
        }
        func callAsFunction(_ value: Value) -> String { showsValues ? "\(value)" : "$value" }
        func callAsFunction(_ text: String) -> String { showsValues ? "'\(text)'" : "$value" }
    }

    /// An error at a place that is counted in Unicode scalars.
    init(_ message: String, scalarOffset: Int, format: String) {
        let before = String(String.UnicodeScalarView(format.unicodeScalars.prefix(scalarOffset)))
        self.init(message, offset: before.count, format: format)
    }

    /// The message with the place, on one line.
    public var description: String {
        guard let offset else { return message }
        return "character \(offset + 1): \(message)"
    }

    /// The message, and under it the format with a mark under the place.
    public var explanation: String {
        guard let offset, let format, !format.contains(where: \.isNewline) else {
            return description
        }
        return "\(message)\n  \(format)\n  \(String(repeating: " ", count: offset))^"
    }
}
