// How FetchRequestTemplate is encoded: see CodingShortcuts.

extension FetchRequestTemplate: Codable {
    private enum Key: String, CodingKey {
        case name, entityName, predicateFormat, fetchLimit, fetchBatchSize, resultType,
            includesSubentities, includesPropertyValues, includesPendingChanges,
            returnsObjectsAsFaults, returnsDistinctResults, otherMarks
    }

    /// Decodes a description. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        let entityName = try container.decode(String.self, forKey: .entityName)
        self.init(name, entityName: entityName, predicateFormat: nil)
        try container.read(&predicateFormat, .predicateFormat)
        try container.read(&fetchLimit, .fetchLimit)
        try container.read(&fetchBatchSize, .fetchBatchSize)
        try container.read(&resultType, .resultType)
        try container.read(&includesSubentities, .includesSubentities)
        try container.read(&includesPropertyValues, .includesPropertyValues)
        try container.read(&includesPendingChanges, .includesPendingChanges)
        try container.read(&returnsObjectsAsFaults, .returnsObjectsAsFaults)
        try container.read(&returnsDistinctResults, .returnsDistinctResults)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Encodes the description without its default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(entityName, forKey: .entityName)
        let usual = FetchRequestTemplate(name, entityName: entityName, predicateFormat: nil)
        try container.write(predicateFormat, .predicateFormat, unless: usual.predicateFormat)
        try container.write(fetchLimit, .fetchLimit, unless: usual.fetchLimit)
        try container.write(fetchBatchSize, .fetchBatchSize, unless: usual.fetchBatchSize)
        try container.write(resultType, .resultType, unless: usual.resultType)
        try container.write(
            includesSubentities, .includesSubentities, unless: usual.includesSubentities)
        try container.write(
            includesPropertyValues, .includesPropertyValues, unless: usual.includesPropertyValues)
        try container.write(
            includesPendingChanges, .includesPendingChanges, unless: usual.includesPendingChanges)
        try container.write(
            returnsObjectsAsFaults, .returnsObjectsAsFaults, unless: usual.returnsObjectsAsFaults)
        try container.write(
            returnsDistinctResults, .returnsDistinctResults, unless: usual.returnsDistinctResults)
        try container.write(otherMarks, .otherMarks, unless: usual.otherMarks)
    }
}
