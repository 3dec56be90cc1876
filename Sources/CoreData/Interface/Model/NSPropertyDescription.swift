// A property of an entity, with Core Data's names: what attributes, relationships and fetched properties have in common.
//
// An entity owns its properties; a property knows its entity weakly, as it does its destination and its inverse: so a model that
// is dropped goes with all its parts.
//
// Threads: one, until the model is in use; then any, for nothing changes any more.

import CairnModel
public import Foundation

/// A property of an entity.
open class NSPropertyDescription: NSObject, NSCopying, ModelPart, @unchecked Sendable {
    // A property of a model that is in use does not change any more.

    /// The name, unique among the entity's properties.
    open var name = "" { willSet { willChange() } }
    /// Whether nil is allowed in a saved object.
    open var isOptional = true { willSet { willChange() } }
    /// Whether the value lives in memory only.
    open var isTransient = false { willSet { willChange() } }
    /// Whatever the program wants to know of the property. Texts are kept with the model in a store.
    open var userInfo: [AnyHashable: Any]? = [:] { willSet { willChange() } }
    /// Makes the version hash differ although nothing else does.
    open var versionHashModifier: String? { willSet { willChange() } }
    /// Has no effect: use ``NSEntityDescription/indexes``. An old mark of an index on this property alone.
    open var isIndexed = false { willSet { willChange() } }

    /// What a model file says and nothing here means.
    var marks: [String: String] = [:]
    var renaming: String?
    /// The conditions that were set, and what is said where one does not hold.
    var conditions: (predicates: [NSPredicate], warnings: [String])?
    weak var owner: NSEntityDescription?
    var isInUse = false

    /// A property without a name.
    public override init() { super.init() }

    /// The entity that declares it.
    open var entity: NSEntityDescription {
        guard let owner else {
            preconditionFailure("the property \(name) is in no entity, or its model is gone")
        }
        return owner
    }

    /// The name by which another version of the model knows the property; its own unless it was set.
    open var renamingIdentifier: String? {
        get { renaming ?? name }
        set {
            willChange()
            renaming = newValue == name ? nil : newValue
        }
    }

    // MARK: Conditions

    /// The conditions that every value must hold: also limits, lengths and patterns are some.
    open var validationPredicates: [NSPredicate] {
        conditions?.predicates ?? declaredConditions.map(\.predicate)
    }

    /// What is said of a value that does not hold the condition at the same place: a text, or the number of an error.
    open var validationWarnings: [Any] {
        conditions?.warnings ?? declaredConditions.map(\.warning)
    }

    /// Sets the conditions that every value must hold when it is saved. In them SELF is the value.
    ///
    /// Core Data's model editor writes limits as such conditions: `SELF >= 1`, `SELF <= 5`, `length >= 1`, `length <= 80`,
    /// `SELF MATCHES "[a-z]+"`. They fail with the numbers of their own errors, like those of a model file.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        willChange()
        conditions = (validationPredicates ?? [], validationWarnings ?? [])
    }

    /// The conditions of a model that was read.
    var declaredConditions: [(predicate: NSPredicate, warning: Any)] { [] }

    // MARK: What has no effect

    /// Has no effect: there is no Spotlight.
    open var isIndexedBySpotlight: Bool {
        get { marks[.isIndexedBySpotlight] }
        set {
            willChange()
            marks[.isIndexedBySpotlight] = newValue
        }
    }

    /// Has no effect: there is no Spotlight.
    open var isStoredInExternalRecord: Bool {
        get { marks[.isStoredInExternalRecord] }
        set {
            willChange()
            marks[.isStoredInExternalRecord] = newValue
        }
    }

    // MARK: Copies and versions

    /// Tells versions of the property apart: the same for properties that store the same.
    open var versionHash: Data { Data() }

    /// A property that can be changed, of no entity.
    open func copy(with zone: NSZone? = nil) -> Any {
        preconditionFailure("\(type(of: self)) is no kind of property that can be copied")
    }

    /// Takes what Cairn's description of the other one does not have.
    func takeRest(of other: NSPropertyDescription) {
        userInfo = other.userInfo
        conditions = other.conditions
        isIndexed = other.isIndexed
    }

    /// What equal properties have in common.
    var identity: AnyHashable { ObjectIdentifier(self) }

    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? NSPropertyDescription else { return false }
        return self === other || identity == other.identity
    }

    open override var hash: Int { name.hashValue }

    open override var description: String { "\(owner?.name.map { "\($0)." } ?? "")\(name)" }
}
