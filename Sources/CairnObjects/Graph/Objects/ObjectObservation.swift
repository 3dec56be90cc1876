// Who tracks an object, and what of it they have read.
//
// Threads: the object's; who tracks may let go of it on any.

import Observation

/// A property of an object, as somebody who tracks knows it.
enum PropertyPlace: Hashable, Sendable {
    /// A column: an attribute, a leaf of a composite one, a to-one relationship.
    case column(Int)
    /// A relationship without a column, by index.
    case relationship(Int)
    /// A transient attribute, by index.
    case transient(Int)
    /// A fetched property, by name.
    case fetched(String)
}

/// The observation of one object.
final class ObjectObservation {
    private let registrar = ObservationRegistrar()
    /// What was ever read by somebody who tracked.
    private(set) var places: Set<PropertyPlace> = []

    /// Whether somebody tracks what is read just now.
    var isTracked: Bool { AccessProbe.isTracking(registrar) }

    func access(_ object: ManagedObject, _ place: PropertyPlace) {
        places.insert(place)
        registrar.access(object, keyPath: \ManagedObject[observed: place])
    }

    func willChange(_ object: ManagedObject, _ place: PropertyPlace) {
        guard places.contains(place) else { return }
        registrar.willSet(object, keyPath: \ManagedObject[observed: place])
    }

    func didChange(_ object: ManagedObject, _ place: PropertyPlace) {
        guard places.contains(place) else { return }
        registrar.didSet(object, keyPath: \ManagedObject[observed: place])
    }
}
