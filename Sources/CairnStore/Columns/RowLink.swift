// Targets of relationships in a batch's column, until the store resolves them to objects.
//
// A cell that names a target has a state of its own; what it says is among the column's bytes, and the cell says where:
//
//   0  nothing: the relationship is to lead nowhere
//   1  an object id: store, hierarchy, reference
//   2  one value
//   3  values with names: how many, then each with its name
//
// A value is a byte for its kind, its length in four bytes, and its bytes.
//
// Threads: as the column.

import CairnModel
import FoundationEssentials

extension ColumnBuffer.State {
    /// The cell contains the target of a relationship.
    package static let linked: UInt8 = 4
}

extension ColumnBuffer {
    /// Whether a cell of a column of references may name a target. References have no bytes otherwise.
    package var mayBeLinked: Bool { used > 0 }

    /// Lets a cell of a column of references name a target, or none.
    package mutating func setLink(_ target: RowTarget?, row: Int) {
        var bytes: [UInt8] = []
        RowLinkCoding.append(target, to: &bytes)
        bytes.withUnsafeBytes { appendLink($0, row: row) }
    }

    /// The target that a cell names, or nil for none.
    package func link(row: Int) -> RowTarget? {
        let start = values.load(fromByteOffset: row &* 8, as: Int.self)
        let bytes = UnsafeRawBufferPointer(start: data + start, count: used - start)
        return RowLinkCoding.read(bytes)
    }
}

/// How targets lie among bytes.
private enum RowLinkCoding {
    static func append(_ target: RowTarget?, to bytes: inout [UInt8]) {
        switch target?.name {
        case nil: bytes.append(0)
        case .id(let id):
            bytes.append(1)
            append(id, to: &bytes)
        case .key(let value):
            bytes.append(2)
            append(value, to: &bytes)
        case .keys(let values):
            bytes.append(3)
            append(word: UInt32(truncatingIfNeeded: values.count), to: &bytes)
            for (name, value) in values {
                append(.string(name), to: &bytes)
                append(value, to: &bytes)
            }
        }
    }

    static func read(_ bytes: UnsafeRawBufferPointer) -> RowTarget? {
        var reader = Reader(bytes: bytes)
        switch reader.byte() {
        case 1: return .id(reader.id())
        case 2: return .key(reader.value())
        case 3:
            var values: [String: Value] = [:]
            for _ in 0..<reader.word() {
                guard case .string(let name) = reader.value() else { continue }
                values[name] = reader.value()
            }
            return .keys(values)
        default: return nil
        }
    }

    private static func append(_ id: ObjectID, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: id.store.uuid) { bytes.append(contentsOf: $0) }
        append(word: id.hierarchy, to: &bytes)
        append(word: id.reference, to: &bytes)
        bytes.append(id.isTemporary ? 1 : 0)
    }

    private static func append<T: FixedWidthInteger>(word: T, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
    }

    private static func append(_ value: Value, to bytes: inout [UInt8]) {
        func add(_ kind: UInt8, _ content: some Collection<UInt8>) {
            bytes.append(kind)
            append(word: UInt32(truncatingIfNeeded: content.count), to: &bytes)
            bytes.append(contentsOf: content)
        }
        func add<T: FixedWidthInteger>(_ kind: UInt8, word: T) {
            withUnsafeBytes(of: word) { add(kind, $0) }
        }
        switch value {
        case .null: add(0, [])
        case .integer(let value): add(1, word: value)
        case .double(let value): add(2, word: value.bitPattern)
        case .float(let value): add(3, word: value.bitPattern)
        case .boolean(let value): add(4, [value ? 1 : 0])
        case .date(let value): add(5, word: value.timeIntervalSinceReferenceDate.bitPattern)
        case .string(let value): add(6, value.utf8)
        case .uri(let value): add(7, value.absoluteString.utf8)
        case .binary(let value): add(8, value)
        // NaN, which is no key, is no bytes: it must not come back as zero.
        case .decimal(let value): add(9, value.isNaN ? [] : DecimalCoding.encode(value))
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { add(10, $0) }
        case .objectID(let id):
            var content: [UInt8] = []
            append(id, to: &content)
            add(11, content)
        }
    }

    /// Reads what was written by the functions above, in the same process.
    private struct Reader {
        var bytes: UnsafeRawBufferPointer

        mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
            defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[count...]) }
            return UnsafeRawBufferPointer(rebasing: bytes[..<count])
        }

        mutating func byte() -> UInt8 { take(1)[0] }

        mutating func word() -> UInt32 { take(4).loadUnaligned(as: UInt32.self) }

        mutating func id() -> ObjectID {
            let store = UUIDCoding.decode(take(16)) ?? UUID()
            let hierarchy = word()
            let reference = take(8).loadUnaligned(as: UInt64.self)
            return byte() == 1
                ? ObjectID(temporary: reference, hierarchy: hierarchy, context: store)
                : ObjectID(store: store, hierarchy: hierarchy, reference: reference)
        }

        mutating func value() -> Value {
            let kind = byte()
            let content = take(Int(word()))
            func load<T: FixedWidthInteger>(_ type: T.Type) -> T { content.loadUnaligned(as: type) }
            switch kind {
            case 1: return .integer(load(Int64.self))
            case 2: return .double(Double(bitPattern: load(UInt64.self)))
            case 3: return .float(Float(bitPattern: load(UInt32.self)))
            case 4: return .boolean(content[0] == 1)
            case 5:
                return .date(
                    Date(
                        timeIntervalSinceReferenceDate: Double(bitPattern: load(UInt64.self))))
            case 6: return .string(String(decoding: content, as: UTF8.self))
            case 7:
                return URL(string: String(decoding: content, as: UTF8.self)).map(Value.uri) ?? .null
            case 8: return .binary(Data(content))
            case 9:
                return content.isEmpty
                    ? .decimal(.nan) : DecimalCoding.decode(content).map(Value.decimal) ?? .null
            case 10: return UUIDCoding.decode(content).map(Value.uuid) ?? .null
            case 11:
                var inner = Reader(bytes: content)
                return .objectID(inner.id())
            default: return .null
            }
        }
    }
}
