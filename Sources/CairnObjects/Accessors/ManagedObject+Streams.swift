// Large values of objects, some bytes at a time.

import CairnModel
public import CairnStore
import FoundationEssentials

extension ManagedObject {
    /// The bytes of a binary attribute, or of the UTF-8 of a text, as a stream; nil if the value is nil.
    ///
    /// ```swift
    /// if let plan = try building.valueStream(forKey: "plan") {
    ///     for try await chunk in plan { try output.write(contentsOf: chunk) }
    /// }
    /// ```
    ///
    /// The value does not become one of the object's: it is read from the store, in the state that the context reads, and an
    /// object that is a fault stays one. What was set in the context and is not saved is given from memory.
    ///
    /// - Parameters:
    ///   - key: the attribute; of a composite one with dots, as in `"plan.drawing"`.
    ///   - chunkBytes: the most bytes of a chunk.
    /// - Throws: `StoreError`: `.objectNotFound` if the object is not in that state; `.invalidRequest` if the attribute is not
    ///   there or of another type; `.damaged`, `.inputOutput`.
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
