import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

extension Value {
    /// The value of a cell that is stored as a word.
    static func stored(word: UInt64, _ kind: SchemaColumn.Kind, _ identity: StoreIdentity) -> Value
    {
        switch kind {
        case .reference(let root): .objectID(identity.id(word, entity: root))
        case .attribute(.boolean): .boolean(word != 0)
        case .attribute(.double): .double(Double(bitPattern: word))
        case .attribute(.date):
            .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word)))
        case .attribute(.float):
            .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
        default: .integer(Int64(bitPattern: word))
        }
    }

    static func stored(_ bytes: UnsafeRawBufferPointer, _ type: AttributeType) -> Value {
        switch type {
        case .string: .string(String(decoding: bytes, as: UTF8.self))
        case .uuid: UUIDCoding.decode(bytes).map(Value.uuid) ?? .null
        case .uri:
            URL(string: String(decoding: bytes, as: UTF8.self)).map(Value.uri) ?? .null
        case .decimal: DecimalCoding.decode(bytes).map(Value.decimal) ?? .null
        default: .binary(Data(bytes))
        }
    }
}
