// Values of an archive: numbers and strings are stored plainly, others as Foundation objects.

package import FoundationEssentials

package enum ArchivedValue {
    /// The value of an archived object; nil if no attribute can have a value of its class.
    package static func value(_ object: ArchivedObject) -> Value? {
        switch object.type {
        case "NSDate": return seconds(object["NS.time"]).map { .date($0) }
        case "NSUUID":
            guard let bytes = object["NS.uuidbytes"].data, bytes.count == 16 else { return nil }
            return .uuid(UUID(bytes: bytes))
        case "NSURL":
            guard object.object("NS.base") == nil, let text = object.text("NS.relative") else {
                return nil
            }
            return URL(string: text).map { .uri($0) }
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return decimal(object)
        case "NSString", "NSMutableString": return object.text("NS.string").map { .string($0) }
        case "NSData", "NSMutableData":
            return object["NS.data"].data.map { .binary(Data($0)) }
        default: return nil
        }
    }

    /// A value for an attribute of a type; nil if it is none.
    package static func value(
        _ value: PropertyList, in archive: ArchivedObject, as type: AttributeType
    )
        -> Value?
    {
        let plain: Value?
        switch archive.resolved(value) {
        case .boolean(let truth):
            plain = type == .boolean ? .boolean(truth) : .integer(truth ? 1 : 0)
        case .integer(let number): plain = .integer(number)
        case .real(let number): plain = .double(number)
        case .text(let text): plain = .string(text)
        case .date(let date): plain = .date(date)
        case .data(let bytes): plain = .binary(Data(bytes))
        default: plain = archive.object(of: value).flatMap { Self.value($0) }
        }
        return plain?.restated(as: type)
    }

    private static func seconds(_ value: PropertyList) -> Date? {
        let seconds: Double
        switch value {
        case .real(let number): seconds = number
        case .integer(let number): seconds = Double(number)
        case .date(let date): return date
        default: return nil
        }
        return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }

    /// The mantissa lies in words of 16 bits, the lowest first; each in the order of bytes of who wrote it.
    private static func decimal(_ object: ArchivedObject) -> Value? {
        guard let bytes = object["NS.mantissa"].data, bytes.count == 16,
            let exponent = object.integer("NS.exponent"),
            let count = object.integer("NS.length"), (0...8).contains(count)
        else { return nil }
        if count == 0 { return object.flag("NS.negative") ? nil : .decimal(0) }
        // 1: the lower byte first, as every machine of the last decades has it.
        let isLittle = object.integer("NS.mantissa.bo") != 2
        var mantissa: UInt128 = 0
        for word in (0..<Int(count)).reversed() {
            let (one, other) = (UInt128(bytes[word * 2]), UInt128(bytes[word * 2 + 1]))
            mantissa = mantissa << 16 | (isLittle ? one | other << 8 : other | one << 8)
        }
        let sign = object.flag("NS.negative") ? "-" : ""
        return Decimal(exactText: "\(sign)\(mantissa)e\(exponent)").map { .decimal($0) }
    }
}

extension UUID {
    /// The UUID of 16 bytes.
    package init(bytes: [UInt8]) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14],
                bytes[15]
            ))
    }
}
