// What a typed class says of itself: its entity, and its persistent properties with their numbers.
//
// A property's number counts through the inheritance chain: the parent's properties come first. Accessors
// know the number; which column or relationship it is in a store's schema is the business of
// `EntityBinding`.
//
// Invariants: immutable but for the caches of key paths; a property has one number in a class and all its
// subclasses.
// Threads: any.

public import CairnModel

/// The description of a typed class. Created by generated code for each `@Entity` class.
public final class TypedEntity: Sendable {
    /// The entity's name.
    public let name: String
    /// The class.
    public let type: ManagedObject.Type
    /// The description of the superclass, if that is an entity too.
    public let parent: TypedEntity?
    /// Persistent properties by number, inherited ones first.
    let properties: [TypedProperty]
    private let ownStart: Int
    private let isAbstract: Bool
    private let originalName: String?
    private let hashModifier: String?
    private let mergeRule: MergeRule?
    private let uniquenessConstraints: [[String]]
    private let uniquenessRules: [UniquenessRule]
    private let indexes: [[String]]
    private let lookUp: @Sendable (AnyKeyPath) -> Int?
    /// The key paths of properties, by number, and what `_identity` stands for among them; see `KeyPathSearch`.
    let paths: @Sendable (Int) -> PropertyPaths?
    /// The numbers of the properties that paths lead to.
    let known = KnownPaths<Int?>()
    /// The keys of paths across relationships and into composite values.
    private let knownKeys = KnownPaths<String?>()
    /// Numbers of properties whose default has to be computed for each new object.
    let computedDefaults: [Int]
    /// Numbers of the properties that have a `validate…` method.
    let validated: [Int]
    /// What objects of the class validate themselves.
    let ownValidation: OwnValidation
    /// Whether the class, or one that it inherits from, looks at its objects as a whole before they are saved.
    let validatesObjects: Bool

    /// Describes a class. In an index a key whose values descend has a `-` before it.
    ///
    /// - Parameters:
    ///   - validated: the numbers, from 0, of its own properties that have a `validate…` method.
    ///   - validates: whether it overrides ``ManagedObject/validateValue(_:forKey:)``.
    ///   - validatesObjects: whether it overrides ``ManagedObject/validateForInsert()`` or
    ///     ``ManagedObject/validateForUpdate()``.
    public init(
        _ name: String, _ type: ManagedObject.Type, parent: ManagedObject.Type,
        isAbstract: Bool = false, originalName: String? = nil, hashModifier: String? = nil,
        mergeRule: MergeRule? = nil, properties: [TypedProperty], unique: [[String]] = [],
        rules: [UniquenessRule] = [],
        indexes: [[String]] = [], validated: [Int] = [], validates: Bool = false,
        validatesObjects: Bool = false,
        paths: @escaping @Sendable (Int) -> PropertyPaths? = { _ in nil },
        number: @escaping @Sendable (AnyKeyPath) -> Int?
    ) {
        self.name = name
        self.type = type
        self.parent = parent._typedEntity
        self.validatesObjects = validatesObjects || self.parent?.validatesObjects == true
        self.isAbstract = isAbstract
        self.originalName = originalName
        self.hashModifier = hashModifier
        self.mergeRule = mergeRule
        let inherited = self.parent?.properties ?? []
        ownStart = inherited.count
        self.properties = inherited + properties
        uniquenessConstraints = unique
        uniquenessRules = rules
        self.indexes = indexes
        let validated =
            (self.parent?.validated ?? []) + validated.map { [ownStart] in ownStart + $0 }
        self.validated = validated
        ownValidation =
            switch OwnValidation(of: parent) {
            case .all: .all
            case .none, .properties:
                validates ? .all : validated.isEmpty ? .none : .properties(validated)
            }
        lookUp = number
        self.paths = paths
        computedDefaults = self.properties.indices.filter { [properties = self.properties] in
            properties[$0].prepare != nil
        }
    }

    /// The number that represents the object's id among the numbers of properties.
    public static var _identity: Int { -1 }

    /// The key of the stored property that a key path leads to: its name, or a dotted one across to-one relationships or into
    /// a composite value.
    ///
    /// Nil also if there is so much that the path could lead to that `KeyPathSearch` gives up before it is found.
    ///
    /// - Complexity: O(1) once the path has been asked for, unless very many others have been since. The first time, O(n) in
    ///   the properties of the entities that as many relationships lead to as the path has, each as often as there are ways to
    ///   it; a path that leads nowhere is looked for along all ways, of which there is an end.
    func key(of path: AnyKeyPath) -> String? {
        if let number = number(of: path) {
            return number == Self._identity ? nil : properties[number].name
        }
        return knownKeys.answer(for: path) { KeyPathSearch(path, of: self)?.key() }
    }

    /// The number of the property that a key path of the class or an ancestor leads to; nil if it is none.
    ///
    /// - Complexity: O(1) once the path has been asked for.
    func number(of path: AnyKeyPath) -> Int? {
        known.answer(for: path) { lookUp(path) ?? parent?.number(of: path) }
    }

    /// The entity in a model.
    ///
    /// - Precondition: the destinations of its relationships are typed entities.
    var description: EntityDescription {
        var entity = EntityDescription(name)
        entity.managedObjectClassName = "\(type)"
        entity.isAbstract = isAbstract
        entity.superentityName = parent?.name
        entity.renamingIdentifier = originalName
        entity.versionHashModifier = hashModifier
        if mergeRule != nil { entity.mergeRule = mergeRule }
        for property in properties[ownStart...] {
            switch property.content {
            case .attribute(let attribute, _): entity.attributes.append(attribute)
            case .relationship(var relationship, let destination):
                relationship.destinationEntityName = Self.of(destination).name
                entity.relationships.append(relationship)
            }
        }
        entity.uniquenessConstraints = uniquenessConstraints
        entity.uniquenessRules = uniquenessRules
        for keys in indexes {
            var index = FetchIndexDescription(keys: keys)
            let name = index.name
            var number = 1
            // `a.b` and `aB` have one name.
            while entity.indexes.contains(where: { $0.name == index.name }) {
                number += 1
                index.name = "\(name)\(number)"
            }
            entity.indexes.append(index)
        }
        return entity
    }

    /// The classes that its relationships lead to.
    var destinations: [ManagedObject.Type] {
        properties.compactMap {
            if case .relationship(_, let destination) = $0.content { destination } else { nil }
        }
    }

    /// The description of a class that must have one.
    static func of(_ type: ManagedObject.Type) -> TypedEntity {
        guard let entity = type._typedEntity else {
            preconditionFailure("\(type) is not marked @Entity")
        }
        return entity
    }
}

extension FetchIndexDescription {
    /// An index over keys, named after them: `byCategoryAndPriceDescending` of `category` and `-price`.
    fileprivate init(keys: [String]) {
        let elements = keys.map { key in
            key.hasPrefix("-")
                ? Element(String(key.dropFirst()), ascending: false) : Element(key)
        }
        let words = elements.map { element in
            let steps = (element.propertyName ?? "").split(separator: ".")
            return steps.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
                + (element.isAscending ? "" : "Descending")
        }
        self.init("by" + words.joined(separator: "And"), elements: elements)
    }
}
