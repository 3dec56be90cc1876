// How FetchIndexDescription is written: see CodingShortcuts.

extension FetchIndexDescription: Codable {
    private enum Key: String, CodingKey {
        case name, form, elements, partialIndexPredicate, userInfo, otherMarks
    }

    /// Reads a description; what is missing has its usual value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        self.init(name, elements: [])
        try container.read(&form, .form)
        try container.read(&elements, .elements)
        try container.read(&partialIndexPredicate, .partialIndexPredicate)
        try container.read(&userInfo, .userInfo)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Writes what does not have its usual value.
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
}
