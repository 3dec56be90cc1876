// Checks whether bytes are UTF-8.                                              Format 50, F-553
//
// Rejects encoded surrogates, code points above U+10FFFF, and overlong forms. Checks ASCII 8 bytes at a time.

package enum UTF8Check {
    package static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index < bytes.count {
            if bytes.count &- index >= 8,
                raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080
                    == 0
            {
                index &+= 8
                continue
            }
            let lead = bytes[index]
            if lead < 0x80 {
                index &+= 1
                continue
            }
            guard let length = sequenceLength(bytes, index, lead) else { return false }
            index &+= length
        }
        return true
    }

    private static func sequenceLength(
        _ bytes: UnsafeBufferPointer<UInt8>, _ index: Int, _ lead: UInt8
    ) -> Int? {
        let length: Int
        var low: UInt8 = 0x80
        var high: UInt8 = 0xbf
        switch lead {
        case 0xc2...0xdf: length = 2
        case 0xe0: (length, low) = (3, 0xa0)
        case 0xed: (length, high) = (3, 0x9f)
        case 0xe1...0xef: length = 3
        case 0xf0: (length, low) = (4, 0x90)
        case 0xf4: (length, high) = (4, 0x8f)
        case 0xf1...0xf3: length = 4
        default: return nil
        }
        guard bytes.count &- index >= length, bytes[index &+ 1] >= low, bytes[index &+ 1] <= high
        else { return nil }
        for next in 2..<max(length, 2) where bytes[index &+ next] & 0xc0 != 0x80 { return nil }
        return length
    }
}
