// Reads the XML of a model file into a `ManagedObjectModel`.
//
//   1. The text becomes a tree of elements with their lines.
//   2. The model's composites are read, then everything else in the order of the file; a composite
//      attribute gets a copy of its composite's elements.
//   3. What an element says and the reader does not understand is kept in `otherMarks`.
//   4. The line of every element is noted, for errors that only a schema finds.
//
// Only single elements are judged here. Whether they fit together is the schema's question.

import FoundationEssentials

struct ModelReader {
    let file: String?
    var model = ManagedObjectModel()
    var lines = ModelLines()
    var warnings: [ModelWarning] = []
    /// The composites by name.
    var composites: [String: CompositeDescription] = [:]

    /// Reads a whole file.
    static func read(_ xml: Data, file: String?) throws(ModelError) -> ModelReader {
        var reader = ModelReader(file: file)
        let root = try ElementParser.parse(xml, file: file)
        do throws(ModelError) {
            try reader.readModel(root)
        } catch {
            throw reader.lines.place(error, file: file)
        }
        return reader
    }

    private mutating func readModel(_ root: ModelElement) throws(ModelError) {
        guard root.name == "model" else {
            throw ModelError(
                .malformed, "this is not a model: the root element is \(root.name)",
                line: root.line)
        }
        var marks = Marks(root)
        if let text = marks.takeNonempty("userDefinedModelVersionIdentifier") {
            model.versionIdentifiers = [text]
        }
        for child in root.children where Self.isComposite(child) {
            try readComposite(child)
        }
        for child in root.children where !Self.isComposite(child) {
            switch child.name {
            case "entity": try readEntity(child)
            case "configuration": try readConfiguration(child, marks: &marks)
            case "fetchRequest": try readTemplate(child)
            case "elements": break  // Where the editor draws the entities.
            default: warn(unknown: child, in: "model")
            }
        }
        model.otherMarks.merge(marks.rest) { $1 }
    }

    mutating func warn(unknown element: ModelElement, in outer: String) {
        warnings.append(
            ModelWarning(
                "unknown element \(element.name) is ignored", element: outer,
                file: file, line: element.line))
    }

    /// The entries of an element's `userInfo`.
    mutating func userInfo(of element: ModelElement) throws(ModelError) -> [String: String] {
        var info: [String: String] = [:]
        for child in element.children where child.name == "userInfo" {
            for entry in child.children where entry.name == "entry" {
                info[entry.marks["key"] ?? ""] = entry.marks["value"] ?? ""
            }
        }
        return info
    }

    // MARK: Composites

    /// Composites in one another, and the elements of one with all that they hold, are limited: a small file
    /// could fill the stack or the memory.
    private static let deepestComposite = 64
    private static let largestComposite = 10_000

    private static func isComposite(_ element: ModelElement) -> Bool {
        element.name == "composite" || element.name == "compositeAttribute"
    }

    private mutating func readComposite(_ element: ModelElement) throws(ModelError) {
        var marks = Marks(element)
        let name = try marks.require("name", of: nil)
        let path = "composite \(name)"
        lines.note(path, element.line)
        var composite = CompositeDescription(name, elements: [])
        var names: Set<String> = []
        for child in element.children {
            guard child.name == "attribute" || child.name == "compositeAttribute" else {
                warn(unknown: child, in: path)
                continue
            }
            let (attribute, _) = try readAttribute(child, of: path, isComposed: true)
            guard names.insert(attribute.name).inserted else {
                throw ModelError(
                    .duplicateName, "the composite has two elements of this name",
                    element: "\(path).\(attribute.name)")
            }
            composite.elements.append(attribute)
        }
        guard composites.updateValue(composite, forKey: name) == nil else {
            throw ModelError(
                .duplicateName, "the model has two composites named \(name)", element: path)
        }
        model.composites.append(composite)
    }

    /// A composite's elements with nested composites filled in.
    func elements(ofComposite name: String, for element: String, line: Int, inside: [String] = [])
        throws(ModelError) -> [AttributeDescription]
    {
        guard let composite = composites[name] else {
            throw ModelError(
                .unknownName, "the composite \(name) is not in the model", element: element,
                line: line)
        }
        guard !inside.contains(name) else {
            throw ModelError(
                .circularInheritance,
                "the composite contains itself: \((inside + [name]).joined(separator: " → "))",
                element: "composite \(name)")
        }
        guard inside.count < Self.deepestComposite else {
            throw ModelError(
                .invalidElement,
                "composites are nested more than \(Self.deepestComposite) deep", element: element,
                line: line)
        }
        var elements: [AttributeDescription] = []
        var count = 0
        for var part in composite.elements {
            if let nested = part.compositeName {
                part.elements = try self.elements(
                    ofComposite: nested, for: "composite \(name).\(part.name)", line: line,
                    inside: inside + [name])
            }
            count += part.leafCount
            guard count <= Self.largestComposite else {
                throw ModelError(
                    .invalidElement,
                    "the composite \(name) has more than \(Self.largestComposite) elements",
                    element: element, line: line)
            }
            elements.append(part)
        }
        return elements
    }

    // MARK: Configurations and templates

    private mutating func readConfiguration(_ element: ModelElement, marks: inout Marks)
        throws(ModelError)
    {
        var own = Marks(element)
        let name = try own.require("name", of: nil)
        lines.note("configuration \(name)", element.line)
        guard model.configurations[name] == nil else {
            throw ModelError(
                .duplicateName, "the model has two configurations named \(name)",
                element: "configuration \(name)")
        }
        var members: [String] = []
        for child in element.children {
            guard child.name == "memberEntity" else {
                warn(unknown: child, in: "configuration \(name)")
                continue
            }
            var member = Marks(child)
            members.append(try member.require("name", of: "configuration \(name)"))
        }
        model.configurations[name] = members
        for (mark, text) in own.rest { model.otherMarks["configuration \(name) \(mark)"] = text }
    }

    private mutating func readTemplate(_ element: ModelElement) throws(ModelError) {
        var marks = Marks(element)
        let name = try marks.require("name", of: nil)
        let path = "fetch request \(name)"
        lines.note(path, element.line)
        var template = FetchRequestTemplate(
            name, entityName: try marks.require("entity", of: path),
            predicateFormat: marks.takeNonempty("predicateString"))
        template.fetchLimit = try marks.takeCount("fetchLimit", of: path) ?? 0
        template.fetchBatchSize = try marks.takeCount("fetchBatchSize", of: path) ?? 0
        template.resultType = try marks.takeCount("resultType", of: path) ?? 0
        template.includesSubentities = try marks.take("includeSubentities", or: true, of: path)
        template.includesPropertyValues = try marks.take(
            "includePropertyValues", or: true, of: path)
        template.includesPendingChanges = try marks.take(
            "includesPendingChanges", or: true, of: path)
        template.returnsObjectsAsFaults = try marks.take(
            "returnObjectsAsFaults", or: true, of: path)
        template.returnsDistinctResults = try marks.take(
            "returnDistinctResults", or: false, of: path)
        template.otherMarks = marks.rest
        model.fetchRequestTemplates.append(template)
    }
}

extension AttributeDescription {
    /// The single values of the attribute.
    fileprivate var leafCount: Int {
        type == .composite ? elements.reduce(0) { $0 + $1.leafCount } : 1
    }
}
