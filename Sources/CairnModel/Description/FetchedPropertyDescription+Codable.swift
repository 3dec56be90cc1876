// How FetchedPropertyDescription is encoded: see CodingShortcuts.

extension FetchedPropertyDescription: Codable {
    private enum Key: String, CodingKey {
        case name, isOptional, entityName, predicateFormat, sortDescriptors, userInfo, otherMarks
    }

    /// Decodes a description. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        let entityName = try container.decode(String.self, forKey: .entityName)
        self.init(name, entityName: entityName, predicateFormat: nil)
        try container.read(&isOptional, .isOptional)
        try container.read(&predicateFormat, .predicateFormat)
        try container.read(&sortDescriptors, .sortDescriptors)
        try container.read(&userInfo, .userInfo)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Encodes the description without its default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(entityName, forKey: .entityName)
        let usual = FetchedPropertyDescription(
            name, entityName: entityName, predicateFormat: nil)
        try container.write(isOptional, .isOptional, unless: usual.isOptional)
        try container.write(predicateFormat, .predicateFormat, unless: usual.predicateFormat)
        try container.write(sortDescriptors, .sortDescriptors, unless: usual.sortDescriptors)
        try container.write(userInfo, .userInfo, unless: usual.userInfo)
        try container.write(otherMarks, .otherMarks, unless: usual.otherMarks)
    }
}
