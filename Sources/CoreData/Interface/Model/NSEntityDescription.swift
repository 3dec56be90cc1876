// An entity of a model, with Core Data's names.
//
// A model owns its entities, and an entity its properties, indexes and subentities; what leads the other way is weak.
//
// `properties` has what is inherited too: the superentity's descriptions, before the entity's own.
//
// Threads: one, until the model is in use; then any, for nothing changes any more.

import CairnModel
public import Foundation

/// An entity of a model.
open class NSEntityDescription: NSObject, NSCopying, ModelPart, @unchecked Sendable {
    // An entity of a model that is in use does not change any more.

    /// The name, unique in the model.
    open var name: String? { willSet { willChange() } }
    /// Whether it has no objects of its own.
    open var isAbstract = false { willSet { willChange() } }
    /// Makes the version hash differ although nothing else does.
    open var versionHashModifier: String? { willSet { willChange() } }
    /// Whatever the program wants to know of the entity. Texts are kept with the model in a store.
    open var userInfo: [AnyHashable: Any]? = [:] { willSet { willChange() } }
    /// Its own uniqueness constraints: each a list of names, or of descriptions, of attributes and to-one relationships.
    open var uniquenessConstraints: [[Any]] = [] { willSet { willChange() } }
    /// The model that it is in.
    weak var model: NSManagedObjectModel?
    /// What the entity is in a schema; nil until the model is in use.
    weak var schemaEntity: SchemaEntity?
    var isInUse = false

    /// What a model that was read says beside all this.
    private var core = EntityDescription("")
    private weak var parent: NSEntityDescription?
    private var children: [NSEntityDescription] = []
    private var own: [NSPropertyDescription] = []
    /// All its properties by name, once the model is in use.
    private var table: EntityProperties?
    /// All its own indexes, those in old forms too.
    private var allIndexes: [NSFetchIndexDescription] = []

    /// An entity without a name.
    public override init() { super.init() }

    /// The entity without its superentity, and its relationships without their destinations.
    init(_ core: EntityDescription) {
        self.core = core
        super.init()
        name = core.name
        isAbstract = core.isAbstract
        versionHashModifier = core.versionHashModifier
        userInfo = core.userInfo
        uniquenessConstraints = core.uniquenessConstraints
        properties =
            core.attributes.map(NSAttributeDescription.standing(for:))
            + core.relationships.map(NSRelationshipDescription.init)
            + core.fetchedProperties.map(NSFetchedPropertyDescription.init)
    }

    /// Links what the model says by name.
    func link(in entities: [String: NSEntityDescription]) {
        for case let relationship as NSRelationshipDescription in own {
            relationship.link(in: entities)
        }
        let properties = propertiesByName
        allIndexes = core.indexes.map { NSFetchIndexDescription($0, of: self, properties) }
        for index in core.indexes where index.form == .indexed {
            for element in index.elements {
                element.propertyName.flatMap { properties[$0] }?.isIndexed = true
            }
        }
    }

    // MARK: Class

    /// The class of the objects: `NSManagedObject`, or a subclass with its module (`Shop.Product`) or without.
    ///
    /// Where a model says `.Product`, it is the full name of the class that was found.
    open var managedObjectClassName: String! {
        get {
            guard statedClassName.hasPrefix(".") else { return statedClassName }
            let types = model?.types ?? EntityClasses.known(of: model?.entities ?? [self])
            guard let type = types[name ?? ""], type != NSManagedObject.self else {
                return statedClassName
            }
            return NSStringFromClass(type)
        }
        set {
            willChange()
            core.managedObjectClassName = newValue
        }
    }

    /// The class as the model says it.
    var statedClassName: String { core.managedObjectClassName ?? "NSManagedObject" }

    // MARK: Hierarchy

    /// The model that it is in.
    open var managedObjectModel: NSManagedObjectModel {
        guard let model else {
            preconditionFailure("the entity \(name ?? "") is in no model, or its model is gone")
        }
        return model
    }

    /// The entity that it inherits from.
    open var superentity: NSEntityDescription? { parent }

    /// The entities that inherit from it directly.
    open var subentities: [NSEntityDescription] {
        get { children }
        set {
            willChange()
            for child in children where !newValue.contains(where: { $0 === child }) {
                child.parent = nil
            }
            children = newValue
            for child in newValue { child.parent = self }
        }
    }

    /// The entities that inherit from it directly, by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(children.map { ($0.name ?? "", $0) }) { first, _ in first }
    }

    /// Whether it is another entity or inherits from it.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        var next: NSEntityDescription? = self
        while let one = next {
            if one === entity || one.isEqual(entity) { return true }
            next = one.parent
        }
        return false
    }

    // MARK: Properties

    /// All properties, inherited ones first. Setting it sets the entity's own.
    open var properties: [NSPropertyDescription] {
        get { listed.all }
        set {
            willChange()
            let inherited = parent?.listed.all ?? []
            for property in own where property.owner === self { property.owner = nil }
            own = newValue.filter { one in !inherited.contains { $0 === one } }
            for property in own { property.owner = self }
        }
    }

    private var listed: EntityProperties {
        table ?? EntityProperties((parent?.listed.all ?? []) + own)
    }

    /// All properties by name.
    open var propertiesByName: [String: NSPropertyDescription] { listed.byName }

    /// All attributes by name.
    open var attributesByName: [String: NSAttributeDescription] { listed.attributes }

    /// All relationships by name.
    open var relationshipsByName: [String: NSRelationshipDescription] { listed.relationships }

    /// All relationships that lead to an entity.
    open func relationships(
        forDestination entity: NSEntityDescription
    ) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }
            .filter { $0.destinationEntity?.isEqual(entity) == true }
    }

    // MARK: Indexes

    /// Its own fetch indexes.
    open var indexes: [NSFetchIndexDescription] {
        get { allIndexes.filter { $0.form == .fetchIndex } }
        set {
            willChange()
            for index in indexes { index.owner = nil }
            allIndexes = allIndexes.filter { $0.form != .fetchIndex } + newValue
            for index in newValue { index.owner = self }
        }
    }

    /// Its own indexes in the old form: lists of names, or of descriptions, of properties. Use ``indexes``.
    open var compoundIndexes: [[Any]] {
        get {
            allIndexes.filter { $0.form == .compoundIndex }
                .map { $0.elements.compactMap(\.propertyName) }
        }
        set {
            willChange()
            let properties = propertiesByName
            allIndexes =
                allIndexes.filter { $0.form != .compoundIndex }
                + newValue.map { members in
                    let names = members.map { Self.name(of: $0) ?? "\($0)" }
                    var index = FetchIndexDescription(
                        "compound " + names.joined(separator: ", "),
                        elements: names.map { .init($0) })
                    index.form = .compoundIndex
                    return NSFetchIndexDescription(index, of: self, properties)
                }
        }
    }

    /// The name by which another version of the model knows the entity; its own unless it was set.
    open var renamingIdentifier: String? {
        get { core.renamingIdentifier ?? name }
        set {
            willChange()
            core.renamingIdentifier = newValue == name ? nil : newValue
        }
    }

    /// Has no effect: there is no Spotlight. A text in a model file that is no expression reads as nil.
    open var coreSpotlightDisplayNameExpression: NSExpression {
        get {
            let text = core.otherMarks[ModelMark.spotlightDisplayName.rawValue]
            guard let text, let node = try? ExpressionNode(format: text) else {
                return NSExpression(forConstantValue: nil)
            }
            return NSExpression(node)
        }
        set {
            willChange()
            let node = try? newValue.node
            core.otherMarks[ModelMark.spotlightDisplayName.rawValue] =
                node == .constant(.null) ? nil : node?.expressionFormat
        }
    }

    // MARK: Cairn's description

    /// The name that a member of a constraint or an index stands for.
    private static func name(of member: Any) -> String? {
        member as? String ?? (member as? NSPropertyDescription)?.name
    }

    /// Cairn's description. What has no form there is added to the errors.
    func described(_ errors: inout [ModelError]) -> EntityDescription {
        if name?.isEmpty != false {
            errors.append(ModelError(.invalidElement, "an entity has no name"))
        }
        var made = core
        made.name = name ?? ""
        made.isAbstract = isAbstract
        made.superentityName = parent?.name
        made.versionHashModifier = versionHashModifier
        made.userInfo = [String: String](userInfo: userInfo)
        made.attributes = []
        made.relationships = []
        made.fetchedProperties = []
        for property in own {
            switch property {
            case let one as NSAttributeDescription: made.attributes.append(one.described(&errors))
            case let one as NSRelationshipDescription:
                made.relationships.append(one.described(&errors))
            case let one as NSFetchedPropertyDescription:
                made.fetchedProperties.append(one.described(&errors))
            default:
                errors.append(
                    ModelError(
                        .invalidElement, of: self, property.name,
                        "it is a \(type(of: property)), which no entity can have"))
            }
        }
        made.uniquenessConstraints = uniquenessConstraints.filter { !$0.isEmpty }.map { members in
            members.map { member in
                if let name = Self.name(of: member) { return name }
                errors.append(
                    ModelError(
                        .invalidConstraint,
                        "a uniqueness constraint has \(member), which is neither a name nor an attribute",
                        element: name))
                return ""
            }
        }
        made.indexes = describedIndexes(&errors)
        return made
    }

    private func describedIndexes(_ errors: inout [ModelError]) -> [FetchIndexDescription] {
        var marked = own.filter(\.isIndexed).map(\.name)
        var made: [FetchIndexDescription] = []
        for index in allIndexes {
            let described = index.described(&errors)
            if index.form == .indexed {
                guard let name = described.elements.first?.propertyName,
                    let place = marked.firstIndex(of: name)
                else { continue }
                marked.remove(at: place)
            }
            made.append(described)
        }
        for name in marked {
            var index = FetchIndexDescription("indexed \(name)", elements: [.init(name)])
            index.form = .indexed
            made.append(index)
        }
        return made
    }

    /// Cairn's description, whatever of it is wrong.
    var described: EntityDescription {
        var errors: [ModelError] = []
        return described(&errors)
    }

    /// Tells versions of the entity apart: the same for entities that store the same.
    open var versionHash: Data {
        name.flatMap { model?.entityVersionHashesByName[$0] } ?? described.versionHash
    }

    /// An entity that can be changed, of no model, with copies of its own properties.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSEntityDescription(described)
        let entities = Dictionary(
            own.compactMap { ($0 as? NSRelationshipDescription)?.destinationEntity }
                .map { ($0.name ?? "", $0) }
        ) { first, _ in first }
        copy.link(in: entities)
        copy.takeRest(of: self)
        return copy
    }

    /// Takes what Cairn's description of the other one does not have.
    func takeRest(of other: NSEntityDescription) {
        userInfo = other.userInfo
        let properties = Dictionary(other.own.map { ($0.name, $0) }) { first, _ in first }
        for property in own { properties[property.name].map(property.takeRest(of:)) }
    }

    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSEntityDescription else { return false }
        return self === other || (name == other.name && described == other.described)
    }

    open override var hash: Int { name.hashValue }

    open override var description: String { name ?? "an entity without a name" }

    // MARK: In use

    /// Nothing changes any more.
    func beginUse(as entity: SchemaEntity) {
        schemaEntity = entity
        entity.facade = self
        for property in own { property.isInUse = true }
        for index in allIndexes { index.beginUse() }
        table = listed
        isInUse = true
    }
}

/// The properties of an entity, inherited ones first.
private struct EntityProperties {
    let all: [NSPropertyDescription]
    let byName: [String: NSPropertyDescription]
    let attributes: [String: NSAttributeDescription]
    let relationships: [String: NSRelationshipDescription]

    init(_ all: [NSPropertyDescription]) {
        self.all = all
        byName = Dictionary(all.map { ($0.name, $0) }) { $1 }
        attributes = byName.compactMapValues { $0 as? NSAttributeDescription }
        relationships = byName.compactMapValues { $0 as? NSRelationshipDescription }
    }
}
