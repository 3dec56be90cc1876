// Errors for bytes that violate the format.                                         Format 10
//
// Every error names the violated rule, and the offset in the decoded bytes: a caller that reads them from a
// file adds segment and offset. The text is constant, so that errors can be counted.

/// An error for bytes that violate the format, or for values that it cannot represent.
package struct FormatError: Error, Sendable, Equatable {
    /// The kind of a violation.
    package struct Code: Sendable, Hashable {
        fileprivate enum Name: String {
            case badMagic, badChecksum, truncated, malformed, tooLarge, unsupportedVersion
            case unsupportedFeature, mismatch
        }
        fileprivate let name: Name

        /// The bytes are not the expected structure.
        package static let badMagic = Code(name: .badMagic)
        /// A checksum does not match its bytes.
        package static let badChecksum = Code(name: .badChecksum)
        /// There are fewer bytes than the structure requires.
        package static let truncated = Code(name: .truncated)
        /// The bytes are complete, but no correct writer would have written them.
        package static let malformed = Code(name: .malformed)
        /// More bytes than the format allows.
        package static let tooLarge = Code(name: .tooLarge)
        /// Another version of the format or of a payload.
        package static let unsupportedVersion = Code(name: .unsupportedVersion)
        /// A feature that this reader does not know and must not ignore.
        package static let unsupportedFeature = Code(name: .unsupportedFeature)
        /// A frame that belongs elsewhere: another store, segment, place or chain.
        package static let mismatch = Code(name: .mismatch)
    }

    package let code: Code
    /// The problem, in words that never depend on the data.
    package let what: String
    /// The violated rule of Format/.
    package let rule: String
    /// The offset in the decoded bytes.
    package let offset: Int
    /// The value that the rule requires, if it is a number.
    package let expected: UInt64?
    /// The value found instead.
    package let found: UInt64?

    package init(
        _ code: Code, _ rule: String, _ what: String, at offset: Int = 0, expected: UInt64? = nil,
        found: UInt64? = nil
    ) {
        self.code = code
        self.what = what
        self.rule = rule
        self.offset = offset
        self.expected = expected
        self.found = found
    }

    /// Returns the same error, with an offset relative to the enclosing structure.
    package func moved(by distance: Int) -> FormatError {
        FormatError(
            code, rule, what, at: offset &+ distance, expected: expected, found: found)
    }
}

extension FormatError.Code: CustomStringConvertible {
    package var description: String { name.rawValue }
}

extension FormatError: CustomStringConvertible {
    package var description: String {
        var text = "\(code): \(what) (\(rule), byte \(offset)"
        if let expected { text += ", expected \(expected)" }
        if let found { text += ", found \(found)" }
        return text + ")"
    }
}
