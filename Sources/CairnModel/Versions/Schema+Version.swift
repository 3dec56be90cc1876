// What people call a version of a schema.

extension Schema {
    /// The version of a schema, for people: versions of stores are told apart by what they store.
    public struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The first number.
        public let major: Int
        /// The second number.
        public let minor: Int
        /// The third number.
        public let patch: Int

        /// A version of three numbers.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        /// Whether the left one is the earlier.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }

        /// The numbers with points between them.
        public var description: String { "\(major).\(minor).\(patch)" }
    }
}
