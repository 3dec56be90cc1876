// How AttributeDescription is encoded: see CodingShortcuts.

extension AttributeDescription: Codable {
    private enum Key: String, CodingKey {
        case name, type, isOptional, isTransient, defaultValue, minimumValue, maximumValue,
            minimumLength, maximumLength, regularExpression, validationRules,
            derivationExpression, elements,
            compositeName, valueTransformerName, customClassName, allowsExternalBinaryDataStorage,
            preservesValueInHistoryOnDeletion, usesScalarValueType, renamingIdentifier,
            versionHashModifier, userInfo, otherMarks
    }

    /// Decodes a description. Missing keys have their default values.
    public init(from decoder: any Decoder) throws {
        try decoder.checkKeys(Key.self)
        let container = try decoder.container(keyedBy: Key.self)
        let name = try container.decode(String.self, forKey: .name)
        let type = try container.decode(AttributeType.self, forKey: .type)
        self.init(name, type)
        try container.read(&isOptional, .isOptional)
        try container.read(&isTransient, .isTransient)
        try container.read(&defaultValue, .defaultValue)
        try container.read(&minimumValue, .minimumValue)
        try container.read(&maximumValue, .maximumValue)
        try container.read(&minimumLength, .minimumLength)
        try container.read(&maximumLength, .maximumLength)
        try container.read(&regularExpression, .regularExpression)
        try container.read(&validationRules, .validationRules)
        try container.read(&derivationExpression, .derivationExpression)
        try container.read(&elements, .elements)
        try container.read(&compositeName, .compositeName)
        try container.read(&valueTransformerName, .valueTransformerName)
        try container.read(&customClassName, .customClassName)
        try container.read(&allowsExternalBinaryDataStorage, .allowsExternalBinaryDataStorage)
        try container.read(&preservesValueInHistoryOnDeletion, .preservesValueInHistoryOnDeletion)
        try container.read(&usesScalarValueType, .usesScalarValueType)
        try container.read(&renamingIdentifier, .renamingIdentifier)
        try container.read(&versionHashModifier, .versionHashModifier)
        try container.read(&userInfo, .userInfo)
        try container.read(&otherMarks, .otherMarks)
    }

    /// Encodes the description without its default values.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(type, forKey: .type)
        let usual = AttributeDescription(name, type)
        try container.write(isOptional, .isOptional, unless: usual.isOptional)
        try container.write(isTransient, .isTransient, unless: usual.isTransient)
        try container.write(defaultValue, .defaultValue, unless: usual.defaultValue)
        try container.write(minimumValue, .minimumValue, unless: usual.minimumValue)
        try container.write(maximumValue, .maximumValue, unless: usual.maximumValue)
        try container.write(minimumLength, .minimumLength, unless: usual.minimumLength)
        try container.write(maximumLength, .maximumLength, unless: usual.maximumLength)
        try container.write(regularExpression, .regularExpression, unless: usual.regularExpression)
        try container.write(validationRules, .validationRules, unless: usual.validationRules)
        try container.write(
            derivationExpression, .derivationExpression, unless: usual.derivationExpression)
        try container.write(elements, .elements, unless: usual.elements)
        try container.write(compositeName, .compositeName, unless: usual.compositeName)
        try container.write(
            valueTransformerName, .valueTransformerName, unless: usual.valueTransformerName)
        try container.write(customClassName, .customClassName, unless: usual.customClassName)
        try container.write(
            allowsExternalBinaryDataStorage, .allowsExternalBinaryDataStorage,
            unless: usual.allowsExternalBinaryDataStorage)
        try container.write(
            preservesValueInHistoryOnDeletion, .preservesValueInHistoryOnDeletion,
            unless: usual.preservesValueInHistoryOnDeletion)
        try container.write(
            usesScalarValueType, .usesScalarValueType, unless: usual.usesScalarValueType)
        try container.write(
            renamingIdentifier, .renamingIdentifier, unless: usual.renamingIdentifier)
        try container.write(
            versionHashModifier, .versionHashModifier, unless: usual.versionHashModifier)
        try container.write(userInfo, .userInfo, unless: usual.userInfo)
        try container.write(otherMarks, .otherMarks, unless: usual.otherMarks)
    }

    /// Reads a description from plain JSON.
    init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self.init("", .undefined)
        var (hasName, hasType) = (false, false)
        var keys = try json.object()
        while let key = try json.key(&keys) {
            switch Key(rawValue: key) {
            case .name:
                name = try json.string()
                hasName = true
            case .type:
                guard let known = AttributeType(rawValue: try json.string()) else {
                    throw NotPlainJSON()
                }
                type = known
                hasType = true
            case .isOptional: isOptional = try json.bool()
            case .isTransient: isTransient = try json.bool()
            case .defaultValue: defaultValue = try Value(plain: &json)
            case .minimumValue: minimumValue = try Value(plain: &json)
            case .maximumValue: maximumValue = try Value(plain: &json)
            case .minimumLength: minimumLength = try json.int()
            case .maximumLength: maximumLength = try json.int()
            case .regularExpression: regularExpression = try json.string()
            case .derivationExpression: derivationExpression = try json.string()
            case .elements: elements = try Self.list(plain: &json)
            case .compositeName: compositeName = try json.string()
            case .valueTransformerName: valueTransformerName = try json.string()
            case .customClassName: customClassName = try json.string()
            case .allowsExternalBinaryDataStorage:
                allowsExternalBinaryDataStorage = try json.bool()
            case .preservesValueInHistoryOnDeletion:
                preservesValueInHistoryOnDeletion = try json.bool()
            case .usesScalarValueType: usesScalarValueType = try json.bool()
            case .renamingIdentifier: renamingIdentifier = try json.string()
            case .versionHashModifier: versionHashModifier = try json.string()
            case .userInfo: userInfo = try json.dictionary()
            case .otherMarks: otherMarks = try json.dictionary()
            // Seldom: the general decoder reads predicates.
            case .validationRules, nil: throw NotPlainJSON()
            }
        }
        guard hasName, hasType else { throw NotPlainJSON() }
    }

    /// Reads a list of descriptions from plain JSON.
    static func list(plain json: inout PlainJSON) throws(NotPlainJSON) -> [AttributeDescription] {
        var list: [AttributeDescription] = []
        try json.array()
        while try json.element(after: list.count) {
            list.append(try AttributeDescription(plain: &json))
        }
        return list
    }
}
