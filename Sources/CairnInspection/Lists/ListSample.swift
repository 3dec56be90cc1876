// What the first records of a list say about its fields.

package import CairnModel

/// The fields of a list as far as it was looked at, with the types that would be read off it.
package struct ListSample: Sendable {
    /// One field.
    package struct Field: Sendable {
        /// What the list calls it.
        package let name: String
        /// What the attribute would be called; empty for a field that is dropped.
        package let attribute: String
        /// Undefined for a field that is dropped.
        package let type: AttributeType
        /// Records that have a value in it.
        package let valueCount: Int
        /// The first value, shortened; nil if there is none.
        package let example: String?
    }

    /// In the order in which they are met.
    package let fields: [Field]
    /// How many records were looked at.
    package let recordCount: Int
    /// Whether these are all that the list has.
    package let isWhole: Bool
}
