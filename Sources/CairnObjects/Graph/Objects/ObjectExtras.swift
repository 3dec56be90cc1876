// What few objects have: members of relationships, transient values, values that were set as primitive ones.
//
// Threads: the object's.

import CairnModel
import CairnStore
import FoundationEssentials

/// The rarer parts of an object.
final class ObjectExtras {
    /// Columns that were set as primitive values, which nobody is told of.
    var untracked = ColumnSet()
    /// Columns that were set while the object awoke from a fetch: seen by readers, never saved.
    var awakened = ColumnSet()
    /// To-many relationships that somebody asked for or changed, by index.
    var toMany: [Int: ToManyState] = [:]
    /// The members that it keeps alive, by relationship; see ``ManagedObjectContext/keepsMembers``.
    var keptMembers: [Int: [ManagedObject]] = [:]
    /// Values of transient attributes, by index.
    var transients: [Int: Value] = [:]
    /// Targets of transient to-one relationships, by index.
    var transientTargets: [Int: ObjectID] = [:]
    /// Where the properties of its class are, if that is another one than its entity's.
    var binding: EntityBinding?
    /// Who tracks the object; nil if nobody ever has.
    var observation: ObjectObservation?
    /// The results of fetched properties that somebody asked for, by name.
    var fetched: [String: [ObjectID]] = [:]
    /// Whether it was given a value that waits in the store for a save. That may be over.
    var hasStagedValue = false
    /// What attributes were set to that no store can take, by index.
    var refused: [Int: RefusedValue] = [:]
    /// The objects that are no more and that relationships were set to, by index.
    var lostTargets: [Int: [ObjectID]] = [:]
    /// The object that took this one's place.
    var absorbedInto: ObjectID?
    /// What the cascade rules of the object have deleted.
    var cascaded: [ObjectID] = []
    /// What led to the object by relationships without inverse before it was deleted: referrers, and which relationship.
    var cutReferences: [(referrer: ObjectID, relationship: Int)] = []
    /// The store that a new object will be saved to, if somebody has said.
    var assignedStore: UUID?
}
