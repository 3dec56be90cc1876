// The version number of a schema, for people.

extension Schema {
    /// A version number of a schema, for people. Stores compare version hashes instead.
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

        /// Whether the left one is earlier.
        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }

        /// The numbers, separated by dots.
        public var description: String { "\(major).\(minor).\(patch)" }
    }
}
