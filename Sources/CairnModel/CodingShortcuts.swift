// How descriptions are written: what has its usual value is left out, and what is missing is usual.
//
// A store keeps its model in this form. So a model stays small, and a later version of this library can
// add a property without losing the models that stores have kept so far. For the same reason a usual
// value, once published, never changes.

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
