// The kinds of error that only validation finds.

public import CairnStore

extension StoreError.Code {
    /// A number is greater than the model allows.
    public static let numberTooLarge = StoreError.Code(rawValue: 1610)
    /// A number is less than the model allows.
    public static let numberTooSmall = StoreError.Code(rawValue: 1620)
    /// A date is later than the model allows.
    public static let dateTooLate = StoreError.Code(rawValue: 1630)
    /// A date is earlier than the model allows.
    public static let dateTooEarly = StoreError.Code(rawValue: 1640)
    /// A date is no moment at all, or a decimal number no number.
    public static let invalidDate = StoreError.Code(rawValue: 1650)
    /// A string has more characters than the model allows.
    public static let stringTooLong = StoreError.Code(rawValue: 1660)
    /// A string has fewer characters than the model allows.
    public static let stringTooShort = StoreError.Code(rawValue: 1670)
    /// A string does not match the model's pattern.
    public static let stringPattern = StoreError.Code(rawValue: 1680)
    /// A value that should be a URI is none.
    public static let invalidURI = StoreError.Code(rawValue: 1690)
}

extension StoreError {
    /// One error for all of them; nil if there is none.
    static func combining(_ errors: [StoreError]) -> StoreError? {
        let single = errors.flatMap { $0.code == .multiple ? $0.details : [$0] }
        if single.count < 2 { return single.first }
        return StoreError(.multiple, "\(single.count) properties are invalid", details: single)
    }
}
