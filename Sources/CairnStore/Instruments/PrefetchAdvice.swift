// Advice to read at once what was read one by one.

/// Faults of one fetch's objects were fired one by one, and each queried the store.
///
/// A context reports this once for requests of the same shape and key path, whatever their limits and offsets. It does
/// not report it if prefetching would not help: if the request already prefetches it, or if no path from its entity
/// reaches it, because a subentity has the relationship.
public struct PrefetchAdvice: Sendable, Hashable {
    /// The fetch that the objects came from, without the values that its predicate compares with; nil if they were members
    /// of one object that was not fetched.
    public let request: FetchEvent.Request?
    /// The entity whose faults were fired, or that has the relationship.
    public let entity: String
    /// The relationship; nil if the objects of the fetch themselves were read one by one.
    public let relationship: String?
    /// The key path from the objects of the fetch to those that were read; nil if they are the same.
    public let keyPath: String?
    /// How often the store was queried, for members or for rows.
    public let count: Int
    /// The name of the context.
    public let contextName: String?

    package init(
        request: FetchEvent.Request?, entity: String, relationship: String?, keyPath: String?,
        count: Int, contextName: String?
    ) {
        self.request = request
        self.entity = entity
        self.relationship = relationship
        self.keyPath = keyPath
        self.count = count
        self.contextName = contextName
    }

    /// The recommended `relationshipKeyPathsForPrefetching`: the current ones and the missing key path. Empty if
    /// prefetching would not help.
    public var prefetchedKeyPaths: [String] {
        guard let keyPath else { return [] }
        let known = (request?.prefetchedKeyPaths ?? []).filter {
            $0 != keyPath && !keyPath.hasPrefix($0 + ".")
        }
        return known + [keyPath]
    }

    /// The advice as a sentence, which contains no values of objects.
    public var sentence: String {
        guard let relationship, keyPath != nil else {
            return "\(count) objects from one fetch of \(entity) were read one by one: "
                + "a fetch with includesPropertyValues reads them all at once"
        }
        let paths = prefetchedKeyPaths.map { "\"\($0)\"" }.joined(separator: ", ")
        let start = "\(entity).\(relationship) queried the store \(count) times for "
        let cure = "relationshipKeyPathsForPrefetching = [\(paths)]"
        guard let request else { return "\(start)one object: fetch it with \(cure)" }
        return "\(start)objects of one fetch (\(request.text(showsValues: false))): "
            + "add \(cure) to it"
    }
}
