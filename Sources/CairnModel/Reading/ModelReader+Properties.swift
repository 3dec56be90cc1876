// Reads the properties of an entity of a model file: attributes, relationships, fetched properties.

import FoundationEssentials

extension ModelReader {
    /// Reads an attribute, and whether it has the old flag `indexed`.
    mutating func readAttribute(_ element: ModelElement, of owner: String, isComposed: Bool)
        throws(ModelError) -> (AttributeDescription, isIndexed: Bool)
    {
        var marks = Marks(element)
        let name = try marks.require("name", of: owner)
        let path = "\(owner).\(name)"
        lines.note(path, element.line)
        var attribute = AttributeDescription(
            name, try type(marks.take("attributeType"), of: path, line: element.line),
            optional: try marks.take("optional", or: false, of: path))
        attribute.isTransient = try marks.take("transient", or: false, of: path)
        try readDefault(of: &attribute, from: &marks, path: path, line: element.line)
        try readLimits(of: &attribute, from: &marks, path: path, line: element.line)
        attribute.regularExpression = marks.takeNonempty("regularExpressionString")
        attribute.usesScalarValueType = try marks.take("usesScalarValueType", or: false, of: path)
        attribute.valueTransformerName = marks.takeNonempty("valueTransformerName")
        attribute.customClassName =
            marks.takeNonempty("customClassName") ?? marks.takeNonempty("attributeValueClassName")
        attribute.allowsExternalBinaryDataStorage = try marks.take(
            "allowsExternalBinaryDataStorage", or: false, of: path)
        attribute.preservesValueInHistoryOnDeletion = try marks.take(
            "preserveAfterDeletion", or: false, of: path)
        try readDerivation(of: &attribute, from: &marks, path: path, line: element.line)
        if attribute.type == .composite {
            let composite = try marks.require("composite", of: path)
            attribute.compositeName = composite
            if !isComposed {
                attribute.elements = try elements(
                    ofComposite: composite, for: path, line: element.line)
            }
        }
        attribute.renamingIdentifier = takeRenamingIdentifier(&marks)
        attribute.versionHashModifier = marks.takeNonempty("versionHashModifier")
        attribute.userInfo = try userInfo(of: element)
        let isIndexed = try marks.take("indexed", or: false, of: path)
        attribute.otherMarks = marks.rest
        for child in element.children where child.name != "userInfo" {
            warn(unknown: child, in: path)
        }
        return (attribute, isIndexed)
    }

    private func type(_ text: String?, of path: String, line: Int) throws(ModelError)
        -> AttributeType
    {
        guard let text else { return .undefined }
        guard let type = AttributeType(modelText: text) else {
            throw ModelError(
                .invalidElement, "unknown attribute type \(text)", element: path,
                line: line)
        }
        return type
    }

    private func readDefault(
        of attribute: inout AttributeDescription, from marks: inout Marks, path: String, line: Int
    ) throws(ModelError) {
        let mark = attribute.type == .date ? "defaultDateTimeInterval" : "defaultValueString"
        // No text gives a transformable or binary value: what stands there is kept as it is.
        switch attribute.type {
        case .transformable, .binary, .undefined, .objectID, .composite: return
        default: break
        }
        let text = attribute.type == .string ? marks.take(mark) : marks.takeNonempty(mark)
        guard let text else { return }
        guard let value = Value(modelText: text, type: attribute.type) else {
            throw ModelError(
                .invalidValue,
                "the default \(text) is not a value of type \(attribute.type.rawValue)",
                element: path, line: line)
        }
        attribute.defaultValue = value
    }

    private func readLimits(
        of attribute: inout AttributeDescription, from marks: inout Marks, path: String, line: Int
    ) throws(ModelError) {
        switch attribute.type {
        case .string:
            attribute.minimumLength = try marks.takeCount("minValueString", of: path)
            attribute.maximumLength = try marks.takeCount("maxValueString", of: path)
        case .date:
            // Old files repeat the limits as a text of the author's region, which is kept but not read.
            attribute.minimumValue = try limit(
                "minDateTimeInterval", .date, of: path, from: &marks, line: line)
            attribute.maximumValue = try limit(
                "maxDateTimeInterval", .date, of: path, from: &marks, line: line)
        case .integer16, .integer32, .integer64, .decimal, .double, .float:
            attribute.minimumValue = try limit(
                "minValueString", attribute.type, of: path, from: &marks, line: line)
            attribute.maximumValue = try limit(
                "maxValueString", attribute.type, of: path, from: &marks, line: line)
        default:
            break
        }
    }

    private func limit(
        _ mark: String, _ type: AttributeType, of path: String, from marks: inout Marks, line: Int
    ) throws(ModelError) -> Value? {
        guard let text = marks.takeNonempty(mark) else { return nil }
        guard let value = Value(modelText: text, type: type) else {
            throw ModelError(
                .invalidValue, "\(mark) \(text) is not a value of type \(type.rawValue)",
                element: path, line: line)
        }
        return value
    }

    private func readDerivation(
        of attribute: inout AttributeDescription, from marks: inout Marks, path: String, line: Int
    ) throws(ModelError) {
        guard try marks.take("derived", or: false, of: path) else { return }
        attribute.derivationExpression = try marks.require("derivationExpression", of: path)
    }

    /// Reads a relationship; also tells whether it bears the old mark of an index.
    mutating func readRelationship(_ element: ModelElement, of owner: String)
        throws(ModelError) -> (RelationshipDescription, isIndexed: Bool)
    {
        var marks = Marks(element)
        let name = try marks.require("name", of: owner)
        let path = "\(owner).\(name)"
        lines.note(path, element.line)
        var relationship = RelationshipDescription(
            name, to: try marks.require("destinationEntity", of: path),
            toMany: try marks.take("toMany", or: false, of: path),
            inverse: marks.takeNonempty("inverseName"))
        relationship.isOrdered = try marks.take("ordered", or: false, of: path)
        relationship.isOptional = try marks.take("optional", or: false, of: path)
        relationship.isTransient = try marks.take("transient", or: false, of: path)
        relationship.minimumCount = try marks.takeCount("minCount", of: path) ?? 0
        let maximum = try marks.takeCount("maxCount", of: path)
        relationship.maximumCount = relationship.isToMany ? maximum ?? 0 : 1
        if let rule = marks.take("deletionRule") {
            guard let known = DeleteRule(modelText: rule) else {
                throw ModelError(
                    .invalidElement, "unknown delete rule \(rule)", element: path,
                    line: element.line)
            }
            relationship.deleteRule = known
        }
        // Always the destination in what the editor writes. The schema looks there, whatever stands here.
        if let inverseEntity = marks.takeNonempty("inverseEntity"),
            inverseEntity != relationship.destinationEntityName
        {
            warnings.append(
                ModelWarning(
                    "the inverse is declared in \(inverseEntity), but the relationship's destination is "
                        + relationship.destinationEntityName,
                    element: path, file: file, line: element.line))
        }
        relationship.renamingIdentifier = takeRenamingIdentifier(&marks)
        relationship.versionHashModifier = marks.takeNonempty("versionHashModifier")
        relationship.userInfo = try userInfo(of: element)
        let isIndexed = try marks.take("indexed", or: false, of: path)
        relationship.otherMarks = marks.rest
        for child in element.children where child.name != "userInfo" {
            warn(unknown: child, in: path)
        }
        return (relationship, isIndexed)
    }

    mutating func readFetchedProperty(_ element: ModelElement, of owner: String)
        throws(ModelError) -> FetchedPropertyDescription
    {
        var marks = Marks(element)
        let name = try marks.require("name", of: owner)
        let path = "\(owner).\(name)"
        lines.note(path, element.line)
        guard let request = element.children.first(where: { $0.name == "fetchRequest" }) else {
            throw ModelError(
                .invalidElement, "the fetched property has no fetchRequest", element: path,
                line: element.line)
        }
        var inner = Marks(request)
        var property = FetchedPropertyDescription(
            name, entityName: try inner.require("entity", of: path),
            predicateFormat: inner.takeNonempty("predicateString"))
        // Its name is the same in every file.
        _ = inner.take("name")
        property.isOptional = try marks.take("optional", or: false, of: path)
        property.userInfo = try userInfo(of: element)
        property.otherMarks = marks.rest
        for (mark, text) in inner.rest { property.otherMarks["fetchRequest \(mark)"] = text }
        return property
    }
}

extension AttributeType {
    /// The type that a model file means.
    init?(modelText text: String) {
        switch text {
        case "Integer 16": self = .integer16
        case "Integer 32": self = .integer32
        case "Integer 64": self = .integer64
        case "Decimal": self = .decimal
        case "Double": self = .double
        case "Float": self = .float
        case "String": self = .string
        case "Boolean": self = .boolean
        case "Date": self = .date
        case "Binary", "Binary Data": self = .binary
        case "UUID": self = .uuid
        case "URI": self = .uri
        case "Transformable": self = .transformable
        case "ObjectID": self = .objectID
        case "Composite": self = .composite
        case "Undefined": self = .undefined
        default: return nil
        }
    }
}

extension DeleteRule {
    /// The rule that a model file means.
    init?(modelText text: String) {
        switch text {
        case "No Action": self = .noAction
        case "Nullify": self = .nullify
        case "Cascade": self = .cascade
        case "Deny": self = .deny
        default: return nil
        }
    }
}
