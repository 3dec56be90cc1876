// What would have read at once what was read one by one.

/// Faults of the objects of one fetch were touched one after the other, and each asked the store.
///
/// A context says so once for requests of one shape and one key path, whatever their limits and offsets. It says nothing that
/// does not help: if the request reads it ahead already, or if no path from its entity leads there, because a subentity has the
/// relationship.
public struct PrefetchAdvice: Sendable, Hashable {
    /// The fetch that the objects came from, without the values that its predicate compares with; nil if they were members of
    /// one object that came from none.
    public let request: FetchEvent.Request?
    /// The entity whose faults were touched, or that has the relationship.
    public let entity: String
    /// The relationship; nil if the objects of the fetch themselves were read one by one.
    public let relationship: String?
    /// The path from the objects of the fetch to those that were read; nil if they are the same.
    public let keyPath: String?
    /// How often the store was asked, for members or for rows.
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

    /// What the request's `relationshipKeyPathsForPrefetching` should be: what it is, and the path that is missing. Empty if
    /// that would not help.
    public var prefetchedKeyPaths: [String] {
        guard let keyPath else { return [] }
        let known = (request?.prefetchedKeyPaths ?? []).filter {
            $0 != keyPath && !keyPath.hasPrefix($0 + ".")
        }
        return known + [keyPath]
    }

    /// The advice in words. No values of objects are in it.
    public var sentence: String {
        guard let relationship, keyPath != nil else {
            return "\(count) objects of one fetch of \(entity) were read one by one: "
                + "a fetch with includesPropertyValues reads them at once"
        }
        let paths = prefetchedKeyPaths.map { "\"\($0)\"" }.joined(separator: ", ")
        let start = "\(entity).\(relationship) asked the store \(count) times for "
        let cure = "relationshipKeyPathsForPrefetching = [\(paths)]"
        guard let request else { return "\(start)one object: fetch it with \(cure)" }
        return "\(start)objects of one fetch (\(request.text(showsValues: false))): "
            + "add \(cure) to it"
    }
}
