// An error in a predicate, and its location in the format.

/// An error in a predicate: its format is invalid, or it does not fit an entity.
///
/// The name distinguishes it from Foundation's `PredicateError`.
public struct PredicateFormatError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    public let message: String
    /// The same sentence with `$value` instead of each of the predicate's values, so that it can be logged.
    public let plainMessage: String
    /// The offset in the format, in characters from 0; nil if the predicate was not parsed from a format.
    public let offset: Int?
    /// The format; nil if the predicate was not parsed from one.
    public let format: String?
    /// The key that does not fit, if the error is about one.
    public let key: String?

    /// An error at an offset of a format, or about a key.
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

    /// The message with the offset, on one line.
    public var description: String {
        guard let offset else { return message }
        return "character \(offset + 1): \(message)"
    }

    /// The message, followed by the format with a marker under the offset.
    public var explanation: String {
        guard let offset, let format, !format.contains(where: \.isNewline) else {
            return description
        }
        return "\(message)\n  \(format)\n  \(String(repeating: " ", count: offset))^"
    }
}
