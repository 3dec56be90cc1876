// What a person says about how a list is written, where it does not say so itself.

/// How a list is written.
package struct ListOptions: Sendable {
    /// How its characters are written; nil: UTF-8, or UTF-16 if it begins with its mark.
    package var encoding: ListEncoding?
    /// What stands between the cells of CSV; nil: a comma, in a file whose name ends in `.tsv` a tab.
    package var delimiter: UInt8?
    /// The texts that mean nil, as values of CSV and JSON alike.
    package var nulls: [[UInt8]] = []

    /// What a list says itself.
    package init() {}

    /// The byte of a delimiter that is given as itself or by its name; nil if it can be none.
    package static func delimiter(named name: String) -> UInt8? {
        if let known = names[name.lowercased()] { return known }
        let bytes = Array(name.utf8)
        // Quotes and line ends have a meaning of their own.
        guard bytes.count == 1, bytes[0] >= 0x20, bytes[0] < 0x7F, bytes[0] != UInt8(ascii: "\"")
        else { return name == "\t" ? 0x09 : nil }
        return bytes[0]
    }

    /// The name of a delimiter, as a person writes it on a command line.
    package static func name(ofDelimiter byte: UInt8) -> String {
        names.first { $0.value == byte && $0.key.count > 2 }?.key
            ?? String(Character(Unicode.Scalar(byte)))
    }

    private static let names: [String: UInt8] = [
        "tab": 0x09, "\\t": 0x09, "comma": UInt8(ascii: ","), "semicolon": UInt8(ascii: ";"),
        "pipe": UInt8(ascii: "|"), "space": 0x20,
    ]
}
