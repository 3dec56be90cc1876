// What a store is and has, for people and for tools.

package import FoundationEssentials

/// A store in numbers.
package struct StoreReport: Sendable {
    /// An entity and its objects.
    package struct Entity: Sendable {
        package let name: String
        /// Its own objects, without those of its descendants.
        package let count: Int
        package let isAbstract: Bool
        /// Whether the store made it, to keep the pairs of a many-to-many relationship.
        package let isHidden: Bool
    }

    /// A file of the log.
    package struct Segment: Sendable {
        package let number: UInt32
        package let path: String
        /// Where its content ends.
        package let end: UInt64
        /// The file's size.
        package let bytes: UInt64
    }

    package let path: String
    package let identifier: UUID
    /// The version of the format.
    package let format: UInt32
    /// The version of the schema in force.
    package let schemaVersion: UInt32
    package let entities: [Entity]
    package let segments: [Segment]
    /// The number of the last commit.
    package let commit: UInt64
    /// Blocks that hold rows.
    package let blockCount: Int
    /// What opening found.
    package let recovery: RecoveryReport
}
