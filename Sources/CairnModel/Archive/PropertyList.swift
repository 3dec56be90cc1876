// Property lists: the binary ones that Core Data writes, and the XML of old stores.
//
// Foundation reads neither the references that the archives of objects are made of, nor, without filling the stack, an XML list
// that is very deep: both forms are read here.
//
//   1. The trailer of 32 bytes says how wide offsets and references are, how many objects there are, which is the
//      top one, and where the table of offsets is.
//   2. An object begins with a byte: four bits for its kind, four for its length, which follows if it is 15.
//   3. XML is read by the parser of model files, and elements are values by their names.
//
// Invariants: no input makes it trap, loop or fill the memory: offsets are checked, nesting has a limit, and so has what a binary
// list becomes. A value that is shared is read, and counts, each time; a long one counts as several.

package import FoundationEssentials

/// A value of a property list.
package indirect enum PropertyList: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case date(Date)
    case data([UInt8])
    case text(String)
    /// The number of another object of an archive.
    case reference(Int)
    case array([PropertyList])
    case dictionary([String: PropertyList])

    /// How many values a binary list may have.
    package static let mostValues = 4 << 20
    /// How many bytes of a text or of data count as one more value.
    static let bytesOfValue = 32
    private static let binaryMark = Array("bplist0".utf8)

    /// Reads a property list, a binary one or XML; nil if the bytes are none.
    package init?(_ bytes: [UInt8]) {
        if bytes.starts(with: Self.binaryMark) {
            var left = Self.mostValues
            self.init(binary: bytes, &left)
        } else {
            self.init(xml: bytes)
        }
    }

    /// Reads one of several binary property lists; nil if the bytes are none.
    ///
    /// - Parameter left: how many values may still be read; what this one has is taken off.
    package init?(binary bytes: [UInt8], _ left: inout Int) {
        guard bytes.starts(with: Self.binaryMark), let reader = BinaryReader(bytes),
            let top = reader.object(reader.top, depth: 0, &left)
        else { return nil }
        self = top
    }

    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    package var boolean: Bool? { if case .boolean(let truth) = self { truth } else { nil } }
    package var array: [PropertyList]? { if case .array(let values) = self { values } else { nil } }
    package var data: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
    package var dictionary: [String: PropertyList]? {
        if case .dictionary(let members) = self { members } else { nil }
    }
}

extension PropertyList {
    /// The value of an XML property list; nil if it is none.
    private init?(xml bytes: [UInt8]) {
        guard let root = try? ElementParser.parse(Data(bytes), file: nil, keepsText: true),
            root.name == "plist", root.children.count == 1, let value = Self(root.children[0])
        else { return nil }
        self = value
    }

    /// The value of an element. The parser lets nothing be so deep that this could not walk it.
    private init?(_ element: ModelElement) {
        switch element.name {
        case "array":
            var values: [PropertyList] = []
            values.reserveCapacity(element.children.count)
            for child in element.children {
                guard let value = Self(child) else { return nil }
                values.append(value)
            }
            self = .array(values)
        case "dict":
            guard element.children.count.isMultiple(of: 2) else { return nil }
            var members: [String: PropertyList] = [:]
            for place in stride(from: 0, to: element.children.count, by: 2) {
                let key = element.children[place]
                guard key.name == "key", let value = Self(element.children[place + 1]) else {
                    return nil
                }
                members[key.text] = value
            }
            self = .dictionary(members)
        default:
            guard element.children.isEmpty, let value = Self.plain(element) else { return nil }
            self = value
        }
    }

    private static func plain(_ element: ModelElement) -> PropertyList? {
        if element.name == "string" { return .text(element.text) }
        let text = String(decoding: element.text.utf8.filter { $0 > 0x20 }, as: UTF8.self)
        switch element.name {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "integer":
            if let number = Int64(text) { return .integer(number) }
            // What has no sign may be greater.
            return UInt64(text).map { .real(Double($0)) }
        case "real": return Double(text).map { .real($0) }
        case "date": return Date(isoText: text).map { .date($0) }
        case "data": return Data(base64Encoded: text).map { .data(Array($0)) }
        default: return nil
        }
    }
}

/// The bytes of a binary property list.
private struct BinaryReader {
    private static let deepest = 64

    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceWidth: Int
    let top: Int

    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count >= 40 else { return nil }
        let trailer = bytes.count - 32
        let offsetWidth = Int(bytes[trailer + 6])
        referenceWidth = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
            let count = Self.number(bytes, trailer + 8, 8),
            let top = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8),
            count <= bytes.count, top < count, table < trailer,
            count * offsetWidth <= trailer - table
        else { return nil }
        self.top = top
        var offsets: [Int] = []
        offsets.reserveCapacity(count)
        for index in 0..<count {
            guard let offset = Self.number(bytes, table + index * offsetWidth, offsetWidth),
                offset < table
            else { return nil }
            offsets.append(offset)
        }
        self.offsets = offsets
    }

    /// A number without sign, its most significant byte first.
    private static func number(_ bytes: [UInt8], _ start: Int, _ width: Int) -> Int? {
        guard start >= 0, width <= bytes.count - start else { return nil }
        var number: UInt64 = 0
        for index in start..<start + width { number = number << 8 | UInt64(bytes[index]) }
        return Int(exactly: number)
    }

    /// The object of a number.
    func object(_ index: Int, depth: Int, _ left: inout Int) -> PropertyList? {
        guard offsets.indices.contains(index), depth < Self.deepest, left > 0 else { return nil }
        left -= 1
        let start = offsets[index]
        let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 15))
        switch kind {
        case 0x0:
            switch low {
            case 0: return .null
            case 8: return .boolean(false)
            case 9: return .boolean(true)
            default: return nil
            }
        case 0x1: return integer(start + 1, width: 1 << low)
        case 0x2: return real(start + 1, width: 1 << low).map { .real($0) }
        case 0x3:
            return real(start + 1, width: 8).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case 0x8: return Self.number(bytes, start + 1, low + 1).map { .reference($0) }
        default: break
        }
        guard let (from, count) = length(start, low) else { return nil }
        if kind == 0x4 || kind == 0x5 || kind == 0x6 || kind == 0x7 {
            left -= (kind == 0x6 ? count * 2 : count) / PropertyList.bytesOfValue
            guard left >= 0 else { return nil }
        }
        switch kind {
        case 0x4: return slice(from, count).map { .data(Array($0)) }
        case 0x5, 0x7:
            return slice(from, count).flatMap { String(validating: $0, as: UTF8.self) }.map {
                .text($0)
            }
        case 0x6: return wideText(from, count).map { .text($0) }
        case 0xA, 0xB, 0xC:
            return objects(from, count, depth: depth, &left).map { .array($0) }
        case 0xD:
            guard let keys = objects(from, count, depth: depth, &left),
                let values = objects(from + count * referenceWidth, count, depth: depth, &left)
            else { return nil }
            var members: [String: PropertyList] = [:]
            for (key, value) in zip(keys, values) {
                guard let name = key.text else { return nil }
                members[name] = value
            }
            return .dictionary(members)
        default: return nil
        }
    }

    private func slice(_ start: Int, _ count: Int) -> ArraySlice<UInt8>? {
        guard start <= bytes.count, count <= bytes.count - start else { return nil }
        return bytes[start..<start + count]
    }

    /// Where the content of an object begins, and how long it is.
    private func length(_ start: Int, _ low: Int) -> (Int, Int)? {
        guard low == 15 else { return (start + 1, low) }
        guard start + 1 < bytes.count, bytes[start + 1] >> 4 == 1, bytes[start + 1] & 15 <= 3
        else { return nil }
        let width = 1 << Int(bytes[start + 1] & 15)
        guard let count = Self.number(bytes, start + 2, width), count <= bytes.count else {
            return nil
        }
        return (start + 2 + width, count)
    }

    private func integer(_ start: Int, width: Int) -> PropertyList? {
        if width == 16 {
            // The upper half only says the sign of what fits the lower one.
            return integer(start + 8, width: 8)
        }
        guard width <= 8, let bytes = slice(start, width) else { return nil }
        var number: UInt64 = 0
        for byte in bytes { number = number << 8 | UInt64(byte) }
        return .integer(Int64(bitPattern: number))
    }

    private func real(_ start: Int, width: Int) -> Double? {
        guard width == 4 || width == 8, let bytes = slice(start, width) else { return nil }
        var bits: UInt64 = 0
        for byte in bytes { bits = bits << 8 | UInt64(byte) }
        return width == 8
            ? Double(bitPattern: bits) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    }

    private func wideText(_ start: Int, _ count: Int) -> String? {
        guard let bytes = slice(start, count * 2) else { return nil }
        var units: [UInt16] = []
        units.reserveCapacity(count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            units.append(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]))
            index += 2
        }
        return String(decoding: units, as: UTF16.self)
    }

    private func objects(_ start: Int, _ count: Int, depth: Int, _ left: inout Int)
        -> [PropertyList]?
    {
        guard count * referenceWidth <= bytes.count else { return nil }
        var result: [PropertyList] = []
        for position in 0..<count {
            guard
                let index = Self.number(bytes, start + position * referenceWidth, referenceWidth),
                let value = object(index, depth: depth + 1, &left)
            else { return nil }
            result.append(value)
        }
        return result
    }
}
