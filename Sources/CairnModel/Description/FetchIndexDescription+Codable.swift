// How FetchIndexDescription is encoded: see CodingShortcuts.

extension FetchIndexDescription: Codable {
    private enum Key: String, CodingKey {
        case name, form, elements, partialIndexPredicate, userInfo, otherMarks
    }

    /// Decodes a description. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        self.init(name, elements: [])
        try container.read(&form, .form)
        try container.read(&elements, .elements)
        try container.read(&partialIndexPredicate, .partialIndexPredicate)
        try container.read(&userInfo, .userInfo)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Encodes the description without its default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        let usual = FetchIndexDescription(name, elements: [])
        try container.write(form, .form, unless: usual.form)
        try container.write(elements, .elements, unless: usual.elements)
        try container.write(
            partialIndexPredicate, .partialIndexPredicate, unless: usual.partialIndexPredicate)
        try container.write(userInfo, .userInfo, unless: usual.userInfo)
        try container.write(otherMarks, .otherMarks, unless: usual.otherMarks)
    }

    /// Reads a description from plain JSON.
    init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init("", elements: [])
        var hasName = false
        var keys = try json.object()
        while let key = try json.key(&keys) {
            switch Key(rawValue: key) {
            case .name:
                name = try json.string()
                hasName = true
            case .form:
                guard let known = Form(rawValue: try json.string()) else { throw NotPlainJSON() }
                form = known
            case .elements:
                try json.array()
                while try json.element(after: elements.count) {
                    elements.append(try Element(plain: &json))
                }
            case .partialIndexPredicate: partialIndexPredicate = try json.string()
            case .userInfo: userInfo = try json.dictionary()
            case .otherMarks: otherMarks = try json.dictionary()
            case nil: throw NotPlainJSON()
            }
        }
        guard hasName else { throw NotPlainJSON() }
    }
}

extension FetchIndexDescription.Element {
    /// Reads an element from plain JSON.
    fileprivate init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init("")
        propertyName = nil
        var (hasKind, hasOrder) = (false, false)
        var keys = try json.object()
        while let key = try json.key(&keys) {
            switch key {
            case "propertyName": propertyName = try json.string()
            case "expression": expression = try json.string()
            case "expressionType": expressionType = try json.string()
            case "kind":
                guard let known = Kind(rawValue: try json.string()) else { throw NotPlainJSON() }
                kind = known
                hasKind = true
            case "isAscending":
                isAscending = try json.bool()
                hasOrder = true
            default: throw NotPlainJSON()
            }
        }
        guard hasKind, hasOrder else { throw NotPlainJSON() }
    }
}
