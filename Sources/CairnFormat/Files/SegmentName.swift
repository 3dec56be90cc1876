// The names of files in a store's folder.                                      Format 20, F-201

package enum SegmentName {
    /// The name of the lock file, whose first 64 bytes are the mark record.
    package static let lock = "lock"
    private static let suffix = ".segment"
    private static let digits = 10

    /// Returns the name of a segment's file: ten digits and ".segment".
    package static func name(of number: UInt32) -> String {
        let text = String(number)
        return String(repeating: "0", count: digits - text.utf8.count) + text + suffix
    }

    /// Returns the number in a file's name; nil if it is not the name of a segment.
    package static func number(in name: String) -> UInt32? {
        guard name.utf8.count == digits + suffix.utf8.count, name.hasSuffix(suffix) else {
            return nil
        }
        var number: UInt64 = 0
        for byte in name.utf8.prefix(digits) {
            guard byte >= 48, byte <= 57 else { return nil }
            number = number * 10 + UInt64(byte - 48)
        }
        guard number != 0 else { return nil }
        return UInt32(exactly: number)
    }
}
