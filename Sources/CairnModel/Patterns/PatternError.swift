// An error in a regular expression.

/// An error in a regular expression, and its location.
struct PatternError: Error, CustomStringConvertible {
    /// What is wrong, and what to write instead where something can be.
    let message: String
    /// Where in the pattern, in characters from 0; nil if it is about the whole.
    let offset: Int?

    /// The message with the place.
    var description: String {
        guard let offset else { return message }
        return "\(message) (at character \(offset + 1))"
    }
}
