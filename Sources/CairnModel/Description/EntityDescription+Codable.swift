// How EntityDescription is encoded: see CodingShortcuts.

extension EntityDescription: Codable {
    private enum Key: String, CodingKey {
        case name, managedObjectClassName, isAbstract, superentityName, attributes, relationships,
            fetchedProperties, uniquenessConstraints, uniquenessRules, indexes, renamingIdentifier,
            versionHashModifier, userInfo, otherMarks
    }

    /// Decodes a description. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        self.init(name)
        try container.read(&managedObjectClassName, .managedObjectClassName)
        try container.read(&isAbstract, .isAbstract)
        try container.read(&superentityName, .superentityName)
        try container.read(&attributes, .attributes)
        try container.read(&relationships, .relationships)
        try container.read(&fetchedProperties, .fetchedProperties)
        try container.read(&uniquenessConstraints, .uniquenessConstraints)
        try container.read(&uniquenessRules, .uniquenessRules)
        try container.read(&indexes, .indexes)
        try container.read(&renamingIdentifier, .renamingIdentifier)
        try container.read(&versionHashModifier, .versionHashModifier)
        try container.read(&userInfo, .userInfo)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Encodes the description without its default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        let usual = EntityDescription(name)
        try container.write(
            managedObjectClassName, .managedObjectClassName, unless: usual.managedObjectClassName)
        try container.write(isAbstract, .isAbstract, unless: usual.isAbstract)
        try container.write(superentityName, .superentityName, unless: usual.superentityName)
        try container.write(attributes, .attributes, unless: usual.attributes)
        try container.write(relationships, .relationships, unless: usual.relationships)
        try container.write(fetchedProperties, .fetchedProperties, unless: usual.fetchedProperties)
        try container.write(
            uniquenessConstraints, .uniquenessConstraints, unless: usual.uniquenessConstraints)
        try container.write(uniquenessRules, .uniquenessRules, unless: usual.uniquenessRules)
        try container.write(indexes, .indexes, unless: usual.indexes)
        try container.write(
            renamingIdentifier, .renamingIdentifier, unless: usual.renamingIdentifier)
        try container.write(
            versionHashModifier, .versionHashModifier, unless: usual.versionHashModifier)
        try container.write(userInfo, .userInfo, unless: usual.userInfo)
        try container.write(otherMarks, .otherMarks, unless: usual.otherMarks)
    }

    /// Reads a description from plain JSON.
    init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init("")
        var hasName = false
        var keys = try json.object()
        while let key = try json.key(&keys) {
            switch Key(rawValue: key) {
            case .name:
                name = try json.string()
                hasName = true
            case .managedObjectClassName: managedObjectClassName = try json.string()
            case .isAbstract: isAbstract = try json.bool()
            case .superentityName: superentityName = try json.string()
            case .attributes: attributes = try AttributeDescription.list(plain: &json)
            case .relationships:
                try json.array()
                while try json.element(after: relationships.count) {
                    relationships.append(try RelationshipDescription(plain: &json))
                }
            case .uniquenessConstraints: uniquenessConstraints = try json.stringLists()
            case .renamingIdentifier: renamingIdentifier = try json.string()
            case .versionHashModifier: versionHashModifier = try json.string()
            case .userInfo: userInfo = try json.dictionary()
            case .otherMarks: otherMarks = try json.dictionary()
            case .indexes:
                try json.array()
                while try json.element(after: indexes.count) {
                    indexes.append(try FetchIndexDescription(plain: &json))
                }
            case .fetchedProperties, .uniquenessRules, nil: throw NotPlainJSON()
            }
        }
        guard hasName else { throw NotPlainJSON() }
    }
}
