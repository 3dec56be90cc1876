// Why a value may not be saved, with Core Data's numbers.

/// What a value does that its model forbids.
public struct ValidationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, numbered as Core Data does. More kinds may come.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// Core Data's number.
        public let rawValue: Int

        /// The code of that number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Whatever has no number of its own.
        public static let generic = Code(rawValue: 1550)
        /// A mandatory property is nil.
        public static let missingMandatoryProperty = Code(rawValue: 1570)
        /// A number is above the greatest value.
        public static let numberTooLarge = Code(rawValue: 1610)
        /// A number is below the least value.
        public static let numberTooSmall = Code(rawValue: 1620)
        /// A date is after the latest one.
        public static let dateTooLate = Code(rawValue: 1630)
        /// A date is before the earliest one.
        public static let dateTooSoon = Code(rawValue: 1640)
        /// A date is no moment at all, or a decimal number no number.
        public static let invalidDate = Code(rawValue: 1650)
        /// A string has too many characters.
        public static let stringTooLong = Code(rawValue: 1660)
        /// A string has too few characters.
        public static let stringTooShort = Code(rawValue: 1670)
        /// A string does not match its pattern.
        public static let stringPatternMismatch = Code(rawValue: 1680)

        /// The number as text.
        public var description: String { "\(rawValue)" }
    }
    /// The kind of failure.
    public let code: Code
    /// The property; dotted for an element of a composite attribute.
    public let key: String
    /// The value that was refused.
    public let value: Value
    /// What is wrong, as a sentence without the value.
    public let message: String

    /// A failure of one property.
    public init(_ code: Code, key: String, value: Value, _ message: String) {
        self.code = code
        self.key = key
        self.value = value
        self.message = message
    }

    /// The message with key and number, without the value.
    public var description: String { "\(key): \(message) (\(code))" }

    /// The message with key, value and number.
    public var fullDescription: String { "\(key) = \(value): \(message) (\(code))" }
}
