// Why a value cannot be saved, with Core Data's error codes.

/// How a value violates its model.
public struct ValidationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, with Core Data's numbers. More kinds may be added.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// Core Data's number.
        public let rawValue: Int

        /// The code with that number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// All failures that have no code of their own.
        public static let generic = Code(rawValue: 1550)
        /// A required property is nil.
        public static let missingMandatoryProperty = Code(rawValue: 1570)
        /// A number is above the maximum.
        public static let numberTooLarge = Code(rawValue: 1610)
        /// A number is below the minimum.
        public static let numberTooSmall = Code(rawValue: 1620)
        /// A date is too late.
        public static let dateTooLate = Code(rawValue: 1630)
        /// A date is too early.
        public static let dateTooSoon = Code(rawValue: 1640)
        /// A date or a decimal number is not a number.
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
    /// The invalid value.
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

    /// The message with key and code, without the value.
    public var description: String { "\(key): \(message) (\(code))" }

    /// The message with key, value and code.
    public var fullDescription: String { "\(key) = \(value): \(message) (\(code))" }
}
