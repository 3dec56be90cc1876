extension Dictionary where Key: Comparable {
    /// The pairs in the order of their keys.
    ///
    /// For what is sorted once in a request: it is compiled once, where a sort in its place is compiled for each type
    /// of value. Long lists of pairs are sorted faster in their place.
    package func inKeyOrder() -> [(key: Key, value: Value)] {
        // Each is a key of this dictionary.
        keys.sorted().map { key in (key, self[key]!) }
    }
}
