// The name of a key path, as programs written for Apple's platforms ask for it.

extension AnyKeyPath {
    /// The names of the properties that a key path of a managed object reads; nil for any other.
    ///
    /// On Linux Swift's own property of this name is always nil. A property of another module goes before one of Swift's library.
    public var _kvcKeyPathString: String? { KeyNames.knownName(of: self) }
}
