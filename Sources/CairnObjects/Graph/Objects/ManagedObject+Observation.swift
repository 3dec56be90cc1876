// Observation of objects: what is read is noted for those who track it, and they are told before it changes.
//
//   1. Objects of a context that is observable ask, whenever a property is read, whether somebody tracks just now. The
//      layout says whether they are of such a context: in all others reading does not even look.
//   2. The first access that is tracked gives the object its observation, and the flag `observed`.
//   3. Whatever changes a property of an object with that flag tells, before and after: setters and the other side of
//      relationships, and what replaces values as a whole (becoming a fault, a newer row under the edits, deletion).
//   4. A newer row tells of the properties whose values differ, a fault of all: its values are not known.
//
// Values that are set while an object awakes, and primitive ones, tell nobody.
//
// Threads: the context's.

import CairnModel
import CairnStore
public import Observation

extension ManagedObject: Observable {
    /// A property, for key paths: the registrar tells properties apart by them.
    final subscript(observed place: PropertyPlace) -> Int { 0 }
}

extension ManagedObject {
    // MARK: Reading

    /// Whether reads have to look for somebody who tracks.
    @inline(__always) final var isObservable: Bool { layout.pointee.isObservable }

    /// A property is read.
    @inline(__always) final func access(_ place: @autoclosure () -> PropertyPlace) {
        if layout.pointee.isObservable { noteAccess(place()) }
    }

    @inline(never) final func noteAccess(_ place: PropertyPlace) {
        let known = rarer?.observation
        let observation = known ?? scope.spareObservation
        guard observation.isTracked else { return }
        if known == nil {
            scope.spareObservation = ObjectObservation()
            extras.observation = observation
            flags.formUnion(.observed)
        }
        observation.access(self, place)
    }

    /// A relationship is read.
    @inline(__always) final func access(relationship index: Int) {
        if layout.pointee.isObservable { noteAccess(place(ofRelationship: index)) }
    }

    /// Where a relationship is.
    final func place(ofRelationship index: Int) -> PropertyPlace {
        if case .column(let column) = entity.relationships[index].storage {
            .column(column)
        } else {
            .relationship(index)
        }
    }

    // MARK: One property

    /// A property is about to change.
    @inline(__always) final func willChange(_ place: @autoclosure () -> PropertyPlace) {
        if flags.contains(.observed) { tellBefore(place()) }
    }

    /// A property has changed.
    @inline(__always) final func didChange(_ place: @autoclosure () -> PropertyPlace) {
        if flags.contains(.observed) { tellAfter(place()) }
    }

    @inline(never) private final func tellBefore(_ place: PropertyPlace) {
        rarer?.observation?.willChange(self, place)
    }

    @inline(never) private final func tellAfter(_ place: PropertyPlace) {
        rarer?.observation?.didChange(self, place)
    }

    // MARK: Several properties

    /// Everything is about to be another.
    @inline(__always) final func willChangeAll() {
        if flags.contains(.observed) { tellBefore(observedPlaces) }
    }

    /// Everything is another.
    @inline(__always) final func didChangeAll() {
        if flags.contains(.observed) { tellAfter(observedPlaces) }
    }

    /// What somebody has read who tracked.
    final var observedPlaces: [PropertyPlace] { (rarer?.observation?.places).map(Array.init) ?? [] }

    /// Some properties are about to change.
    @inline(never) final func tellBefore(_ places: [PropertyPlace]) {
        for place in places { tellBefore(place) }
    }

    /// Some properties have changed.
    @inline(never) final func tellAfter(_ places: [PropertyPlace]) {
        for place in places { tellAfter(place) }
    }

    /// The observed properties that a newer row changes; `replacesEdits` if what it says counts for edited ones too.
    final func observedPlaces(changedBy row: Row, replacesEdits: Bool) -> [PropertyPlace] {
        guard flags.contains(.observed) else { return [] }
        let identity = scope.registry.identity
        return observedPlaces.filter { place in
            guard case .column(let column) = place, replacesEdits || !hasEdit(column) else {
                return false
            }
            return row.cells.value(column, of: entity, in: identity) != presentValue(column)
        }
    }

    /// The observed properties that lose what was set or added.
    final var observedEdits: [PropertyPlace] {
        guard flags.contains(.observed) else { return [] }
        return observedPlaces.filter { place in
            switch place {
            case .column(let column): hasEdit(column)
            case .relationship(let index):
                !isTransient(index) && rarer?.toMany[index]?.hasChanges == true
            case .transient, .fetched: false
            }
        }
    }

    /// The observed properties whose members or results are asked for again.
    final var observedMembers: [PropertyPlace] {
        guard flags.contains(.observed) else { return [] }
        return observedPlaces.filter { place in
            switch place {
            case .column, .transient: false
            case .relationship(let index): !isTransient(index)
            case .fetched: true
            }
        }
    }

    /// The observed properties that live in memory only.
    final var observedTransients: [PropertyPlace] {
        guard flags.contains(.observed) else { return [] }
        return observedPlaces.filter { place in
            switch place {
            case .column, .fetched: false
            case .relationship(let index): isTransient(index)
            case .transient: true
            }
        }
    }
}

extension ManagedObjectContext {
    /// Whether the context's objects can be observed: whether code that reads them inside `withObservationTracking`,
    /// such as a view, is notified of the next change to the properties it has read.
    ///
    /// ```swift
    /// withObservationTracking {
    ///     label.text = product.name
    /// } onChange: {
    ///     // Called once, before the name changes, wherever that happens: redraw soon.
    /// }
    /// ```
    ///
    /// It reports properties that are set anywhere in the context, the other side of relationships, and objects that
    /// are refreshed, rolled back, deleted, or updated by a save or a merge. Only properties that were read are
    /// reported, and only once; a report may turn out to be no change.
    ///
    /// A container's ``PersistentContainer/viewContext`` is observable; other contexts only if you set this. Reading
    /// then costs a little more, some 20 ns per property, to find out whether tracking is active. If it is false,
    /// reading and setting cost nothing extra.
    public var isObservable: Bool {
        get { objectsAreObservable }
        set {
            objectsAreObservable = newValue
            for scope in knownScopes { scope.isObservable = newValue }
        }
    }
}
