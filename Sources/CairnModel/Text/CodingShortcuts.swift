// How descriptions are encoded: default values are omitted, and missing keys have default values.
//
// A store keeps its model in this form. So a model stays small, and a later version of this library can
// add a property without losing the models that stores have kept so far. For the same reason a usual
// value, once published, never changes.
//
// A text that a person has written is read strictly: a key that nobody knows is a mistake there.

extension CodingUserInfoKey {
    /// Whether unknown keys are rejected.
    static var refusesUnknownKeys: CodingUserInfoKey? {
        CodingUserInfoKey(rawValue: "cairn.refusesUnknownKeys")
    }

    /// Whether numbers and dates are written as people read them, and not as the bits that a store keeps.
    static var writesTexts: CodingUserInfoKey? {
        CodingUserInfoKey(rawValue: "cairn.writesTexts")
    }
}

extension Encoder {
    /// Whether numbers and dates are written as people read them.
    var writesTexts: Bool {
        CodingUserInfoKey.writesTexts.flatMap { userInfo[$0] as? Bool } ?? false
    }
}

extension Decoder {
    /// Whether keys that nobody knows are refused.
    var isStrict: Bool {
        CodingUserInfoKey.refusesUnknownKeys.flatMap { userInfo[$0] as? Bool } ?? false
    }

    /// Refuses keys that nobody knows, where a text is read strictly.
    func checkKeys<Key: CodingKey>(_: Key.Type) throws {
        guard isStrict else { return }
        for key in try container(keyedBy: AnyCodingKey.self).allKeys
        where Key(stringValue: key.stringValue) == nil {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath + [key], debugDescription: "there is no such key"))
        }
    }
}

/// A key of any name.
private struct AnyCodingKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer {
    /// Reads a property, or leaves it as it is if it is not there.
    func read<T: Decodable>(_ target: inout T, _ key: Key) throws {
        if let value = try decodeIfPresent(T.self, forKey: key) { target = value }
    }
}

extension KeyedEncodingContainer {
    /// Writes a property unless it has its usual value.
    mutating func write<T: Encodable & Equatable>(_ value: T, _ key: Key, unless usual: T) throws {
        if value != usual { try encode(value, forKey: key) }
    }
}
