// A fetch index, with Core Data's names.

import CairnModel
import CairnStore
public import Foundation

/// The kind of index that an element belongs to.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// Ordered.
    case binary = 0
    /// Spatial.
    case rTree = 1
}

/// A named index over properties of an entity.
open class NSFetchIndexDescription: NSObject, NSCopying, ModelPart, @unchecked Sendable {
    // An index of a model that is in use does not change any more.

    /// The name, unique in the entity.
    open var name: String { willSet { willChange() } }
    /// What it is built over.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { willChange() }
        didSet { own() }
    }
    /// Limits the index to the objects that match.
    open var partialIndexPredicate: NSPredicate? {
        get { condition }
        set {
            willChange()
            condition = newValue?.copy() as? NSPredicate
            // What a model says of it is no longer so.
            core.partialIndexPredicate = nil
        }
    }
    /// The entity that it is of.
    open var entity: NSEntityDescription? { owner }

    weak var owner: NSEntityDescription?
    var isInUse = false
    private var condition: NSPredicate?
    /// What a model that was read says beside all this.
    private var core: FetchIndexDescription

    /// An index.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        core = FetchIndexDescription(name, elements: [])
        super.init()
        own()
    }

    /// The index of a model that was read.
    init(
        _ core: FetchIndexDescription, of entity: NSEntityDescription,
        _ properties: [String: NSPropertyDescription]
    ) {
        self.core = core
        name = core.name
        owner = entity
        elements = core.elements.map { NSFetchIndexElementDescription($0, properties) }
        condition = core.partialIndexPredicate.map { NSPredicate(format: $0) }
        super.init()
        own()
    }

    private func own() { for element in elements { element.owner = self } }

    /// How the model says it.
    var form: FetchIndexDescription.Form { core.form }

    /// Cairn's description. What has no form there is added to the errors.
    func described(_ errors: inout [ModelError]) -> FetchIndexDescription {
        var made = core
        made.name = name
        made.elements = elements.map { $0.described(&errors) }
        if let condition, made.partialIndexPredicate == nil {
            do {
                made.partialIndexPredicate = try condition.node.predicateFormat
            } catch {
                errors.append(
                    ModelError(
                        .invalidConstraint, of: owner, name,
                        "the predicate of the index cannot be used: \(error.message)"))
            }
        }
        return made
    }

    /// An index that can be changed, of no entity.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexDescription(name: name, elements: elements.map(\.copied))
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }

    /// Nothing changes any more.
    func beginUse() {
        isInUse = true
        for element in elements { element.isInUse = true }
    }
}
