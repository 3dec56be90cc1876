// Finds loops that read one by one what one request could have read.
//
//   1. Objects that a fetch gives are entered with their origin: the fetch, and an empty path.
//   2. What a relationship of such an object leads to is entered with the path, one step longer; so is what was read ahead.
//   3. A fault that asks the store counts for the origin of its object, or, if members are wanted, for the path that leads to
//      them. The twentieth is worth a sentence, once for requests of one shape.
//
// The table forgets: it holds two generations of entries, and the older one goes when the newer one is full.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// Where objects came from: a fetch, and the path from its objects to them.
final class FaultOrigin {
    /// The fetch; nil if the objects are members of one object that came from none.
    let request: FetchEvent.Request?
    /// Stands for the fetch, whatever the path.
    let fetch: Int
    /// The names of the relationships.
    let path: [String]
    /// The entity that has the last relationship; without a path that of the objects.
    let entity: String
    /// How often the store was asked for one of them.
    fileprivate var misses = 0
    private var following: [String: FaultOrigin] = [:]

    init(request: FetchEvent.Request?, fetch: Int, path: [String], entity: String) {
        self.request = request
        self.fetch = fetch
        self.path = path
        self.entity = entity
    }

    /// The origin of what a relationship of these objects leads to.
    func following(_ relationship: String, of entity: String) -> FaultOrigin {
        if let known = following[relationship] { return known }
        let made = FaultOrigin(
            request: request, fetch: fetch, path: path + [relationship], entity: entity)
        following[relationship] = made
        return made
    }

    /// What requests that ask the same have in common.
    fileprivate var shape: String {
        let request = request.map { $0.text(showsValues: false) } ?? "\(entity) by itself"
        return "\(path.joined(separator: ".")) of \(request)"
    }
}

/// The origins of the objects of one context.
final class FaultAdvisor {
    /// How many faults one after the other are worth a sentence.
    static let threshold = 20
    /// How many entries a generation has.
    private static let room = 1 << 16

    private var newer: [ObjectID: FaultOrigin] = [:]
    private var older: [ObjectID: FaultOrigin] = [:]
    private var fetches = 0
    /// What was said already.
    private var said: Set<String> = []

    /// The origin of what a fetch gives.
    func origin(of request: FetchEvent.Request) -> FaultOrigin {
        fetches += 1
        return FaultOrigin(request: request, fetch: fetches, path: [], entity: request.entity)
    }

    /// The origin of an object, if it is known.
    func origin(of id: ObjectID) -> FaultOrigin? { newer[id] ?? older[id] }

    /// Enters objects. Those that the same fetch has given already keep their shorter paths.
    func enter(_ id: ObjectID, _ origin: FaultOrigin) {
        if let known = self.origin(of: id), known.fetch == origin.fetch { return }
        if newer.count >= Self.room {
            older = newer
            newer = [:]
        }
        newer[id] = origin
    }

    /// The origin of what a relationship of an object leads to; nil if nothing is known of the object.
    func origin(following relationship: String, of id: ObjectID, _ entity: String) -> FaultOrigin? {
        origin(of: id)?.following(relationship, of: entity)
    }

    /// The origin of the members of an object of which nothing is known.
    func originOfMembers(_ relationship: String, of entity: String) -> FaultOrigin {
        fetches += 1
        return FaultOrigin(request: nil, fetch: fetches, path: [relationship], entity: entity)
    }

    /// Counts a fault that asked the store; what there is to say about it, if anything.
    func count(_ origin: FaultOrigin, contextName: String?) -> PrefetchAdvice? {
        origin.misses += 1
        guard origin.misses == Self.threshold, said.insert(origin.shape).inserted else {
            return nil
        }
        return PrefetchAdvice(
            request: origin.request, entity: origin.entity, relationship: origin.path.last,
            keyPath: origin.path.isEmpty ? nil : origin.path.joined(separator: "."),
            count: origin.misses, contextName: contextName)
    }
}
