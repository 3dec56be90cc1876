// The supported encodings of a list.
//
//   utf-8          the default, with or without a byte order mark
//   utf-16         in the byte order of its mark; without a mark in the byte order in which the first
//                  character is ASCII, otherwise big-endian; utf-16le and utf-16be specify the order
//   latin1         ISO 8859-1: every byte is the character of its number
//   windows-1252   the same with other characters from 80 to 9F, five of which are undefined
//
// A list that begins with the mark of UTF-16 is read as UTF-16 by default.

/// The character encoding of a list.
package enum ListEncoding: String, Sendable, CaseIterable {
    case utf8 = "utf-8"
    case utf16 = "utf-16"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    case latin1
    case windows1252 = "windows-1252"

    /// Returns the encoding with a name, in any case; nil if there is none.
    package init?(name: String) {
        let name = name.lowercased()
        if let encoding = ListEncoding(rawValue: name) {
            self = encoding
        } else if let encoding = Self.otherNames[name] {
            self = encoding
        } else {
            return nil
        }
    }

    private static let otherNames: [String: ListEncoding] = [
        "utf8": .utf8, "utf16": .utf16, "utf16le": .utf16LittleEndian, "utf16be": .utf16BigEndian,
        "latin-1": .latin1, "iso-8859-1": .latin1, "iso8859-1": .latin1, "cp1252": .windows1252,
        "windows1252": .windows1252,
    ]

    /// Returns the encoding of a list with these first bytes: the requested one, with a definite byte order;
    /// without a request UTF-16 if its mark is there.
    init(asked: ListEncoding?, start: [UInt8]) {
        let second = start.count > 1 ? start[1] : 0xFF
        switch (start.first, second) {
        case (0xFF, 0xFE) where asked == nil || asked == .utf16: self = .utf16LittleEndian
        case (0xFE, 0xFF) where asked == nil || asked == .utf16: self = .utf16BigEndian
        case (_, 0) where asked == .utf16: self = .utf16LittleEndian
        default: self = asked == .utf16 ? .utf16BigEndian : asked ?? .utf8
        }
    }

    /// By byte from 80 to 9F: the characters of Windows 1252; nil if undefined.
    static let windowsCharacters: [UInt16?] = [
        0x20AC, nil, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, nil, 0x017D, nil,
        nil, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, nil, 0x017E, 0x0178,
    ]
}
