// Keys from values, values from the bytes of keys, and the ends of a key's parts.
//
// Decimals are not decoded from keys: queries read them from rows.

import CairnModel
import CairnStore
import FoundationEssentials

extension IndexKey {
    /// Returns the number of bytes of some leading parts of a key; nil if it is truncated before they end.
    static func length(of parts: ArraySlice<Catalog.IndexPart>, in key: UnsafeRawBufferPointer)
        -> Int?
    {
        var end = 0
        for part in parts {
            guard let length = length(of: part, in: key, from: end) else { return nil }
            end &+= length
        }
        return end
    }

    private static func length(
        of part: Catalog.IndexPart, in key: UnsafeRawBufferPointer, from start: Int
    ) -> Int? {
        guard start < key.count else { return nil }
        let turn: UInt8 = part.isAscending ? 0 : 0xFF
        let tag = key[start] ^ turn
        var length = 1
        if tag != 0 {
            switch part.kind {
            case .integer: length = tag >= 0x80 ? Int(tag) &- 0x7F : 0x80 &- Int(tag)
            case .double: length = 9
            case .float: length = 5
            case .fixed16: length = 17
            case .text:
                guard let end = key[(start &+ 1)...].firstIndex(of: turn) else { return nil }
                length = end &- start &+ 1
            case .decimal:
                if tag != 0x7F {
                    let last = tag == 0x80 ? turn : ~turn
                    // The exponent is followed by digits, none of which is the terminator.
                    let digits = start &+ 3
                    guard digits < key.count,
                        let end = key[digits...].firstIndex(of: last)
                    else { return nil }
                    length = end &- start &+ 1
                }
            }
        }
        return start &+ length <= key.count ? length : nil
    }

    /// Returns the value of a part at the start of some bytes, which must be complete.
    static func value(
        of part: Catalog.IndexPart, in bytes: UnsafeRawBufferPointer, _ kind: SchemaColumn.Kind,
        _ identity: StoreIdentity
    ) -> Value {
        guard let length = length(of: part, in: bytes, from: 0), length > 0 else { return .null }
        let turn: UInt8 = part.isAscending ? 0 : 0xFF
        let tag = bytes[0] ^ turn
        if tag == 0 { return .null }
        let rest = bytes[1..<length]
        // For negative integers, leading bytes of all ones are omitted.
        var word: UInt64 = part.kind == .integer && tag < 0x80 ? .max : 0
        switch part.kind {
        case .integer, .double, .float:
            for byte in rest { word = word &<< 8 | UInt64(byte ^ turn) }
        case .fixed16, .text:
            guard case .attribute(let type) = kind else { return .null }
            var run: [UInt8] = []
            run.reserveCapacity(rest.count)
            if part.kind == .fixed16 {
                for byte in rest { run.append(byte ^ turn) }
            } else {
                var isEscaped = false
                for byte in rest.dropLast() {
                    let byte = byte ^ turn
                    if byte == 1, !isEscaped {
                        isEscaped = true
                    } else {
                        run.append(isEscaped ? byte &- 1 : byte)
                        isEscaped = false
                    }
                }
            }
            return run.withUnsafeBytes { Value.stored($0, type) }
        case .decimal: return .null
        }
        switch part.kind {
        case .double: word = OrderedWord.double(word).bitPattern
        case .float:
            word = UInt64(OrderedWord.float(UInt32(truncatingIfNeeded: word)).bitPattern)
        default: break
        }
        return Value.stored(word: word, kind, identity)
    }
}

extension IndexKey {
    /// Appends a value as the next part; false if the part's column cannot have it.
    mutating func append(_ value: Value, _ part: Catalog.IndexPart) -> Bool {
        begin()
        switch (part.kind, value) {
        case (_, .null): putNil()
        case (.integer, .integer(let value)): put(integer: value)
        case (.integer, .boolean(let value)): put(integer: value ? 1 : 0)
        case (.integer, .objectID(let id)):
            guard let number = id.number else { return false }
            put(integer: Int64(number))
        case (.double, .double(let value)): put(double: value)
        case (.double, .date(let value)): put(double: value.timeIntervalSinceReferenceDate)
        case (.float, .float(let value)): put(float: value)
        case (.decimal, .decimal(let value)):
            if value.isNaN { putNil() } else { put(decimal: value) }
        case (.fixed16, .uuid(let value)): withUnsafeBytes(of: value.uuid) { put(fixed16: $0) }
        case (.text, .string(let value)): put(utf8: value)
        case (.text, .uri(let value)): put(utf8: value.absoluteString)
        case (.text, .binary(let value)): value.withUnsafeBytes { put(text: $0) }
        default: return false
        }
        end(isAscending: part.isAscending)
        return true
    }

    private mutating func put(utf8 text: String) {
        var text = text
        text.withUTF8 { put(text: UnsafeRawBufferPointer($0)) }
    }

    /// Appends a prefix of the values of the next part.
    mutating func append(prefix: String, _ part: Catalog.IndexPart) -> Bool {
        guard part.kind == .text else { return false }
        begin()
        var prefix = prefix
        prefix.withUTF8 { put(prefix: UnsafeRawBufferPointer($0)) }
        end(isAscending: part.isAscending)
        return true
    }
}
