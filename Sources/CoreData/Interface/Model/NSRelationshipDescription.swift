// A relationship, with Core Data's names.

import CairnModel
public import Foundation

/// A relationship of an entity.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    // A relationship of a model that is in use does not change any more.

    /// The entity that it leads to.
    open weak var destinationEntity: NSEntityDescription? { willSet { willChange() } }
    /// The relationship that leads back.
    open weak var inverseRelationship: NSRelationshipDescription? {
        willSet { willChange() }
        // A program may set what it copies, and keep only the copies.
        didSet { core.inverseName = inverseRelationship?.name }
    }
    /// What happens to the destination when an object is deleted.
    open var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { willChange() } }
    /// Whether the order of the objects counts.
    open var isOrdered = false { willSet { willChange() } }
    /// The name of an inverse that is no more, if the destination has a relationship of that name: what was copied leads back by it.
    private var copiedInverseName: String? {
        core.inverseName.flatMap { name in
            destinationEntity?.relationshipsByName[name] == nil ? nil : name
        }
    }
    /// What a model that was read says of it.
    private var core = RelationshipDescription("", to: "", toMany: true)

    /// A relationship without a name and a destination.
    public override init() { super.init() }

    /// The same without its destination and its inverse, which are set when all entities are there.
    init(_ core: RelationshipDescription) {
        self.core = core
        super.init()
        name = core.name
        isOptional = core.isOptional
        isTransient = core.isTransient
        userInfo = core.userInfo
        versionHashModifier = core.versionHashModifier
        renaming = core.renamingIdentifier
        marks = core.otherMarks
        deleteRule = NSDeleteRule(core.deleteRule)
        isOrdered = core.isOrdered
    }

    /// The least number of objects, if there are any; 0: no limit.
    open var minCount: Int {
        get { core.minimumCount }
        set {
            willChange()
            core.minimumCount = max(0, newValue)
        }
    }

    /// The greatest number of objects: 1 for a to-one relationship, 0 for as many as there are. A negative number is 0.
    open var maxCount: Int {
        get { core.isToMany ? core.maximumCount : 1 }
        set {
            willChange()
            core.maximumCount = max(0, newValue)
            core.isToMany = newValue != 1
        }
    }

    /// Whether it leads to more than one object.
    open var isToMany: Bool { core.isToMany }

    /// Sets what it leads to, and what leads back, by the names that the model says.
    func link(in entities: [String: NSEntityDescription]) {
        destinationEntity = entities[core.destinationEntityName]
        guard let inverse = core.inverseName else { return }
        inverseRelationship = destinationEntity?.relationshipsByName[inverse]
    }

    /// Cairn's description. What has no form there is added to the errors.
    func described(_ errors: inout [ModelError]) -> RelationshipDescription {
        if destinationEntity?.name == nil {
            errors.append(
                ModelError(
                    .invalidElement, of: owner, name,
                    "the relationship has no destination entity, or nothing else holds that entity")
            )
        }
        if conditions?.predicates.isEmpty == false {
            errors.append(
                ModelError(
                    .invalidElement, of: owner, name,
                    "validation predicates of relationships are not checked: override validateForInsert() and validateForUpdate()"
                ))
        }
        var made = core
        made.name = name
        made.destinationEntityName = destinationEntity?.name ?? ""
        made.inverseName = inverseRelationship?.name ?? copiedInverseName
        made.isOrdered = isOrdered
        made.isOptional = isOptional
        made.isTransient = isTransient
        made.deleteRule = deleteRule.core
        made.userInfo = [String: String](userInfo: userInfo)
        made.versionHashModifier = versionHashModifier
        made.renamingIdentifier = renaming
        made.otherMarks = marks
        return made
    }

    /// Cairn's description, whatever of it is wrong.
    var described: RelationshipDescription {
        var errors: [ModelError] = []
        return described(&errors)
    }

    open override var versionHash: Data { described.versionHash }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSRelationshipDescription(described)
        copy.takeRest(of: self)
        copy.destinationEntity = destinationEntity
        if let inverseRelationship { copy.inverseRelationship = inverseRelationship }
        return copy
    }

    override var identity: AnyHashable { described }
}
