// Large values of objects, some bytes at a time.

import CairnModel
public import CairnStore
import FoundationEssentials

extension ManagedObject {
    /// The bytes of a binary attribute, or of a string as UTF-8, as a stream; nil if the value is nil.
    ///
    /// ```swift
    /// if let plan = try building.valueStream(forKey: "plan") {
    ///     for try await chunk in plan { try output.write(contentsOf: chunk) }
    /// }
    /// ```
    ///
    /// The value is not loaded into the object: it is read from the store, in the state that the context reads, and a
    /// fault stays a fault. A value set in the context but not yet saved is streamed from memory.
    ///
    /// - Parameters:
    ///   - key: the attribute; for an element of a composite one, a dotted name such as `"plan.drawing"`.
    ///   - chunkBytes: the maximum size of a chunk in bytes.
    /// - Throws: `StoreError`: `.objectNotFound` if the object does not exist in that state; `.invalidRequest` if the
    ///   attribute does not exist or has another type; `.damaged`, `.inputOutput`.
    public final func valueStream(
        forKey key: String, chunkBytes: Int = ValueStream.usualChunkBytes
    ) throws(StoreError) -> ValueStream? {
        let column = try ValueStream.column(forKey: key, of: entity)
        access(.column(column))
        guard !isInserted, let context = managedObjectContext, !editedColumns.contains(column)
        else {
            let value = presentValue(column)
            if let staged = StagedValue.find(value) {
                return staged.stream(chunkBytes: chunkBytes)
            }
            return ValueStream.bytes(of: value).map { ValueStream($0, chunkBytes: chunkBytes) }
        }
        return try context.source().valueStream(
            forKey: key, of: objectID, chunkBytes: chunkBytes)
    }
}
