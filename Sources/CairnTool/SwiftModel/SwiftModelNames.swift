// The names of a model's classes and properties in Swift.
//
//   1. A class with a name in the model has that name, without its module; another has its entity's name.
//   2. If two classes would have the same name, or a name is not available here, the later class is renamed;
//      @Entity then has the entity's name, so that the store is the same.
//   3. A property has the model's name, in backticks if necessary. If that is impossible it is renamed, which
//      changes the store: its original name is the model's name.
//
// Names are assigned in the order of the model, classes named in it first, so that the same model always gets
// the same names.

import CairnInspection
import CairnModel

/// The names of a model's entities and properties in Swift.
struct SwiftModelNames {
    private let schema: Schema
    /// The classes, by the index of the entity.
    private(set) var classes: [String] = []
    /// The remarks about the classes' names.
    private(set) var classRemarks: [[String]] = []
    /// The types of the file.
    private var types = KnownNames.needed
    /// Renamed properties, by the index of the entity that declares them.
    private var renamed: [[String: String]] = []

    init(_ schema: Schema) {
        self.schema = schema
        nameClasses()
    }

    // MARK: Types

    private mutating func nameClasses() {
        let count = schema.entities.count
        classes = [String](repeating: "", count: count)
        classRemarks = [[String]](repeating: [], count: count)
        let wanted = schema.entities.map { Self.className(in: $0.description) }
        for (index, name) in wanted.enumerated() {
            guard let name, types.insert(name).inserted else { continue }
            classes[index] = name
            if let owner = KnownNames.owner(ofType: name) {
                classRemarks[index].append("In its module this class hides \(owner)'s \(name).")
            }
        }
        for (index, entity) in schema.entities.enumerated() where classes[index].isEmpty {
            classes[index] = claimType(madeOf: entity.name, suffix: "Object")
            guard let name = wanted[index] else { continue }
            let reason =
                KnownNames.needed.contains(name)
                ? "which means something else here" : "which is another entity's class"
            classRemarks[index].append("The model calls it \(name), \(reason).")
        }
    }

    /// Reserves and returns an unused type name.
    mutating func claimType(madeOf text: String, suffix: String) -> String {
        let name = SwiftIdentifier.typeName(madeOf: text)
        var candidate = name
        var number = 1
        while types.contains(candidate) || KnownNames.owner(ofType: candidate) != nil {
            candidate = name + suffix + (number == 1 ? "" : "\(number)")
            number += 1
        }
        types.insert(candidate)
        return candidate
    }

    /// Returns the class that a model names, if the name is valid in Swift.
    private static func className(in entity: EntityDescription) -> String? {
        guard let full = entity.managedObjectClassName,
            let last = full.split(separator: ".").last.map(String.init),
            // A class whose name requires backticks does not exist in real code.
            SwiftIdentifier.isPlain(last), SwiftIdentifier.property(last) == last,
            !["NSManagedObject", "ManagedObject"].contains(last)
        else { return nil }
        return last
    }

    // MARK: Properties

    /// Assigns names to the properties, after all types have names.
    mutating func nameProperties() {
        renamed = [[String: String]](repeating: [:], count: schema.entities.count)
        var taken: [Int: Set<String>] = [:]
        for entity in schema.entities {
            taken[entity.root, default: []].formUnion(Self.names(in: entity.description))
        }
        for entity in schema.entities {
            for name in Self.names(in: entity.description)
            where reason(against: name, in: entity) != nil {
                let made =
                    SwiftIdentifier.isPlain(name)
                    ? name : SwiftIdentifier.propertyName(madeOf: name)
                let other = Self.free(made, taken[entity.root, default: []]) { !isTaken($0) }
                taken[entity.root, default: []].insert(other)
                renamed[entity.index][name] = other
            }
        }
    }

    private static func names(in entity: EntityDescription) -> [String] {
        entity.attributes.map(\.name) + entity.relationships.map(\.name)
    }

    private func isTaken(_ name: String) -> Bool {
        KnownNames.members.contains(name) || types.contains(name)
    }

    /// Returns why a property cannot have a name; nil if it can.
    private func reason(against name: String, in entity: SchemaEntity) -> String? {
        if KnownNames.members.contains(name) { return "which is reserved in every object" }
        if types.contains(name) { return "which is a type's name here" }
        if SwiftIdentifier.property(name) == nil { return "which is not a valid Swift name" }
        if !SwiftIdentifier.isPlain(name), isOwnInverse(name, entity) {
            return "which cannot be the name of its own inverse"
        }
        return nil
    }

    /// Returns whether a relationship is its own inverse: it names itself in a string, which has no
    /// backticks.
    private func isOwnInverse(_ name: String, _ entity: SchemaEntity) -> Bool {
        guard let index = entity.relationshipIndex(named: name),
            let inverse = entity.relationships[index].inverse
        else { return false }
        let destination = schema.entities[entity.relationships[index].destination]
        let other = destination.relationships[inverse]
        return other.description.name == name && other.declaringEntity == entity.index
    }

    /// Returns a name with as few underscores at its end as make it unique.
    static func free(_ name: String, _ taken: Set<String>, where isPossible: (String) -> Bool)
        -> String
    {
        var candidate = name
        while taken.contains(candidate) || !isPossible(candidate)
            || SwiftIdentifier.property(candidate) == nil
        {
            candidate += "_"
        }
        return candidate
    }

    /// Returns a property's name in code.
    func property(_ name: String, declaredIn entity: Int) -> String {
        let name = renamed[entity][name] ?? name
        return SwiftIdentifier.property(name) ?? name
    }

    /// Whether a property is renamed.
    var renamesProperties: Bool { renamed.contains { !$0.isEmpty } }

    /// Returns the remark about a property's name; nil if it is the model's.
    func propertyRemark(_ name: String, declaredIn entity: Int) -> String? {
        guard renamed[entity][name] != nil,
            let reason = reason(against: name, in: schema.entities[entity])
        else { return nil }
        return "The model calls it \(name), \(reason)."
    }

    /// Returns whether a type has that name.
    func isType(_ name: String) -> Bool { types.contains(name) }
}
