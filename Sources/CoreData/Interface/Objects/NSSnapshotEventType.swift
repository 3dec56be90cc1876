// What has changed an object, and its members.

/// What has changed the values of an object other than by setting them.
public struct NSSnapshotEventType: OptionSet, Sendable {
    /// The events, a bit each.
    public let rawValue: UInt

    /// The events of a number.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// An insertion was undone, or redone.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
    /// A deletion was undone, or redone.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
    /// A change was undone, or redone.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
    /// The context was rolled back.
    public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
    /// Stored values were read again, under the changes of the object.
    public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
    /// A merge policy has changed it.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}

/// What is done with the members of a to-many relationship.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Some are added.
    case union = 1
    /// Some are taken away.
    case minus = 2
    /// Those that are not among some are taken away.
    case intersect = 3
    /// They are replaced.
    case set = 4
}

/// What Objective-C's out parameters are: on Linux a plain pointer, and `&` makes one as it does on Apple's platforms.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
