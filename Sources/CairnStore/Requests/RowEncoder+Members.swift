// The encoded members of a to-many relationship: each a single value, an id or an object with keys.
//
// Threads: as the encoder.

import CairnModel
import FoundationEssentials

/// The members encoded so far.
final class EncodedMembers {
    /// An object with keys, which are encoded after it was asked for.
    final class Parts {
        var values: [String: Value] = [:]
    }

    private enum Member {
        case value(Value)
        case parts(Parts)
    }

    private var members: [Member] = []

    var count: Int { members.count }

    /// What they name.
    var targets: [RowTarget] {
        members.compactMap { member in
            switch member {
            case .value(let value): RowTarget(value)
            case .parts(let parts): .keys(parts.values)
            }
        }
    }

    func append(_ value: Value) { members.append(.value(value)) }

    func appendParts() -> Parts {
        let parts = Parts()
        members.append(.parts(parts))
        return parts
    }
}

/// What becomes of a value that is encoded as a member, or as a part of its key.
private struct MemberSink {
    let put: (Value) -> Void
    let error: StoreError

    func put<Integer: FixedWidthInteger>(integer: Integer) throws {
        if let exact = Int64(exactly: integer) {
            put(.integer(exact))
        } else if let wide = UInt64(exactly: integer) {
            put(.decimal(Decimal(wide)))
        } else {
            throw error
        }
    }
}

/// Takes one member after the other.
struct MembersContainer: UnkeyedEncodingContainer {
    let members: EncodedMembers
    let error: StoreError

    var codingPath: [any CodingKey] { [] }
    var count: Int { members.count }

    mutating func encodeNil() throws { throw error }
    mutating func encode<T: Encodable>(_ value: T) throws {
        if let plain = Value(any: value), !plain.isNull { return members.append(plain) }
        try value.encode(to: MemberEncoder(members: members, error: error))
    }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        MemberEncoder(members: members, error: error).container(keyedBy: keyType)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        RefusingContainer(error: error)
    }
    mutating func superEncoder() -> any Encoder { MemberEncoder(members: members, error: error) }
}

/// Encodes a member.
private struct MemberEncoder: Encoder {
    let members: EncodedMembers
    let error: StoreError

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(PartsContainer<Key>(parts: members.appendParts(), error: error))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(error: error) }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        PartContainer(sink: MemberSink(put: members.append, error: error))
    }
}

/// Takes the parts of a member's key.
private struct PartsContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let parts: EncodedMembers.Parts
    let error: StoreError

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) throws { parts.values[key.stringValue] = .null }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let name = key.stringValue
        if let plain = Value(any: value) {
            parts.values[name] = plain
        } else {
            try value.encode(to: PartEncoder(parts: parts, name: name, error: error))
        }
    }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        RefusingEncoder(error: error).container(keyedBy: keyType)
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingContainer(error: error)
    }
    mutating func superEncoder() -> any Encoder { RefusingEncoder(error: error) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder(error: error) }
}

/// Encodes a part of a member's key.
private struct PartEncoder: Encoder {
    let parts: EncodedMembers.Parts
    let name: String
    let error: StoreError

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        RefusingEncoder(error: error).container(keyedBy: type)
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(error: error) }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        let (parts, name) = (parts, name)
        return PartContainer(sink: MemberSink(put: { parts.values[name] = $0 }, error: error))
    }
}

/// Takes one value.
private struct PartContainer: SingleValueEncodingContainer {
    let sink: MemberSink

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws { throw sink.error }
    mutating func encode(_ value: Bool) throws { sink.put(.boolean(value)) }
    mutating func encode(_ value: String) throws { sink.put(.string(value)) }
    mutating func encode(_ value: Double) throws { sink.put(.double(value)) }
    mutating func encode(_ value: Float) throws { sink.put(.float(value)) }
    mutating func encode(_ value: Int) throws { try sink.put(integer: value) }
    mutating func encode(_ value: Int8) throws { try sink.put(integer: value) }
    mutating func encode(_ value: Int16) throws { try sink.put(integer: value) }
    mutating func encode(_ value: Int32) throws { try sink.put(integer: value) }
    mutating func encode(_ value: Int64) throws { try sink.put(integer: value) }
    mutating func encode(_ value: UInt) throws { try sink.put(integer: value) }
    mutating func encode(_ value: UInt8) throws { try sink.put(integer: value) }
    mutating func encode(_ value: UInt16) throws { try sink.put(integer: value) }
    mutating func encode(_ value: UInt32) throws { try sink.put(integer: value) }
    mutating func encode(_ value: UInt64) throws { try sink.put(integer: value) }
    mutating func encode<T: Encodable>(_ value: T) throws {
        guard let plain = Value(any: value), !plain.isNull else { throw sink.error }
        sink.put(plain)
    }
}
