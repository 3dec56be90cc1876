// The schema in a schema frame: one JSON object.                                    Format 70
//
// This module does not parse JSON; the caller decodes this type, then calls `check`. The order of keys and
// white space have no meaning; readers ignore unknown keys. (F-701)

/// The part that readers of a store need to read its rows, and the user's model.
package struct SchemaDocument<Model: Codable & Sendable>: Codable, Sendable {
    /// The format version: 1.
    package var format: UInt32
    /// The schema version that blocks refer to, from 1, ascending with each schema frame.
    package var version: UInt32
    package var entities: [SchemaDocumentEntity]
    /// To-many relationships, which have no column; readers of rows do not need them.
    package var relationships: [SchemaDocumentRelationship]
    /// The user's model; readers of rows ignore it.
    package var model: Model
    /// The next free numbers for new elements. Nil if the model never changed: then they follow from those in
    /// use.
    package var next: SchemaDocumentNumbers?

    package init(
        version: UInt32, entities: [SchemaDocumentEntity],
        relationships: [SchemaDocumentRelationship], model: Model,
        next: SchemaDocumentNumbers? = nil
    ) {
        format = FormatVersion.current
        self.version = version
        self.entities = entities
        self.relationships = relationships
        self.model = model
        self.next = next
    }

    /// - Throws: `FormatError` if ids, names, kinds or targets contradict each other.
    package func check() throws(FormatError) {
        try checkVersion()
        try SchemaCheck.check(entities)
        try SchemaCheck.check(next, of: entities, version: version)
    }

    /// - Throws: `FormatError` if the document has an unknown format.
    package func checkVersion() throws(FormatError) {
        guard format == FormatVersion.current, version >= 1 else {
            throw FormatError(
                .unsupportedVersion, "F-702", "the schema has another format version",
                expected: UInt64(FormatVersion.current), found: UInt64(format))
        }
    }
}

/// A model that is ignored, for readers that need only the rows.
package struct IgnoredModel: Codable, Sendable {
    package init() {}
    package init(from decoder: any Decoder) throws {}
}

/// An entity in a schema frame.
package struct SchemaDocumentEntity: Codable, Sendable, Hashable {
    /// From 1, never reused.
    package var id: UInt32
    package var name: String
    /// The id of the hierarchy; its members share object numbers and property ids.
    package var tree: UInt32
    /// The id of the parent.
    package var parent: UInt32?
    /// Whether it has no rows of its own.
    package var abstract: Bool
    /// Whether the engine created it, for pairs of a relationship.
    package var hidden: Bool
    /// Every stored property, including inherited ones, in the order of the canonical export.
    package var properties: [SchemaDocumentProperty]
    /// The uniqueness constraints, as groups of property names.
    package var constraints: [[String]]
    /// The constraints with options. Nil if there are none: then the document is the same as before options
    /// existed.
    package var rules: [SchemaDocumentRule]?

    package init(
        id: UInt32, name: String, tree: UInt32, parent: UInt32? = nil, abstract: Bool = false,
        hidden: Bool = false, properties: [SchemaDocumentProperty], constraints: [[String]] = [],
        rules: [SchemaDocumentRule] = []
    ) {
        self.id = id
        self.name = name
        self.tree = tree
        self.parent = parent
        self.abstract = abstract
        self.hidden = hidden
        self.properties = properties
        self.constraints = constraints
        self.rules = rules.isEmpty ? nil : rules
    }
}

/// A uniqueness constraint with options in a schema frame. Readers of rows may ignore it.           F-712
package struct SchemaDocumentRule: Codable, Sendable, Hashable {
    /// The names of its properties.
    package var names: [String]
    /// The filter for the rows that take part; nil: all rows.
    package var `where`: String?
    package var nilsAreEqual: Bool
    package var ignoresCase: Bool
    package var ignoresDiacritics: Bool

    package init(
        names: [String], where condition: String?, nilsAreEqual: Bool, ignoresCase: Bool,
        ignoresDiacritics: Bool
    ) {
        self.names = names
        self.where = condition
        self.nilsAreEqual = nilsAreEqual
        self.ignoresCase = ignoresCase
        self.ignoresDiacritics = ignoresDiacritics
    }
}

/// The meaning of a property's values.
package enum PropertyKind: String, Codable, Sendable, CaseIterable {
    case integer16, integer32, integer64, decimal, double, float, string, boolean, date, binary
    case uuid, uri, transformable
    /// The object number of a to-one relationship's target.
    case reference
    /// The order key of an ordered relationship.
    case order

    /// The kind of the column that holds the values.                                       F-705
    package var column: ColumnKind {
        switch self {
        case .integer16, .integer32, .integer64, .boolean, .reference, .order: .integer
        case .double, .date: .double
        case .float: .float
        case .string, .uri, .binary, .transformable, .decimal: .bytes
        case .uuid: .fixed16
        }
    }

    /// The range of integers that the kind allows; nil if it has none.                   F-551, F-554
    package var integers: ClosedRange<Int64>? {
        switch self {
        case .integer16: -32_768...32_767
        case .integer32: -2_147_483_648...2_147_483_647
        case .integer64, .order: Int64.min...Int64.max
        case .boolean: 0...1
        case .reference: 1...Int64(FormatLimits.maximumNumber)
        default: nil
        }
    }
}

/// A stored property in a schema frame.
package struct SchemaDocumentProperty: Codable, Sendable, Hashable {
    /// From 1, unique in the tree, never reused.
    package var id: UInt32
    /// With dots for a part of a composite attribute, as in "color.primary".
    package var name: String
    package var kind: PropertyKind
    /// The name of the column's kind: "integer", "double", "float", "bytes" or "fixed16".
    package var column: String
    package var optional: Bool
    /// For a reference, the tree of its targets.
    package var target: UInt32?
    /// The value of rows in blocks from before the property existed; nil: none.
    package var initial: SchemaDocumentPast?
    /// The meaning of nil in blocks from before a value was required, by ascending versions; nil if it means
    /// nil in all.
    package var nils: [SchemaDocumentPast]?

    package init(
        id: UInt32, name: String, kind: PropertyKind, optional: Bool, target: UInt32? = nil
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        column = kind.column.name
        self.optional = optional
        self.target = target
    }
}

/// A to-many relationship in a schema frame.
package struct SchemaDocumentRelationship: Codable, Sendable, Hashable {
    /// How the members are found.
    package enum Form: String, Codable, Sendable {
        /// By a reference in the rows of the members.
        case inverse
        /// By the rows of a hidden entity of pairs.
        case pairs
    }

    /// The entity that declares it.
    package var entity: UInt32
    package var name: String
    package var form: Form
    /// For `.inverse` the entity of the members, for `.pairs` the hidden entity.
    package var through: UInt32
    /// For `.inverse` the reference's property id; for `.pairs` that of the near side.
    package var property: UInt32
    /// The property id of the order key, if it is ordered.
    package var order: UInt32?

    package init(
        entity: UInt32, name: String, form: Form, through: UInt32, property: UInt32,
        order: UInt32? = nil
    ) {
        self.entity = entity
        self.name = name
        self.form = form
        self.through = through
        self.property = property
        self.order = order
    }
}

extension ColumnKind {
    /// The name in a schema frame.
    package var name: String {
        switch self {
        case .integer: "integer"
        case .double: "double"
        case .float: "float"
        case .bytes: "bytes"
        case .fixed16: "fixed16"
        }
    }
}
