extension Dictionary where Key: Comparable {
    /// The pairs in the order of their keys.
    ///
    /// For what is sorted once in a request: the sort is compiled once, where one in its place is compiled for each type
    /// of value. Long lists of pairs are sorted faster in their place.
    @inlinable @inline(__always)
    package func inKeyOrder() -> [(key: Key, value: Value)] {
        // Mostly there is nothing to be put in order, and code for any type would look the types up all the same.
        if isEmpty { return [] }
        if count == 1, let only = first { return [only] }
        return sortedByKey()
    }

    @usableFromInline
    package func sortedByKey() -> [(key: Key, value: Value)] {
        // Each is a key of this dictionary.
        keys.sorted().map { key in (key, self[key]!) }
    }
}
