// The containers of a `RowEncoder`: small values that refer to the encoder and have a name.
//
// `CellEncoder` and `CellContainer` are three words, so that their existentials need no allocation.

import CairnModel

/// Takes the keys of a row, or of a nested object with a dotted prefix.
struct RowContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let row: RowEncoder
    /// Empty, or the name of a composite attribute and a dot.
    let prefix: String

    var codingPath: [any CodingKey] { [] }

    private func name(_ key: some CodingKey) -> String {
        prefix.isEmpty ? key.stringValue : prefix + key.stringValue
    }

    mutating func encodeNil(forKey key: Key) throws { try row.setNil(for: name(key)) }
    mutating func encode(_ value: Bool, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: String, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: Double, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: Float, forKey key: Key) throws {
        try row.set(.float(value), type: "Float", for: name(key))
    }
    mutating func encode(_ value: Int, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: Int8, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: Int16, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: Int32, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: Int64, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: UInt, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: UInt8, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: UInt16, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: UInt32, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode(_ value: UInt64, forKey key: Key) throws {
        try row.set(value, for: name(key))
    }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try row.set(any: value, for: name(key))
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        CellEncoder(row: row, name: name(key)).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        row.list(key: name(key))
    }

    /// A superclass encodes into the same row: its properties are attributes of the same entity.
    mutating func superEncoder() -> any Encoder {
        prefix.isEmpty ? row : CellEncoder(row: row, name: String(prefix.dropLast()))
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        CellEncoder(row: row, name: name(key))
    }
}

/// Encodes a value under a key.
struct CellEncoder: Encoder {
    let row: RowEncoder
    let name: String

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        row.checkIsComposite(name)
        return KeyedEncodingContainer(RowContainer<Key>(row: row, prefix: name + "."))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { row.list(key: name) }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        CellContainer(row: row, name: name)
    }
}

/// Takes one value for a key; without a name, for the row as a whole.
struct CellContainer: SingleValueEncodingContainer {
    let row: RowEncoder
    let name: String

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws { try row.setNil(for: name) }
    mutating func encode(_ value: Bool) throws { try row.set(value, for: name) }
    mutating func encode(_ value: String) throws { try row.set(value, for: name) }
    mutating func encode(_ value: Double) throws { try row.set(value, for: name) }
    mutating func encode(_ value: Float) throws {
        try row.set(.float(value), type: "Float", for: name)
    }
    mutating func encode(_ value: Int) throws { try row.set(value, for: name) }
    mutating func encode(_ value: Int8) throws { try row.set(value, for: name) }
    mutating func encode(_ value: Int16) throws { try row.set(value, for: name) }
    mutating func encode(_ value: Int32) throws { try row.set(value, for: name) }
    mutating func encode(_ value: Int64) throws { try row.set(value, for: name) }
    mutating func encode(_ value: UInt) throws { try row.set(value, for: name) }
    mutating func encode(_ value: UInt8) throws { try row.set(value, for: name) }
    mutating func encode(_ value: UInt16) throws { try row.set(value, for: name) }
    mutating func encode(_ value: UInt32) throws { try row.set(value, for: name) }
    mutating func encode(_ value: UInt64) throws { try row.set(value, for: name) }
    mutating func encode<T: Encodable>(_ value: T) throws {
        if name.isEmpty {
            try value.encode(to: row)
        } else {
            try row.set(any: value, for: name)
        }
    }
}

/// Takes nothing: stands where a list was asked for, so that the error comes as soon as possible.
struct RefusingContainer: UnkeyedEncodingContainer {
    let error: StoreError

    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    mutating func encodeNil() throws { throw error }
    mutating func encode<T: Encodable>(_ value: T) throws { throw error }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(RefusingKeyedContainer<NestedKey>(error: error))
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    mutating func superEncoder() -> any Encoder { RefusingEncoder(error: error) }
}

private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let error: StoreError

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { throw error }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw error }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(RefusingKeyedContainer<NestedKey>(error: error))
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingContainer(error: error)
    }
    mutating func superEncoder() -> any Encoder { RefusingEncoder(error: error) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder(error: error) }
}

private struct RefusingSingleContainer: SingleValueEncodingContainer {
    let error: StoreError

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws { throw error }
    mutating func encode<T: Encodable>(_ value: T) throws { throw error }
}

struct RefusingEncoder: Encoder {
    let error: StoreError

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RefusingKeyedContainer<Key>(error: error))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(error: error) }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        RefusingSingleContainer(error: error)
    }
}
