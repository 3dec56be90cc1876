// Two objects with the same key that cannot be merged, because the entity of the survivor lacks something: see
// `ConflictRules+Entities`.

package import CairnModel

/// The objects of a conflict that merging cannot resolve, for its error.
package struct UnlikeObjects {
    /// One of the two.
    package struct Member {
        /// Its id; nil for the row of a batch.
        let id: ObjectID?
        let entity: SchemaEntity

        /// One of the two.
        package init(_ id: ObjectID?, _ entity: SchemaEntity) {
            self.id = id
            self.entity = entity
        }

        var text: String { id.map { "the \(entity.name) \($0)" } ?? "the new \(entity.name)" }
    }

    /// What the object that stays could not keep.
    package enum Loss {
        /// The value of a property of the other object, by its name.
        case property(String)
        /// References to the other object in a relationship that cannot contain the surviving object.
        case reference(entity: String, key: String)
    }

    /// What ends the conflict.
    package enum Advice: String {
        case otherKey = "give one of them another key"
        case otherKeyOrOverwriting =
            "give one of them another key, or save with the overwrite policy"
        case otherKeyOrStaying = "give one of them another key, or keep the other one"
        case otherKeyOfRow = "give the row another key, or delete the object"
    }

    private let given: Member
    private let kept: Member
    private let constraint: [String]
    private let values: [Value]

    /// Says which two they are.
    ///
    /// - Parameters:
    ///   - given: the object that would be merged.
    ///   - kept: the one that would stay.
    ///   - constraint: the names of the properties of the key.
    ///   - values: the key.
    package init(given: Member, kept: Member, constraint: [String], values: [Value]) {
        self.given = given
        self.kept = kept
        self.constraint = constraint
        self.values = values
    }

    /// The error that the conflict is.
    ///
    /// - Parameters:
    ///   - advice: what ends the conflict.
    ///   - row: the row of a batch.
    package func error(
        _ loss: Loss, advice: Advice, row: Int? = nil, conflicts: [SaveConflict] = []
    ) -> StoreError {
        let names = constraint.joined(separator: ", ")
        let (key, reason) =
            switch loss {
            case .property(let name):
                (name, "\(kept.entity.name) has no property \(name)")
            case .reference(let entity, let key):
                (
                    "",
                    "\(entity).\(key), which refers to the first, cannot refer to \(kept.entity.name)"
                )
            }
        let pairs = zip(constraint, values).map { "\($0) = \($1)" }.joined(separator: ", ")
        return StoreError(
            .constraintConflict,
            "an object of \(given.entity.name) and one of \(kept.entity.name) have the same \(names), but cannot be merged, because \(reason): \(advice.rawValue)",
            context: .init(
                entity: given.entity.name, key: key.isEmpty ? nil : key, row: row,
                objectID: given.id ?? kept.id,
                detail:
                    "\(given.text) and \(kept.text) both have \(pairs), but cannot be merged, because \(reason): \(advice.rawValue)"
            ),
            conflicts: conflicts)
    }
}
