// The attributes of one element of a model file during reading.
//
// What is understood is taken out, and what is left at the end is kept in the model as it stands, so that
// a mark that is newer than this reader, or of no use to it, is not lost.

import FoundationEssentials

/// An element's attributes, taken out one by one.
struct Marks {
    /// What has not been taken yet.
    private(set) var rest: [String: String]
    private let tag: String
    private let line: Int

    init(_ element: ModelElement) {
        rest = element.marks
        tag = element.name
        line = element.line
    }

    /// Takes a text; nil if the element does not have it.
    mutating func take(_ name: String) -> String? {
        rest.removeValue(forKey: name)
    }

    /// Takes a text that is of no use if it is empty.
    mutating func takeNonempty(_ name: String) -> String? {
        guard let text = rest[name], !text.isEmpty else { return nil }
        rest[name] = nil
        return text
    }

    /// Takes a text that must be there.
    mutating func require(_ name: String, of element: String?) throws(ModelError) -> String {
        guard let text = rest.removeValue(forKey: name), !text.isEmpty else {
            throw ModelError(
                .invalidElement, "the element \(tag) has no \(name)", element: element, line: line)
        }
        return text
    }

    /// Takes YES or NO.
    mutating func take(_ name: String, or absent: Bool, of element: String) throws(ModelError)
        -> Bool
    {
        guard let text = rest.removeValue(forKey: name) else { return absent }
        guard let value = Bool(modelText: text) else {
            throw ModelError(
                .invalidElement, "\(name) is neither YES nor NO: \(text)", element: element,
                line: line)
        }
        return value
    }

    /// Takes a count: a whole number that is not negative.
    mutating func takeCount(_ name: String, of element: String) throws(ModelError) -> Int? {
        guard let text = rest.removeValue(forKey: name), !text.isEmpty else { return nil }
        guard let value = Int(text), value >= 0 else {
            throw ModelError(
                .invalidElement, "\(name) is not a valid count: \(text)", element: element,
                line: line)
        }
        return value
    }
}

extension Bool {
    /// The truth value that model files write as YES and NO, and people's hands as true and false.
    init?(modelText text: String) {
        switch text.lowercased() {
        case "yes", "true", "1": self = true
        case "no", "false", "0": self = false
        default: return nil
        }
    }
}
