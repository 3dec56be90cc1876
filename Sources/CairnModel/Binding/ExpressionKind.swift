// The kind of an expression's value, as far as a schema determines it.

/// The kind of an expression's values.
enum ExpressionKind {
    /// It can be anything.
    case unknown
    /// Nil.
    case null
    /// Values of a type. Computed numbers are doubles.
    case attribute(AttributeType)
    /// Objects of an entity.
    case object(SchemaEntity)
    /// Members of one kind.
    indirect case collection(ExpressionKind)

    /// What a single member is.
    var member: ExpressionKind {
        if case .collection(let member) = self { member.member } else { self }
    }

    var isCollection: Bool {
        if case .collection = self { true } else { false }
    }

    var isOpen: Bool {
        switch self {
        case .unknown, .null: true
        default: false
        }
    }

    var isNumber: Bool {
        switch self {
        case .attribute(let type): type.isNumber
        default: isOpen
        }
    }

    var isText: Bool {
        switch self {
        case .attribute(.string): true
        default: isOpen
        }
    }

    var isDate: Bool {
        if case .attribute(.date) = self { true } else { false }
    }

    /// Whether one of several values is the least.
    var hasExtremes: Bool {
        switch self {
        case .object, .attribute(.objectID), .attribute(.transformable), .attribute(.composite):
            false
        default: true
        }
    }

    /// Whether two values of these kinds can be equal, or have an order.
    func isComparable(to other: ExpressionKind) -> Bool {
        switch (self, other) {
        case (.unknown, _), (_, .unknown), (.null, _), (_, .null): true
        case (.attribute(let a), .attribute(let b)): a == b || (a.isNumber && b.isNumber)
        case (.object, .object): true
        case (.object, .attribute(.objectID)), (.attribute(.objectID), .object): true
        default: false
        }
    }

    /// In words, for errors.
    var words: String {
        switch self {
        case .unknown: "something"
        case .null: "nil"
        case .attribute(let type):
            "aeiou".contains(type.rawValue.first ?? "x")
                ? "an \(type.rawValue)" : "a \(type.rawValue)"
        case .object(let entity): "an object of \(entity.name)"
        case .collection(let member): "a collection, each member \(member.words)"
        }
    }

    /// The kind of a constant.
    init(of value: Value) {
        switch value {
        case .null: self = .null
        case .integer: self = .attribute(.integer64)
        case .decimal: self = .attribute(.decimal)
        case .double: self = .attribute(.double)
        case .float: self = .attribute(.float)
        case .string: self = .attribute(.string)
        case .boolean: self = .attribute(.boolean)
        case .date: self = .attribute(.date)
        case .binary: self = .attribute(.binary)
        case .uuid: self = .attribute(.uuid)
        case .uri: self = .attribute(.uri)
        case .objectID: self = .attribute(.objectID)
        }
    }
}

extension AttributeType {
    /// Whether its values are numbers, or truth values, which count as 0 and 1.
    var isNumber: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: true
        default: false
        }
    }
}
