import CairnFormat
package import CairnModel
package import CairnStore
import FoundationEssentials

extension Value {
    /// Returns the value of an attribute's cell that is not nil.
    package static func stored(
        _ cells: CellColumn, _ slot: Int, _ type: AttributeType, _ block: CachedBlock
    ) throws(StoreError) -> Value {
        switch type {
        case .integer16, .integer32, .integer64: return .integer(cells.integer(slot))
        case .boolean: return .boolean(cells.integer(slot) != 0)
        case .double: return .double(cells.double(slot))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: cells.double(slot)))
        case .float: return .float(cells.float(slot))
        case .uuid: return UUIDCoding.decode(cells.fixed16(slot)).map(Value.uuid) ?? .null
        case .string, .uri, .binary, .transformable, .decimal:
            if cells.isExternal(slot) {
                let bytes = try block.large(cells.bytes(slot))
                return bytes.withUnsafeBytes { stored($0, type) }
            }
            return stored(cells.bytes(slot), type)
        case .undefined, .objectID, .composite: return .null
        }
    }
}
