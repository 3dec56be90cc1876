// A model as boxes and lines: what is drawn, as values.
//
// Threads: values.

/// A diagram of entities and relationships.
package struct ModelDiagram: Sendable {
    /// How something differs from the other version of the model.
    package enum Change: Sendable, Hashable, CaseIterable {
        case added, removed, changed

        /// What stands before a name, for those who do not see the colour.
        var sign: String {
            switch self {
            case .added: "+"
            case .removed: "−"
            case .changed: "~"
            }
        }

        var ink: Ink {
            switch self {
            case .added: .added
            case .removed: .removed
            case .changed: .changed
            }
        }
    }

    /// An attribute.
    package struct Attribute: Sendable {
        package var name: String
        /// Its type, as it is shown.
        package var type: String
        /// Whether it is a part of a uniqueness constraint.
        package var isKey = false
        /// Whether it is computed, or lives in memory only.
        package var isDerived = false
        /// What else is said of it under the pointer.
        package var remark: String?
        package var change: Change?

        package init(_ name: String, type: String) {
            self.name = name
            self.type = type
        }
    }

    /// A relationship, as one side has it.
    package struct Relationship: Sendable {
        package var name: String
        package var destination: String
        /// What leads back, if anything does.
        package var inverse: String?
        package var isToMany = false
        package var isRequired = false
        /// How many objects there may be, as it is shown: `0..1`, `1..5 ordered`.
        package var arity: String
        package var remark: String?
        package var change: Change?

        package init(_ name: String, to destination: String, arity: String) {
            self.name = name
            self.destination = destination
            self.arity = arity
        }
    }

    /// A uniqueness constraint or an index.
    package struct Rule: Sendable {
        package var words: String
        package var remark: String?
        package var change: Change?

        package init(_ words: String, remark: String? = nil, change: Change? = nil) {
            self.words = words
            self.remark = remark
            self.change = change
        }
    }

    /// An entity.
    package struct Entity: Sendable {
        package var name: String
        package var parent: String?
        package var isAbstract = false
        /// What stands beside its name: how many objects it has.
        package var note: String?
        package var attributes: [Attribute] = []
        package var relationships: [Relationship] = []
        package var rules: [Rule] = []
        package var change: Change?

        package init(_ name: String) { self.name = name }
    }

    /// In the order of the model.
    package var entities: [Entity]
    /// What it is compared with, in words; nil if with nothing.
    package var comparison: String?

    package init(_ entities: [Entity], comparedWith comparison: String? = nil) {
        self.entities = entities
        self.comparison = comparison
    }
}
