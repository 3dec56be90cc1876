// Reads the entities of a model file, with their constraints and indexes.

import FoundationEssentials

extension ModelReader {
    mutating func readEntity(_ element: ModelElement) throws(ModelError) {
        var marks = Marks(element)
        let name = try marks.require("name", of: nil)
        lines.note(name, element.line)
        var entity = EntityDescription(name)
        entity.managedObjectClassName = marks.takeNonempty("representedClassName")
        entity.superentityName = marks.takeNonempty("parentEntity")
        entity.isAbstract = try marks.take("isAbstract", or: false, of: name)
        entity.renamingIdentifier = takeRenamingIdentifier(&marks)
        entity.versionHashModifier = marks.takeNonempty("versionHashModifier")
        entity.userInfo = try userInfo(of: element)
        for child in element.children {
            try readPart(child, of: &entity)
        }
        entity.otherMarks = marks.rest
        model.entities.append(entity)
    }

    private mutating func readPart(_ child: ModelElement, of entity: inout EntityDescription)
        throws(ModelError)
    {
        switch child.name {
        case "attribute":
            let (attribute, isIndexed) = try readAttribute(
                child, of: entity.name, isComposed: false)
            entity.attributes.append(attribute)
            if isIndexed { addOldIndex(on: attribute.name, to: &entity, line: child.line) }
        case "relationship":
            let (relationship, isIndexed) = try readRelationship(child, of: entity.name)
            entity.relationships.append(relationship)
            if isIndexed { addOldIndex(on: relationship.name, to: &entity, line: child.line) }
        case "fetchedProperty":
            entity.fetchedProperties.append(try readFetchedProperty(child, of: entity.name))
        case "fetchIndex":
            entity.indexes.append(try readFetchIndex(child, of: entity.name))
        case "compoundIndexes":
            for compound in child.children { try readCompoundIndex(compound, of: &entity) }
        case "uniquenessConstraints":
            for constraint in child.children { try readConstraint(constraint, of: &entity) }
        case "userInfo":
            break  // Read with the element that it belongs to.
        default:
            warn(unknown: child, in: entity.name)
        }
    }

    /// The old spelling is the one that Xcode's editor still writes.
    mutating func takeRenamingIdentifier(_ marks: inout Marks) -> String? {
        marks.takeNonempty("renamingIdentifier") ?? marks.takeNonempty("elementID")
    }

    private mutating func readConstraint(
        _ element: ModelElement, of entity: inout EntityDescription
    ) throws(ModelError) {
        var names: [String] = []
        for child in element.children where child.name == "constraint" {
            var marks = Marks(child)
            names.append(try marks.require("value", of: entity.name))
        }
        lines.note(
            "\(entity.name), uniqueness constraint (\(names.joined(separator: ", ")))", element.line
        )
        entity.uniquenessConstraints.append(names)
    }

    // MARK: Indexes

    private mutating func readFetchIndex(_ element: ModelElement, of entity: String)
        throws(ModelError) -> FetchIndexDescription
    {
        var marks = Marks(element)
        let name = try marks.require("name", of: entity)
        let path = "\(entity), index \(name)"
        lines.note(path, element.line)
        var index = FetchIndexDescription(name, elements: [])
        index.partialIndexPredicate = marks.takeNonempty("partialIndexPredicate")
        index.userInfo = try userInfo(of: element)
        index.otherMarks = marks.rest
        for child in element.children where child.name != "userInfo" {
            guard child.name == "fetchIndexElement" else {
                warn(unknown: child, in: path)
                continue
            }
            index.elements.append(try readIndexElement(child, of: path))
        }
        return index
    }

    private func readIndexElement(_ element: ModelElement, of path: String) throws(ModelError)
        -> FetchIndexDescription.Element
    {
        var marks = Marks(element)
        var part: FetchIndexDescription.Element
        if let property = marks.takeNonempty("property") {
            part = FetchIndexDescription.Element(property)
        } else if let expression = marks.takeNonempty("expression") {
            part = FetchIndexDescription.Element(
                expression: expression, type: marks.takeNonempty("expressionType"))
        } else {
            throw ModelError(
                .invalidElement, "an element has neither a property nor an expression",
                element: path, line: element.line)
        }
        switch marks.take("type")?.lowercased() {
        case nil, "binary": part.kind = .binary
        case "rtree": part.kind = .rTree
        case .some(let text):
            throw ModelError(
                .invalidElement, "unknown index type \(text)", element: path,
                line: element.line)
        }
        switch marks.take("order")?.lowercased() {
        case nil, "ascending": part.isAscending = true
        case "descending": part.isAscending = false
        case .some(let text):
            throw ModelError(
                .invalidElement, "the order \(text) is neither ascending nor descending",
                element: path, line: element.line)
        }
        return part
    }

    private mutating func readCompoundIndex(
        _ element: ModelElement, of entity: inout EntityDescription
    ) throws(ModelError) {
        var names: [String] = []
        for child in element.children where child.name == "index" {
            var marks = Marks(child)
            names.append(try marks.require("value", of: entity.name))
        }
        let name = "compound " + names.joined(separator: ", ")
        lines.note("\(entity.name), index \(name)", element.line)
        var index = FetchIndexDescription(
            name, elements: names.map { FetchIndexDescription.Element($0) })
        index.form = .compoundIndex
        entity.indexes.append(index)
    }

    private mutating func addOldIndex(
        on property: String, to entity: inout EntityDescription, line: Int
    ) {
        let name = "indexed \(property)"
        lines.note("\(entity.name), index \(name)", line)
        var index = FetchIndexDescription(name, elements: [.init(property)])
        index.form = .indexed
        entity.indexes.append(index)
    }
}
