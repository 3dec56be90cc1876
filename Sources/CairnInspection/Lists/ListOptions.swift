// The user's options for the syntax of a list, where the list does not define it itself.

/// The syntax of a list.
package struct ListOptions: Sendable {
    /// The character encoding; nil: UTF-8, or UTF-16 if the list begins with its mark.
    package var encoding: ListEncoding?
    /// The delimiter of CSV cells; nil: a comma, or a tab in a file whose name ends in `.tsv`.
    package var delimiter: UInt8?
    /// The strings that mean nil, as values in CSV and JSON.
    package var nulls: [[UInt8]] = []

    /// Creates the defaults: the list defines its syntax.
    package init() {}

    /// Returns the byte of a delimiter, written as itself or by its name; nil if it is not a valid delimiter.
    package static func delimiter(named name: String) -> UInt8? {
        if let known = names[name.lowercased()] { return known }
        let bytes = Array(name.utf8)
        // Quotes and line ends have special meanings.
        guard bytes.count == 1, bytes[0] >= 0x20, bytes[0] < 0x7F, bytes[0] != UInt8(ascii: "\"")
        else { return name == "\t" ? 0x09 : nil }
        return bytes[0]
    }

    /// Returns the name of a delimiter, as users write it on a command line.
    package static func name(ofDelimiter byte: UInt8) -> String {
        names.first { $0.value == byte && $0.key.count > 2 }?.key
            ?? String(Character(Unicode.Scalar(byte)))
    }

    private static let names: [String: UInt8] = [
        "tab": 0x09, "\\t": 0x09, "comma": UInt8(ascii: ","), "semicolon": UInt8(ascii: ";"),
        "pipe": UInt8(ascii: "|"), "space": 0x20,
    ]
}
