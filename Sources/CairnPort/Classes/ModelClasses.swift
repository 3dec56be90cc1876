// The classes of a model in the tree: those that Xcode would generate, and those that are missing.
//
//   1. "Class Definition" means both files, "Category/Extension" the properties only: those files are in no source tree, as
//      Xcode writes them while it builds. They are written here unless the sources have the class or its properties.
//   2. "Manual/None" means that the sources have the class. If they have not, that is reported.
//   3. A class that the model calls otherwise than Swift, which @objc(Name) makes possible, is not found on Linux.

import CairnInspection
import CairnModel
import FoundationEssentials

/// The classes of a model.
struct ModelClasses {
    /// What Xcode generates for an entity.
    private enum Generation { case nothing, properties, classAndProperties }

    /// The model, as it was found.
    let path: String
    private let model: ManagedObjectModel
    /// The classes, by the entity's name.
    private let classNames: [String: String]

    /// Reads the current version of a model.
    ///
    /// - Throws: `ModelError` if it is none.
    init(contentsOfFile path: String) throws(ModelError) {
        self.path = path
        model = try ModelVersions(contentsOfFile: path).readCurrent().model
        var names: [String: String] = [:]
        for entity in model.entities {
            guard let name = entity.managedObjectClassName?.split(separator: ".").last,
                name != "NSManagedObject"
            else { continue }
            names[entity.name] = String(name)
        }
        classNames = names
    }

    /// The names of the classes that Xcode generates.
    var generatedClasses: Set<String> {
        Set(
            model.entities.filter { Self.generation(of: $0) == .classAndProperties }
                .compactMap { classNames[$0.name] })
    }

    /// The names of the properties that Xcode generates as sets of Foundation.
    var generatedSets: Set<String> {
        Set(
            model.entities.filter { Self.generation(of: $0) != .nothing }
                .flatMap(\.relationships).filter { $0.isToMany && !$0.isOrdered }.map(\.name))
    }

    private static func generation(of entity: EntityDescription) -> Generation {
        switch entity.otherMarks["codeGenerationType"] {
        case "class": .classAndProperties
        case "category": .properties
        default: .nothing
        }
    }

    /// The files to be written, and what is missing.
    ///
    /// - Parameters:
    ///   - code: what the sources declare.
    ///   - folder: where the files go; nil: beside the model.
    ///   - buildsOnApple: whether Xcode generates the same classes where it builds.
    func files(for code: KnownCode, in folder: String?, buildsOnApple: Bool)
        -> (files: [GeneratedFile], findings: [Finding])
    {
        var files: [GeneratedFile] = []
        var findings: [Finding] = []
        var seen: Set<String> = []
        let place = (folder ?? Self.folder(of: path)).map { "\($0)/" } ?? ""
        for entity in model.entities {
            guard let name = classNames[entity.name], seen.insert(name).inserted else { continue }
            let generation = Self.generation(of: entity)
            let isDeclared = code.declaredClasses.contains(name)
            guard SwiftIdentifier.isPlain(name), generation != .nothing,
                isDeclared || generation == .classAndProperties
            else {
                if !isDeclared { findings.append(missing(name, of: entity, code)) }
                continue
            }
            let writer = ClassWriter(
                model: model, classNames: classNames, entity: entity, name: name,
                source: Self.name(of: path), buildsOnApple: buildsOnApple)
            func add(_ part: String, _ text: String) {
                files.append(
                    GeneratedFile(path: "\(place)\(name)+CoreData\(part).swift", text: text))
            }
            if !isDeclared { add("Class", writer.classText) }
            let own = Set(entity.attributes.map(\.name) + entity.relationships.map(\.name))
            let declared = code.managedProperties[name] ?? []
            if declared.isDisjoint(with: own) { add("Properties", writer.propertiesText) }
        }
        return (files, findings)
    }

    private func missing(_ name: String, of entity: EntityDescription, _ code: KnownCode)
        -> Finding
    {
        if let other = code.objectiveCClasses[name] {
            return Finding(
                file: path, line: nil, subject: "the class \(name) of the entity \(entity.name)",
                reason: "its Swift name is \(other), and on Linux classes have no second name",
                advice: "set the entity's class in the model to \(other)")
        }
        return Finding(
            file: path, line: nil, subject: "the class \(name) of the entity \(entity.name)",
            reason: "the sources do not declare it",
            advice:
                "also name the folder that declares it, or choose Class Definition in Xcode's editor and run this again"
        )
    }

    private static func folder(of path: String) -> String? {
        path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    private static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
