// How a model is encoded: see CodingShortcuts.

extension ManagedObjectModel: Codable {
    private enum Key: String, CodingKey {
        case entities, configurations, composites, fetchRequestTemplates, versionIdentifiers,
            otherMarks
    }

    /// Decodes a description. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        self.init()
        if decoder.isStrict {
            entities = try container.decode([EntityDescription].self, forKey: .entities)
        } else {
            try container.read(&entities, .entities)
        }
        try container.read(&configurations, .configurations)
        try container.read(&composites, .composites)
        try container.read(&fetchRequestTemplates, .fetchRequestTemplates)
        try container.read(&versionIdentifiers, .versionIdentifiers)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Encodes the description without its default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        let usual = ManagedObjectModel()
        try container.write(entities, .entities, unless: usual.entities)
        try container.write(configurations, .configurations, unless: usual.configurations)
        try container.write(composites, .composites, unless: usual.composites)
        try container.write(
            fetchRequestTemplates, .fetchRequestTemplates, unless: usual.fetchRequestTemplates)
        try container.write(
            versionIdentifiers, .versionIdentifiers, unless: usual.versionIdentifiers)
        try container.write(otherMarks, .otherMarks, unless: usual.otherMarks)
    }

    /// Reads a model from plain JSON.
    package init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init()
        var keys = try json.object()
        while let key = try json.key(&keys) {
            switch Key(rawValue: key) {
            case .entities:
                try json.array()
                while try json.element(after: entities.count) {
                    entities.append(try EntityDescription(plain: &json))
                }
            case .versionIdentifiers: versionIdentifiers = try json.strings()
            case .otherMarks: otherMarks = try json.dictionary()
            case .configurations, .composites, .fetchRequestTemplates, nil: throw NotPlainJSON()
            }
        }
    }
}
