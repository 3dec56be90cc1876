// Values in PostgreSQL's binary form, one after another: the parameters of a statement, the elements of an array, the rows
// of a copy. All three have the same form: four bytes with the length, or -1 for NULL, and the value, big-endian.
//
// Invariant: after an error nothing of the refused value is left.
// Threads: one; a value.

import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Bytes that grow by fields.
struct FieldBuffer: Sendable {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func removeLast(from start: Int) { bytes.removeSubrange(start...) }

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    /// The number alone, without a length.
    mutating func put<T: FixedWidthInteger>(_ number: T) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// The bytes alone, without a length.
    mutating func put(_ raw: UnsafeRawBufferPointer) { bytes.append(contentsOf: raw) }

    /// Sets a number that was put before.
    mutating func replace(at position: Int, _ number: Int32) {
        withUnsafeBytes(of: number.bigEndian) {
            bytes.replaceSubrange(position..<position + 4, with: $0)
        }
    }

    // MARK: Fields

    mutating func appendNull() { put(Int32(-1)) }

    mutating func append<T: FixedWidthInteger>(number: T) {
        put(Int32(MemoryLayout<T>.size))
        put(number)
    }

    mutating func append(bool: Bool) { append(number: UInt8(bool ? 1 : 0)) }

    mutating func append(float: Float) { append(number: float.bitPattern) }

    mutating func append(double: Double) { append(number: double.bitPattern) }

    mutating func append(uuid: UUID) {
        put(Int32(16))
        withUnsafeBytes(of: uuid.uuid) { put($0) }
    }

    mutating func append(bytes raw: UnsafeRawBufferPointer) throws(SQLFailure) {
        guard raw.count <= Self.longest else { throw .tooLong(raw.count) }
        put(Int32(raw.count))
        put(raw)
    }

    mutating func append(bytes value: [UInt8]) throws(SQLFailure) {
        guard value.count <= Self.longest else { throw .tooLong(value.count) }
        put(Int32(value.count))
        bytes.append(contentsOf: value)
    }

    mutating func append(data: Data) throws(SQLFailure) {
        guard data.count <= Self.longest else { throw .tooLong(data.count) }
        put(Int32(data.count))
        data.withUnsafeBytes { put($0) }
    }

    mutating func append(text: String) throws(SQLFailure) {
        let start = bytes.count
        put(Int32(0))
        var text = text
        let hasNull = text.withUTF8 { utf8 in
            bytes.append(contentsOf: utf8)
            guard let base = utf8.baseAddress else { return false }
            return memchr(base, 0, utf8.count) != nil
        }
        let length = bytes.count - start - 4
        guard !hasNull, length <= Self.longest else {
            removeLast(from: start)
            throw hasNull ? .nullCharacter : .tooLong(length)
        }
        replace(at: start, Int32(length))
    }

    /// A decimal number by its text: "-12.50", "1e-7", "NaN".
    mutating func append(numeric text: String) throws(SQLFailure) {
        let start = bytes.count
        put(Int32(0))
        guard NumericForm.append(text, to: &self) else {
            removeLast(from: start)
            throw SQLFailure(
                .unencodable, "a string is not a decimal number that PostgreSQL can store")
        }
        replace(at: start, Int32(bytes.count - start - 4))
    }

    mutating func append(_ array: SQLArray) throws(SQLFailure) {
        guard array.fields.count <= Self.longest else { throw .tooLong(array.fields.count) }
        // One dimension from 1 on; without elements there is none.
        put(Int32(12 + (array.count == 0 ? 0 : 8) + array.fields.count))
        put(Int32(array.count == 0 ? 0 : 1))
        put(Int32(array.hasNull ? 1 : 0))
        put(array.elements.oid)
        guard array.count > 0 else { return }
        put(Int32(array.count))
        put(Int32(1))
        bytes.append(contentsOf: array.fields.bytes)
    }

    mutating func append(_ parameter: SQLParameter) throws(SQLFailure) {
        switch parameter {
        case .null: appendNull()
        case .int16(let number): append(number: number)
        case .int32(let number): append(number: number)
        case .int64(let number): append(number: number)
        case .float(let number): append(float: number)
        case .double(let number): append(double: number)
        case .bool(let flag): append(bool: flag)
        case .text(let text): try append(text: text)
        case .bytes(let bytes): try append(bytes: bytes)
        case .data(let data): try append(data: data)
        case .uuid(let uuid): append(uuid: uuid)
        case .numeric(let text): try append(numeric: text)
        case .timestamp(let microseconds): append(number: microseconds)
        case .array(let array): try append(array)
        }
    }

    /// PostgreSQL takes no message longer than 1 GiB less one byte, and a value comes with others.
    private static let longest = 1 << 30 - 1 << 16
}

extension SQLFailure {
    /// What callers put entity and key to.
    static var nullCharacter: SQLFailure {
        SQLFailure(.unencodable, "PostgreSQL cannot store the character U+0000 in a string")
    }

    fileprivate static func tooLong(_ count: Int) -> SQLFailure {
        SQLFailure(.unencodable, "PostgreSQL cannot store a value of \(count) bytes")
    }
}
