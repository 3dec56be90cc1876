// Defaults and limits as strings of model files.

import FoundationEssentials

extension Value {
    /// The value of a type that a string of a model file represents; nil if it represents none.
    ///
    /// Integers can also be written with a fraction of zeros, or as YES and NO, as old editors did.
    init?(modelText text: String, type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let number = Self.integer(modelText: text) else { return nil }
            self = .integer(number)
        case .decimal:
            guard let number = Decimal(exactText: text) else { return nil }
            self = .decimal(number)
        case .double:
            guard let number = Double(text) else { return nil }
            self = .double(number)
        case .float:
            guard let number = Float(text) else { return nil }
            self = .float(number)
        case .boolean:
            guard let truth = Bool(modelText: text) else { return nil }
            self = .boolean(truth)
        case .string:
            self = .string(text)
        case .date:
            guard let seconds = Double(text), seconds.isFinite else { return nil }
            self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .uuid:
            guard let uuid = UUID(uuidString: text) else { return nil }
            self = .uuid(uuid)
        case .uri:
            guard let url = URL(string: text) else { return nil }
            self = .uri(url)
        case .binary, .transformable, .objectID, .composite, .undefined:
            return nil
        }
        guard fits(type) else { return nil }
    }

    private static func integer(modelText text: String) -> Int64? {
        if let number = Int64(text) { return number }
        if let parts = DecimalText(text), parts.digits.count <= 19,
            (0...18).contains(parts.exponent)
        {
            let digits = String(decoding: parts.digits, as: UTF8.self)
            let zeros = String(repeating: "0", count: parts.exponent)
            return Int64((parts.isNegative ? "-" : "") + digits + zeros)
                ?? (parts.digits.isEmpty ? 0 : nil)
        }
        switch text.lowercased() {
        case "yes", "true": return 1
        case "no", "false": return 0
        default: return nil
        }
    }
}
