// A key of a typed fetch index and its direction.
//
// Threads: a value.

/// A key of an index that `#Index` declares, with its direction.
public struct IndexElement<T: PersistentEntity> {
    /// The property.
    public let path: PartialKeyPath<T>
    /// Whether its values rise in the index.
    public let isAscending: Bool

    /// A key whose values rise.
    public static func ascending(_ path: PartialKeyPath<T>) -> IndexElement {
        IndexElement(path: path, isAscending: true)
    }

    /// A key whose values fall.
    public static func descending(_ path: PartialKeyPath<T>) -> IndexElement {
        IndexElement(path: path, isAscending: false)
    }
}
