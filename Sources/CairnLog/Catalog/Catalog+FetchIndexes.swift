// The fetch indexes of a store: those declared by the model with which it was opened.
//
// They are derived data, so models of one store may differ in them, and the schema frame does not contain
// them: a store that is opened with a model that declares another index has that one, and none of its rows is
// rewritten.
//
// The rules:
//   - An index is declared for an entity, and covers it and its descendants, like a constraint.
//   - An element names a stored attribute, a leaf of a composite one, or a to-one relationship that is stored
//     as a column. An index with another element (an expression, a to-many or transient property, `self`) is
//     left out: there is no cell for its key.
//   - R-tree elements are stored as ordered ones: a box is a range on each side, and the index serves the
//     first.
//   - A condition for the objects of an index is ignored: the index contains all of them, which makes no
//     fetch wrong.
//   - An index that repeats another one of the entity or of an ancestor, element by element, is left out.
//   - Each has an ordered index, which serves equality, ranges and prefixes on its first elements, order,
//     minimum and maximum. One with several elements also has postings for equality on all of them: one
//     lookup instead of a descent, for about 12 bytes per object with a key of its own and 3 for others.

package import CairnModel
import CairnStore

extension Catalog {
    /// One element of a fetch index.
    package struct IndexPart: Sendable, Hashable {
        /// The encoding of its values in keys.
        package enum Kind: UInt8, Sendable {
            case integer, double, float, text, decimal, fixed16
        }
        /// The column, by index in the entity and all its descendants.
        package let column: Int
        package let kind: Kind
        package let isAscending: Bool
    }

    /// A fetch index.
    package struct FetchIndexDefinition: Sendable, Hashable {
        package let name: String
        /// The entity that declares it, as an index of `entities`.
        package let entity: Int
        /// That entity and its descendants.
        package let family: [Int]
        package let parts: [IndexPart]
        /// The names of the columns.
        package let names: [String]
        /// What a scan of all of it in its order is called in a query plan.
        let plan: String
        /// Whether it has postings in addition to the ordered index.
        package var hasPostings: Bool { parts.count > 1 }

        /// An index over columns of an entity; nil if there are none, or one occurs twice.
        init?(
            _ name: String, of entity: SchemaEntity, _ columns: [(column: Int, isAscending: Bool)]
        ) {
            guard !columns.isEmpty, Set(columns.map(\.column)).count == columns.count else {
                return nil
            }
            self.name = name
            self.entity = entity.index
            family = entity.family
            parts = columns.map {
                IndexPart(
                    column: $0.column, kind: .init(entity.columns[$0.column]),
                    isAscending: $0.isAscending)
            }
            names = columns.map { entity.columns[$0.column].name }
            plan = "index \(name) (\(names.joined(separator: ", "))), in its order"
        }

        /// Whether it is the same index, whatever its name.
        func isSame(as other: FetchIndexDefinition) -> Bool {
            entity == other.entity && parts == other.parts
        }
    }

    /// Returns the fetch indexes that a model declares for the entities of a schema. The model may differ
    /// from the schema's, if it stores the same things.
    ///
    /// - Parameter leftOut: called for each index that is not kept.
    package static func fetchIndexes(
        of model: ManagedObjectModel, in schema: Schema, leftOut: ((LeftOutIndex) -> Void)? = nil
    ) -> [FetchIndexDefinition] {
        var found: [FetchIndexDefinition] = []
        var descriptions: [String: EntityDescription] = [:]
        for entity in model.entities where !entity.indexes.isEmpty {
            descriptions[entity.name] = entity
        }
        if descriptions.isEmpty { return found }
        // Ancestors first, so that indexes that repeat theirs are recognised.
        for entity in schema.entities.sorted(by: {
            (depth($0, schema), $0.index) < (depth($1, schema), $1.index)
        }) {
            for index in descriptions[entity.name]?.indexes ?? [] {
                guard let definition = definition(index, of: entity) else {
                    leftOut?(LeftOutIndex(index, of: entity))
                    continue
                }
                let other = found.first {
                    $0.family.contains(entity.index) && $0.parts == definition.parts
                }
                if let other {
                    leftOut?(
                        LeftOutIndex(
                            name: index.name, entity: entity.name,
                            reason: "it repeats \(other.name)"))
                } else {
                    found.append(definition)
                }
            }
        }
        return found
    }

    /// An index that a model declares and no store keeps.
    package struct LeftOutIndex: Sendable, Hashable {
        package let name: String
        /// The entity that declares it.
        package let entity: String
        /// Why it is not kept, in words.
        package let reason: String
    }

    /// Returns the fetch indexes of a model that a store with its schema does not keep. Fetches run without
    /// them.
    package static func leftOutIndexes(of model: ManagedObjectModel, in schema: Schema)
        -> [LeftOutIndex]
    {
        var leftOut: [LeftOutIndex] = []
        _ = fetchIndexes(of: model, in: schema) { leftOut.append($0) }
        return leftOut
    }

    private static func depth(_ entity: SchemaEntity, _ schema: Schema) -> Int {
        var depth = 0
        var parent = entity.parent
        while let next = parent {
            depth += 1
            parent = schema.entities[next].parent
        }
        return depth
    }

    private static func definition(_ index: FetchIndexDescription, of entity: SchemaEntity)
        -> FetchIndexDefinition?
    {
        var columns: [(column: Int, isAscending: Bool)] = []
        for element in index.elements {
            guard let name = element.propertyName, element.expression == nil,
                let column = entity.columnIndex(named: name)
            else { return nil }
            columns.append((column, element.isAscending))
        }
        return FetchIndexDefinition(index.name, of: entity, columns)
    }
}

extension Catalog.LeftOutIndex {
    /// An index with elements that cannot be in keys.
    fileprivate init(_ index: FetchIndexDescription, of entity: SchemaEntity) {
        var reason = "it has a property twice"
        if index.elements.isEmpty { reason = "it has no elements" }
        for element in index.elements {
            if let expression = element.expression {
                reason = "\(expression) is an expression, but keys can only be stored values"
                break
            }
            let name = element.propertyName ?? "an element"
            if entity.columnIndex(named: name) == nil {
                reason = "\(name) is not stored as one value of the object"
                break
            }
        }
        self.init(name: index.name, entity: entity.name, reason: reason)
    }
}

extension Catalog.IndexPart.Kind {
    fileprivate init(_ column: SchemaColumn) {
        switch ColumnBuffer.Kind(column) {
        case .integer: self = .integer
        case .double: self = .double
        case .float: self = .float
        case .fixed16: self = .fixed16
        case .bytes: self = column.kind == .attribute(.decimal) ? .decimal : .text
        }
    }
}
