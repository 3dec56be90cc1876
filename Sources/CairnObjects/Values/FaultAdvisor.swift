// Finds loops that read one by one what one request could have read.
//
//   1. Objects that a fetch gives are entered with their origin: the fetch, and an empty path.
//   2. What a relationship of such an object leads to is entered with the path, one step longer; so is what was read ahead.
//   3. A fault that asks the store counts for the origin of its object, or, if members are wanted, for the path that leads to
//      them. The twentieth is worth a sentence, once for requests of one shape; unless it would say to do what was done: then
//      what was read has been let go of since, by a save or a refresh.
//
// The table forgets: it holds two generations of entries, and the older one goes when the newer one is full.
//
// Threads: the context's.

import CairnModel
import CairnStore

/// Where objects came from: a fetch, and the path from its objects to them.
final class FaultOrigin {
    /// The fetch, without the values that it compares with; nil if the objects are members of one object that came from none.
    let request: FetchEvent.Request?
    /// Whether the fetch reads the rows of its objects.
    let readsRows: Bool
    /// Stands for the fetch, whatever the path.
    let fetch: Int
    /// The entity at which the path begins: that of the fetch, or of the object.
    let root: String
    /// The names of the relationships.
    let path: [String]
    /// The entity that has the last relationship; without a path that of the objects.
    let entity: String
    /// How often the store was asked for one of them.
    fileprivate var misses = 0
    private var following: [String: FaultOrigin] = [:]

    init(
        request: FetchEvent.Request?, readsRows: Bool = true, fetch: Int, root: String,
        path: [String], entity: String
    ) {
        self.request = request
        self.readsRows = readsRows
        self.fetch = fetch
        self.root = root
        self.path = path
        self.entity = entity
    }

    /// The origin of what a relationship of these objects leads to.
    func following(_ relationship: String, of entity: String) -> FaultOrigin {
        if let known = following[relationship] { return known }
        let made = FaultOrigin(
            request: request, readsRows: readsRows, fetch: fetch, root: root,
            path: path + [relationship], entity: entity)
        following[relationship] = made
        return made
    }

    /// The path in one word; nil if it is empty.
    var keyPath: String? { path.isEmpty ? nil : path.joined(separator: ".") }

    /// Whether the fetch does already what could be said.
    fileprivate var isCured: Bool {
        guard let keyPath else { return readsRows }
        return request?.prefetchedKeyPaths.contains {
            $0 == keyPath || $0.hasPrefix(keyPath + ".")
        } ?? false
    }

    /// What requests that ask the same have in common, whichever page of it they want.
    fileprivate var shape: String {
        let path = keyPath ?? ""
        guard var request else { return "\(path) of \(entity) by itself" }
        request.limit = nil
        request.offset = 0
        let ahead = request.prefetchedKeyPaths.joined(separator: ", ")
        return "\(path) of \(request.text(showsValues: false)) with \(ahead)"
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
    func origin(of request: FetchEvent.Request, readsRows: Bool) -> FaultOrigin {
        fetches += 1
        var request = request
        // It is kept as long as its objects are known, and the values may be many.
        request.predicate = request.predicate?.withoutValues
        return FaultOrigin(
            request: request, readsRows: readsRows, fetch: fetches, root: request.entity, path: [],
            entity: request.entity)
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
        return FaultOrigin(
            request: nil, fetch: fetches, root: entity, path: [relationship], entity: entity)
    }

    /// Counts a fault that asked the store; what there is to say about it, if anything.
    ///
    /// - Parameter canReadAhead: whether a request for an entity could read ahead along a path.
    func count(
        _ origin: FaultOrigin, contextName: String?,
        canReadAhead: (_ path: String, _ entity: String) -> Bool
    ) -> PrefetchAdvice? {
        origin.misses += 1
        guard origin.misses == Self.threshold, !origin.isCured,
            origin.keyPath.map({ canReadAhead($0, origin.root) }) ?? true,
            said.insert(origin.shape).inserted
        else { return nil }
        return PrefetchAdvice(
            request: origin.request, entity: origin.entity, relationship: origin.path.last,
            keyPath: origin.keyPath, count: origin.misses, contextName: contextName)
    }
}
