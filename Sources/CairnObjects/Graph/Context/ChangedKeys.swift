// The changed objects of a context by keys that somebody has asked for.
//
//   1. The first question by a key looks at all changed objects of its entity once, and notes each one's key.
//   2. Objects that have come since are noted by the next question: the list of changed objects says which.
//   3. A noted object bears a mark. Whatever gives it another value or row takes the mark away and lists it here, once;
//      the next question notes its key anew. Objects without the mark cost their edits nothing.
//
// Whether an object is deleted, or gone, is asked of itself when it is found.
//
// Invariants: every object with the mark is among the changed ones, and in each index whose entity it is of, under the key
// that it has; nothing is kept alive that is not among the changed ones.
// Threads: the context's.

import CairnModel

/// The changed objects by their keys.
final class ChangedKeys {
    private var indexes: [KeyTerms: Index] = [:]
    /// Noted objects whose keys may have changed since.
    private var stale: [ObjectIdentifier: ManagedObject] = [:]
    /// The first place in the list of changed objects that was not looked at.
    var seen = 0
    /// How often the key of an object was noted, for tests of how much work is done.
    private(set) var notes = 0
    /// How often two objects with one key were compared, for the same.
    private(set) var compares = 0

    /// Objects with one key: mostly there is one.
    enum Group {
        case one(ManagedObject)
        case several([ObjectIdentifier: ManagedObject])

        mutating func insert(_ object: ManagedObject) {
            switch self {
            case .one(let first):
                self = .several([ObjectIdentifier(first): first, ObjectIdentifier(object): object])
            case .several(var objects):
                // Not two that hold it, or it would be copied.
                self = .one(object)
                objects[ObjectIdentifier(object)] = object
                self = .several(objects)
            }
        }

        /// Whether there are others.
        mutating func remove(_ object: ManagedObject) -> Bool {
            guard case .several(var objects) = self else { return false }
            self = .one(object)
            objects[ObjectIdentifier(object)] = nil
            self = .several(objects)
            return !objects.isEmpty
        }
    }

    private final class Index {
        private(set) var objects: [[Value]: Group] = [:]
        private var keys: [ObjectIdentifier: [Value]] = [:]

        func put(_ object: ManagedObject, _ key: [Value]?) {
            let identifier = ObjectIdentifier(object)
            if keys[identifier] == key { return }
            remove(object, identifier)
            guard let key else { return }
            keys[identifier] = key
            if objects[key]?.insert(object) == nil { objects[key] = .one(object) }
        }

        func remove(_ object: ManagedObject, _ identifier: ObjectIdentifier) {
            guard let key = keys.removeValue(forKey: identifier) else { return }
            if objects[key]?.remove(object) != true { objects[key] = nil }
        }
    }

    // MARK: Noting

    /// A noted object has another value, or another row.
    func noteStale(_ object: ManagedObject) { stale[ObjectIdentifier(object)] = object }

    /// An object is no changed one any more.
    func remove(_ object: ManagedObject) {
        object.flags.subtract(.keyed)
        let identifier = ObjectIdentifier(object)
        stale[identifier] = nil
        for index in indexes.values { index.remove(object, identifier) }
    }

    /// Makes an index of all changed objects, if there is none.
    func prepare(_ terms: KeyTerms, _ changed: ChangedObjects) {
        if indexes[terms] != nil { return }
        let index = Index()
        indexes[terms] = index
        // Those that were not looked at come with the others.
        changed.look(from: 0, upTo: seen) { note($0, terms, index) }
    }

    /// Notes what has come, and what has changed.
    func catchUp(_ changed: ChangedObjects) {
        for object in stale.values { noteAll(object) }
        stale = [:]
        changed.look(from: seen, upTo: changed.places) { noteAll($0) }
        seen = changed.places
    }

    private func noteAll(_ object: ManagedObject) {
        object.flags.formUnion(.keyed)
        for (terms, index) in indexes { note(object, terms, index) }
    }

    private func note(_ object: ManagedObject, _ terms: KeyTerms, _ index: Index) {
        guard object.entity.isKind(of: terms.entity) else { return }
        notes += 1
        index.put(object, object.showsNoValues ? nil : terms.key(of: object))
    }

    // MARK: Finding

    /// The objects that have a key now, by id, new ones last; the first one alone if that is enough.
    func objects(
        _ key: [Value], _ terms: KeyTerms, count: Int, where isWanted: (ManagedObject) -> Bool
    ) -> [ManagedObject] {
        func isPresent(_ object: ManagedObject) -> Bool {
            !object.isDeleted && !object.isGone && isWanted(object)
        }
        switch indexes[terms]?.objects[key] {
        case nil: return []
        case .one(let object)?: return isPresent(object) ? [object] : []
        case .several(let objects)?:
            if count > 1 { return objects.values.filter(isPresent).sorted(by: precedes) }
            var first: ManagedObject?
            for object in objects.values where isPresent(object) {
                if first.map({ precedes(object, $0) }) ?? true { first = object }
            }
            return first.map { [$0] } ?? []
        }
    }

    private func precedes(_ one: ManagedObject, _ other: ManagedObject) -> Bool {
        compares += 1
        return SortingOrder.compare(one.objectID, other.objectID) < 0
    }
}

extension ManagedObject {
    /// Whether nobody knows its values yet: it is a fault, and changed by what leads to it alone.
    var showsNoValues: Bool { isFault && !hasRow }

    /// Takes the mark of an object whose key was noted, since it may have another one now.
    @inline(__always) func noteKeyChange() {
        if flags.contains(.keyed) { loseKeyMark() }
    }

    @inline(never)
    private func loseKeyMark() {
        flags.subtract(.keyed)
        managedObjectContext?.changed.keys?.noteStale(self)
    }
}
