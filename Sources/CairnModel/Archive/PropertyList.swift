// Property lists: the binary ones that Core Data writes, and the XML of old stores.
//
// Foundation reads property lists, but not the references that the archives of objects are made of: those are read
// here.
//
//   1. The trailer of 32 bytes says how wide offsets and references are, how many objects there are, which is the
//      top one, and where the table of offsets is.
//   2. An object begins with a byte: four bits for its kind, four for its length, which follows if it is 15.
//
// Invariants: no input makes it trap or loop: offsets are checked, nesting and the number of values have limits.

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

    /// Values that are shared are read each time: this many at most.
    package static let mostValues = 4 << 20

    /// Reads a property list; nil if the bytes are none.
    package init?(_ bytes: [UInt8]) {
        var left = Self.mostValues
        self.init(bytes, &left)
    }

    /// Reads one of several property lists.
    ///
    /// - Parameter left: how many values may still be read of binary ones; what this one has is taken off.
    package init?(_ bytes: [UInt8], _ left: inout Int) {
        if bytes.starts(with: Array("bplist0".utf8)) {
            guard let reader = BinaryReader(bytes) else { return nil }
            guard let top = reader.object(reader.top, depth: 0, &left) else { return nil }
            self = top
            return
        }
        guard let value = try? PropertyListDecoder().decode(Decoded.self, from: Data(bytes)) else {
            return nil
        }
        self = value.value
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

/// Any value of an XML property list.
private struct Decoded: Decodable {
    let value: PropertyList

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self.value = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self.value = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self.value = .real(value)
        } else if let value = try? container.decode(String.self) {
            self.value = .text(value)
        } else if let value = try? container.decode(Date.self) {
            self.value = .date(value)
        } else if let value = try? container.decode(Data.self) {
            self.value = .data(Array(value))
        } else if let value = try? container.decode([Decoded].self) {
            self.value = .array(value.map(\.value))
        } else {
            let members = try container.decode([String: Decoded].self)
            self.value = .dictionary(members.mapValues(\.value))
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
