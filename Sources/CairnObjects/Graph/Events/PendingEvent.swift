// What has changed in a context since the last event, as far as the list of changed objects does not say it.
//
//   entered    objects that came into the list of changed objects: what lies behind a mark in the list, and nothing more.
//              Before the event they were as they are stored, or were not there
//   noted      objects that were in the list before, and what they were when they were first touched in the event; for a
//              context that records edits, also those that entered and are not new
//   left       objects that were deleted, or gave way to others
//   vanished   objects whose rows turned out to be gone
//   refreshed  objects whose values were brought up to date
//   arrived    objects that others have made
//
// So inserting, and the first edit of an object, note nothing here.
//
// Objects that nobody has changed are noted by their ids: the context does not keep them alive, nor they the context.
//
// Invariants: an object has the flag `noted` exactly if it is among those that are noted.
// Threads: the context's.

import CairnModel
import CairnStore

/// What has changed since the last event.
struct PendingEvent {
    /// Objects that were among the changed ones before, in the order in which they were touched.
    private(set) var noted: [ManagedObject] = []
    private var earlier: [ObjectIdentifier: EarlierState] = [:]
    /// Objects that are no more, as far as anybody was told that they were there.
    var left: [ManagedObject] = []
    /// Objects whose rows are gone.
    private(set) var vanished: [NotedID] = []
    /// Objects that were brought up to date.
    private(set) var refreshed: [NotedID] = []
    /// Objects that others have made.
    var arrived: [ManagedObject] = []

    /// What an object was before the event, if it is noted.
    func earlier(_ object: ManagedObject) -> EarlierState? { earlier[ObjectIdentifier(object)] }

    /// Notes an object that is about to change.
    mutating func note(_ object: ManagedObject) {
        object.flags.formUnion(.noted)
        earlier[ObjectIdentifier(object)] = EarlierState(object)
        noted.append(object)
    }

    mutating func noteVanished(_ object: ManagedObject) { vanished.append(NotedID(object)) }

    mutating func noteRefreshed(_ object: ManagedObject) { refreshed.append(NotedID(object)) }

    /// Objects got other ids.
    mutating func rename(_ names: [ObjectID: ObjectID]) {
        for object in earlier.keys { earlier[object]?.rename(names) }
        for index in vanished.indices { vanished[index].rename(names) }
        for index in refreshed.indices { refreshed[index].rename(names) }
    }

    /// Takes the flags of the objects back: the event is over.
    func end() {
        for object in noted { object.flags.subtract(.noted) }
    }
}

/// An object that somebody may hold.
struct NotedID {
    private(set) var id: ObjectID
    let entity: SchemaEntity

    init(_ object: ManagedObject) {
        id = object.objectID
        entity = object.entity
    }

    mutating func rename(_ names: [ObjectID: ObjectID]) {
        if let new = names[id] { id = new }
    }
}

/// What an object was before an event that it was changed before.
struct EarlierState {
    /// The edits that it had.
    private var edits: [(column: Int, value: Value)]
    /// What had been added to its to-many relationships and removed.
    private(set) var toMany: [Int: ToManyState]
    /// Its transient values, and the targets of its transient relationships.
    let transients: [Int: Value]
    private(set) var transientTargets: [Int: ObjectID]
    /// What it was set to and could not be saved with.
    let refused: [Int: RefusedValue]
    let lostTargets: [Int: [ObjectID]]
    /// What it was.
    let flags: ManagedObject.Flags

    init(_ object: ManagedObject) {
        edits = object.columnsWithEdits.map { ($0, object.presentValue($0)) }
        toMany = object.rarer?.toMany ?? [:]
        transients = object.rarer?.transients ?? [:]
        transientTargets = object.rarer?.transientTargets ?? [:]
        refused = object.rarer?.refused ?? [:]
        lostTargets = object.rarer?.lostTargets ?? [:]
        flags = object.flags
    }

    /// The value of a column, which is the stored one, or the default, if it was not edited.
    func value(_ column: Int, of object: ManagedObject) -> Value {
        edits.first { $0.column == column }?.value ?? object.baseValue(column)
    }

    /// Objects got other ids.
    mutating func rename(_ names: [ObjectID: ObjectID]) {
        for index in edits.indices {
            if let new = edits[index].value.reference.flatMap({ names[$0] }) {
                edits[index].value = .objectID(new)
            }
        }
        for index in toMany.keys { toMany[index]?.rename(names) }
        transientTargets = transientTargets.mapValues { names[$0] ?? $0 }
    }
}
