// Why an object shows other values than it did, without anybody having set them.

/// The reasons why an object's values were replaced; see ``ManagedObject/awakeFromSnapshotEvents(_:)``. The raw values
/// are Core Data's.
public struct SnapshotEvents: OptionSet, Sendable, Hashable {
    /// The number, a bit for each event.
    public let rawValue: Int

    /// The events of a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// An insertion was undone, or redone.
    public static let undoInsertion = SnapshotEvents(rawValue: 2)
    /// A deletion was undone, or redone.
    public static let undoDeletion = SnapshotEvents(rawValue: 4)
    /// A change was undone, or redone.
    public static let undoUpdate = SnapshotEvents(rawValue: 8)
    /// The context was rolled back.
    public static let rollback = SnapshotEvents(rawValue: 16)
    /// Stored values were read again, under the object's changes.
    public static let refresh = SnapshotEvents(rawValue: 32)
    /// A merge policy has changed it.
    public static let mergePolicy = SnapshotEvents(rawValue: 64)
}
