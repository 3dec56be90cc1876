// A conflict with somebody else's change, as a merge policy sees it.

import CairnModel
import CairnStore

/// An object that was changed or deleted elsewhere since it was read.
///
/// Snapshots contain the attributes and to-one relationships (as object ids); nil values are absent.
public final class MergeConflict {
    /// The object in the context.
    public let sourceObject: ManagedObject
    /// The values that the object was read with; nil if it was never read.
    public let objectSnapshot: [String: Any]?
    /// The values as they are stored now; nil if the object was deleted.
    public let cachedSnapshot: [String: Any]?
    /// Always nil: there is no cache between a context and its store.
    public let persistedSnapshot: [String: Any]? = nil
    /// The version that the object was read with; 0 if it was never read.
    public let oldVersionNumber: Int
    /// The currently stored version; 0 if the object was deleted.
    public let newVersionNumber: Int
    let conflict: VersionConflict
    let context: ManagedObjectContext

    init(_ conflict: VersionConflict, _ object: ManagedObject, _ context: ManagedObjectContext) {
        self.conflict = conflict
        self.context = context
        sourceObject = object
        let base = conflict.base ?? object.row
        objectSnapshot = base.map(context.snapshotValues)
        cachedSnapshot = conflict.stored.map(context.snapshotValues)
        oldVersionNumber = base.map { Int($0.version) } ?? 0
        newVersionNumber = conflict.stored.map { Int($0.version) } ?? 0
    }
}

extension ManagedObjectContext {
    /// The values that a conflict reports: stored properties but to-many relationships, without nils.
    func snapshotValues(_ row: Row) -> [String: Any] {
        let entity = schema.entities[row.entity]
        var values: [String: Any] = [:]
        for (index, column) in entity.columns.enumerated() {
            values[column.name] = row.cells.value(index, of: entity, in: identity).any
        }
        return values
    }
}
