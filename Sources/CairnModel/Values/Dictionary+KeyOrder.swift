extension Dictionary where Key: Comparable {
    /// The pairs, sorted by key.
    ///
    /// For sorts that happen once in a request. This sort is compiled only once, whereas an in-place sort is compiled for
    /// each type of value. Long lists of pairs are faster to sort in place.
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
