// How RelationshipDescription is encoded: see CodingShortcuts.

extension RelationshipDescription: Codable {
    private enum Key: String, CodingKey {
        case name, destinationEntityName, inverseName, isToMany, isOrdered, isOptional, isTransient,
            minimumCount, maximumCount, deleteRule, renamingIdentifier, versionHashModifier,
            userInfo, otherMarks
    }

    /// Decodes a description. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        let destinationEntityName = try container.decode(
            String.self, forKey: .destinationEntityName)
        let isToMany = try container.decode(Bool.self, forKey: .isToMany)
        self.init(name, to: destinationEntityName, toMany: isToMany)
        try container.read(&inverseName, .inverseName)
        try container.read(&isOrdered, .isOrdered)
        try container.read(&isOptional, .isOptional)
        try container.read(&isTransient, .isTransient)
        try container.read(&minimumCount, .minimumCount)
        try container.read(&maximumCount, .maximumCount)
        try container.read(&deleteRule, .deleteRule)
        try container.read(&renamingIdentifier, .renamingIdentifier)
        try container.read(&versionHashModifier, .versionHashModifier)
        try container.read(&userInfo, .userInfo)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Encodes the description without its default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(destinationEntityName, forKey: .destinationEntityName)
        try container.encode(isToMany, forKey: .isToMany)
        let usual = RelationshipDescription(name, to: destinationEntityName, toMany: isToMany)
        try container.write(inverseName, .inverseName, unless: usual.inverseName)
        try container.write(isOrdered, .isOrdered, unless: usual.isOrdered)
        try container.write(isOptional, .isOptional, unless: usual.isOptional)
        try container.write(isTransient, .isTransient, unless: usual.isTransient)
        try container.write(minimumCount, .minimumCount, unless: usual.minimumCount)
        try container.write(maximumCount, .maximumCount, unless: usual.maximumCount)
        try container.write(deleteRule, .deleteRule, unless: usual.deleteRule)
        try container.write(
            renamingIdentifier, .renamingIdentifier, unless: usual.renamingIdentifier)
        try container.write(
            versionHashModifier, .versionHashModifier, unless: usual.versionHashModifier)
        try container.write(userInfo, .userInfo, unless: usual.userInfo)
        try container.write(otherMarks, .otherMarks, unless: usual.otherMarks)
    }

    /// Reads a description from plain JSON.
    init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init("", to: "")
        var (hasName, hasDestination, hasToMany) = (false, false, false)
        var keys = try json.object()
        while let key = try json.key(&keys) {
            switch Key(rawValue: key) {
            case .name:
                name = try json.string()
                hasName = true
            case .destinationEntityName:
                destinationEntityName = try json.string()
                hasDestination = true
            case .isToMany:
                // Comes before `maximumCount`, whose usual value depends on it.
                isToMany = try json.bool()
                maximumCount = RelationshipDescription("", to: "", toMany: isToMany).maximumCount
                hasToMany = true
            case .inverseName: inverseName = try json.string()
            case .isOrdered: isOrdered = try json.bool()
            case .isOptional: isOptional = try json.bool()
            case .isTransient: isTransient = try json.bool()
            case .minimumCount: minimumCount = try json.int()
            case .maximumCount: maximumCount = try json.int()
            case .deleteRule:
                guard let known = DeleteRule(rawValue: try json.string()) else {
                    throw NotPlainJSON()
                }
                deleteRule = known
            case .renamingIdentifier: renamingIdentifier = try json.string()
            case .versionHashModifier: versionHashModifier = try json.string()
            case .userInfo: userInfo = try json.dictionary()
            case .otherMarks: otherMarks = try json.dictionary()
            case nil: throw NotPlainJSON()
            }
        }
        guard hasName, hasDestination, hasToMany else { throw NotPlainJSON() }
    }
}
