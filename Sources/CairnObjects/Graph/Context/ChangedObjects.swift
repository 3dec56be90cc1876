// The new, changed and deleted objects of a context, in the order of their first change.
//
// Objects know their place in the list, so that looking for one costs nothing. Places of objects that leave stay
// empty until half of the list is.
//
// Those behind a mark have come in the run of edits that is under way; those before it, but behind another, in the one that is
// being told of.
//
// Invariant: `list[object.changedIndex]` is the object, for every object in the list.
// Threads: the context's.

/// The changed objects of a context; it keeps them alive.
struct ChangedObjects {
    private var list: [ManagedObject?] = []
    private(set) var count = 0
    /// The first place of those that have come in the run of edits that is under way.
    private(set) var eventStart: Int32 = 0
    /// The first places of those that came in the runs that are being told of, one told of within the other.
    private var toldStarts: [Int32] = []
    /// Those that were asked for by a key; nil if none was.
    var keys: ChangedKeys?

    /// The first place of those that came in the run that is being told of; if none is, as `eventStart`.
    var toldStart: Int32 { toldStarts.last ?? eventStart }

    /// A run is told of that began at a place.
    mutating func beginTelling(from start: Int32) { toldStarts.append(start) }

    /// The run is told of no more, but the one before it is.
    mutating func endTelling() { toldStarts.removeLast() }

    /// Adds an object; whether it was not there.
    @inline(__always) mutating func insert(_ object: ManagedObject) -> Bool {
        if object.changedIndex >= 0 { return false }
        object.changedIndex = Int32(list.count)
        list.append(object)
        count += 1
        return true
    }

    mutating func remove(_ object: ManagedObject) {
        guard object.changedIndex >= 0 else { return }
        list[Int(object.changedIndex)] = nil
        object.changedIndex = -1
        count -= 1
        keys?.remove(object)
        if list.count > 32, count * 2 < list.count { compact() }
    }

    private mutating func compact() {
        eventStart = Int32(list[..<Int(eventStart)].count { $0 != nil })
        for index in toldStarts.indices {
            let start = Int(min(toldStarts[index], Int32(list.count)))
            toldStarts[index] = Int32(list[..<start].count { $0 != nil })
        }
        if let keys { keys.seen = list[..<keys.seen].count { $0 != nil } }
        list.removeAll { $0 == nil }
        for (index, object) in list.enumerated() { object?.changedIndex = Int32(index) }
    }

    mutating func removeAll() {
        for object in list { object?.changedIndex = -1 }
        if keys != nil {
            for object in list { object?.flags.subtract(.keyed) }
            keys = nil
        }
        // What ends with the list may come back here.
        let all = list
        list = []
        count = 0
        eventStart = 0
        for index in toldStarts.indices { toldStarts[index] = 0 }
        withExtendedLifetime(all) {}
    }

    /// A run of edits begins: all that are here have come before it.
    mutating func beginEvent() {
        eventStart = Int32(list.count)
    }

    /// Whether one of them is what the question asks for.
    func contains(_ question: (ManagedObject) -> Bool) -> Bool {
        for object in list {
            if let object, question(object) { return true }
        }
        return false
    }

    /// All of them.
    var inOrder: [ManagedObject] { inOrder { _ in true } }

    /// Those that are wanted.
    @inline(__always) func inOrder(_ isWanted: (ManagedObject) -> Bool) -> [ManagedObject] {
        var objects: [ManagedObject] = []
        objects.reserveCapacity(count)
        for object in list {
            if let object, isWanted(object) { objects.append(object) }
        }
        return objects
    }

    /// How many places an object can have.
    var places: Int { list.count }

    /// Looks at one after the other until the closure returns false.
    @inline(__always) func look(_ body: (ManagedObject) -> Bool) {
        for object in list {
            if let object, !body(object) { return }
        }
    }

    /// Looks at those at some places.
    func look(from start: Int, upTo end: Int, _ body: (ManagedObject) -> Void) {
        for object in list[start..<end] {
            if let object { body(object) }
        }
    }

    /// Looks at all that came at a place or behind it.
    func look(from start: Int32, _ body: (ManagedObject) -> Void) {
        for object in list[Int(start)...] {
            if let object { body(object) }
        }
    }
}
