// The rows, pairs and redirects that a store exports in their stored form, by numbers.
//
// Threads: plain values.

package import CairnModel

extension PartialStore {
    /// A row in its stored form.
    package struct PlacedRow: Sendable {
        /// Its entity, as an index of the schema.
        package var entity: Int
        package var number: UInt32
        package var version: UInt32
        /// By column of its entity.
        package var values: [Value]
        /// Its positions in ordered lists, by the entity's ordered references; nil: determined by its number.
        package var places: [Int64?]

        package init(
            entity: Int, number: UInt32, version: UInt32, values: [Value], places: [Int64?]
        ) {
            self.entity = entity
            self.number = number
            self.version = version
            self.values = values
            self.places = places
        }
    }

    /// A pair in its stored form.
    package struct PlacedPair: Sendable {
        /// As an index of the schema's pairs.
        package var pairs: Int
        /// Its number, and the version of its row.
        package var number: UInt32
        package var version: UInt32
        package var source: UInt32
        package var destination: UInt32
        /// Its positions in ordered lists, by the ordered ends; nil: determined by its number.
        package var places: [Int64?]

        package init(
            pairs: Int, number: UInt32, version: UInt32, source: UInt32, destination: UInt32,
            places: [Int64?]
        ) {
            self.pairs = pairs
            self.number = number
            self.version = version
            self.source = source
            self.destination = destination
            self.places = places
        }
    }

    /// An id that is redirected to another object.
    package struct PlacedRedirect: Sendable {
        /// The tree of both, as an index into the catalog's trees.
        package let tree: Int
        package let number: UInt32
        /// 0: none any longer.
        package let survivor: UInt32

        package init(tree: Int, number: UInt32, survivor: UInt32) {
            self.tree = tree
            self.number = number
            self.survivor = survivor
        }
    }
}
