// Bytes as lines of sixteen, as the worked example shows them.

enum HexDump {
    /// - Parameter start: the offset of the first byte, a multiple of 8. Lines of zeros are left out, except
    ///   the last.
    static func lines(_ bytes: ArraySlice<UInt8>) -> [String] {
        var lines: [String] = []
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = min((start / 16 + 1) * 16, bytes.endIndex)
            let line = bytes[start..<end]
            if end == bytes.endIndex || line.contains(where: { $0 != 0 }) {
                let hex = line.map { byte in hexadecimal(Int(byte), digits: 2) }
                let text = line.map { $0 >= 0x20 && $0 < 0x7f ? String(UnicodeScalar($0)) : "." }
                let padding = String(repeating: "   ", count: 16 - line.count)
                lines.append(
                    hexadecimal(start, digits: 6) + "  " + hex.joined(separator: " ") + padding
                        + "  "
                        + text.joined())
            }
            start = end
        }
        return lines
    }

    private static func hexadecimal(_ value: Int, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
