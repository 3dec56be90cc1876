// The derived attributes of a schema, and which of them to recompute when a row changes.
//
//   entities   how the derived attributes of an entity are computed, inherited ones first
//   watches    by entity: the derived attributes, of whatever entity, that its rows are a source of
//
// A row is a source as a member of a relationship, or because the path of somebody's attribute leads to it or through it. What
// a row's own attributes have to do with its own derived ones is not among the watches: those are computed whenever the row is
// written.
//
// Invariants: a derived attribute has the same number in its entity and in all descendants, and no other of the hierarchy has it.
// Threads: immutable, so any.

/// The derived attributes of a schema.
package struct SchemaDerivations: Sendable {
    /// A derived attribute of another row that a row is a source of.
    package struct Watch: Sendable {
        /// How one gets from the source to the row with the derived attribute.
        package enum Way: Sendable {
            /// A reference column of the source refers to the row with the attribute.
            case members(column: Int)
            /// Pairs connect them; whether the row with the attribute is on the source side of the pairs, and whether it
            /// can be on either.
            case pairs(Int, ownerIsSource: Bool, isSymmetric: Bool)
            /// Back along references, starting with the one that refers to the source.
            case path(back: [Derivation.Step])
        }
        /// The entity that declares the derived attribute, as an index of the schema.
        package let entity: Int
        /// The attribute's number in its hierarchy.
        package let derivation: Int
        /// How one gets there.
        package let way: Way
        /// The source's column whose value counts; nil if only its being there does.
        package let column: Int?
    }

    /// Whether there is none.
    package let isEmpty: Bool
    /// Why derived attributes of a model that a store has are refused: then there are none here, and their values are what is
    /// stored.
    package let refusal: ModelError?
    /// By entity.
    package let entities: [[Derivation]]
    /// By entity.
    package let watches: [[Watch]]
    /// By index of the schema's pairs: what is made of the pairs being there.
    package let pairWatches: [[Watch]]
    /// By entity: whether its rows have derived attributes or are a source of some.
    package let concerns: [Bool]

    init(
        entities: [[Derivation]], watches: [[Watch]], pairWatches: [[Watch]],
        refusal: ModelError? = nil
    ) {
        self.refusal = refusal
        self.entities = entities
        self.watches = watches
        self.pairWatches = pairWatches
        isEmpty = entities.allSatisfy(\.isEmpty)
        concerns = zip(entities, watches).map { !$0.isEmpty || !$1.isEmpty }
    }

    /// Whether two rows of an entity differ at most in what is derived.
    package func isEqualButDerived(_ one: [Value], _ other: [Value], entity: Int) -> Bool {
        one.count == other.count
            && one.indices.allSatisfy { column in
                one[column] == other[column] || entities[entity].contains { $0.column == column }
            }
    }
}
