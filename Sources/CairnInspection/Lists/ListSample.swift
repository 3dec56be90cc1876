// The fields of a list, inferred from its first records.

package import CairnModel

/// The fields of the sampled records, with the types that would be inferred from them.
package struct ListSample: Sendable {
    /// One field.
    package struct Field: Sendable {
        /// The field's name in the list.
        package let name: String
        /// The attribute's name; empty for a field that is dropped.
        package let attribute: String
        /// Undefined for a field that is dropped.
        package let type: AttributeType
        /// The number of records with a value in it.
        package let valueCount: Int
        /// The first value, shortened; nil if there is none.
        package let example: String?
    }

    /// The fields, in order of first occurrence.
    package let fields: [Field]
    /// The number of sampled records.
    package let recordCount: Int
    /// Whether the sample is the whole list.
    package let isWhole: Bool
}
