// Ids of objects that were folded into others, as contexts see them. De-duplication folds objects, and so do saves whose policy
// makes one of two with one unique key: the id that goes leads to the one that stays, if anybody can have had it.
//
// What an id leads to is asked of the state that the context reads, as everything is. An object that the context has, and has
// not found to be gone, is itself, be it that the store has folded it meanwhile: a deletion by others shows when it is merged,
// or read, and so does this. From then on its id means the one in its place, and the object says which that is by
// `absorbedInto`.
//
// Threads: the context's.

public import CairnModel
public import CairnStore
import Synchronization

extension ManagedObjectContext {
    /// The id of the object that an object was merged into, or that now replaces it; nil if the object exists, or if
    /// there is none. Objects are merged by a ``DeduplicationRequest``, and by saves in which a merge policy decides
    /// between two objects with the same unique key, whether one takes the other's values or replaces it
    /// (``MergePolicy/overwrite``).
    ///
    /// ```swift
    /// let current = try context.redirectedObjectID(for: bookmark) ?? bookmark
    /// ```
    ///
    /// ``existingObject(with:)`` and ``object(with:)`` do this automatically, and so do fetches whose conditions refer
    /// to an object, lists based on such fetches, `findOrInsert` with an object in its key, and saves with a
    /// relationship to one.
    ///
    /// - Throws: `StoreError` if the store was closed.
    /// - Complexity: O(1) per merge along the way. No row is read.
    public func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        guard !id.isTemporary, mayRedirect else { return nil }
        if let known = registry.object(for: id), !isLost(known), !known.isFault { return nil }
        return try lead(of: id, in: source())
    }

    /// The same in a state, which is asked for once for many.
    func redirectedObjectID(for id: ObjectID, in state: any StoreSnapshot) throws(StoreError)
        -> ObjectID?
    {
        if id.isTemporary { return nil }
        if let known = registry.object(for: id), !isLost(known), !known.isFault { return nil }
        return try lead(of: id, in: state)
    }

    /// The same for an object that the context does not have, or has found to be gone.
    private func lead(of id: ObjectID, in state: any StoreSnapshot) throws(StoreError) -> ObjectID?
    {
        guard let other = try state.redirectedObjectID(for: id) else { return nil }
        if let known = registry.object(for: other), known.isGone { return nil }
        return other
    }

    /// Whether the id of some object that is gone may lead to another one. Of several stores the context remembers which there
    /// are: this is asked for each object that is looked up.
    var mayRedirect: Bool {
        guard let coordinator else { return store.hasRedirects }
        let version = coordinator.version.load(ordering: .acquiring)
        if redirectingStores.version != version {
            redirectingStores = (version, coordinator.attached.map(\.store))
        }
        return redirectingStores.stores.contains(where: \.hasRedirects)
    }

    /// Whether an object was found to be deleted by somebody else.
    func isLost(_ object: ManagedObject) -> Bool {
        !object.flags.isDisjoint(with: [.gone, .foreign])
            || object.isDeleted && object.isDisplaced
    }

    /// A predicate that names the objects in the place of those that were folded into them.
    func led(_ predicate: PredicateNode) -> PredicateNode {
        // What cannot be asked is not there: the fetch itself says so.
        guard mayRedirect, let state = try? source() else { return predicate }
        return predicate.replacingObjectIDs { try? redirectedObjectID(for: $0, in: state) }
    }

    /// Has the id of an object that the context deletes, or gives up before it was stored, lead to another one, from the save
    /// on.
    func redirect(_ object: ManagedObject, to other: ManagedObject) {
        redirects.append((object, other))
    }

    /// Says so to the store. Nobody has ids of before that are temporary.
    func addRedirects(to request: inout SaveRequest) {
        var successors: [ManagedObject: ManagedObject] = [:]
        var objects: [ManagedObject] = []
        // Of an object that was back meanwhile, the last word counts.
        for (object, other) in redirects where object.isDeleted {
            if successors.updateValue(other, forKey: object) == nil { objects.append(object) }
        }
        for object in objects where !object.objectID.isTemporary {
            guard var other = successors[object] else { continue }
            // The store knows where others lead to that it is told of. No way through all of them is longer than they are many.
            var steps = 0
            while other.objectID.isTemporary, steps < objects.count,
                let next = successors[other]
            {
                other = next
                steps += 1
            }
            if other === object { continue }
            request.redirects.append(
                SaveRequest.Redirected(id: object.objectID, survivor: other.objectID))
        }
    }

    /// Objects that a merge has found to be deleted were folded into others, if they were.
    func noteRedirects(of objects: [ManagedObject], in state: any StoreSnapshot) {
        guard mayRedirect else { return }
        for object in objects {
            guard let other = try? state.redirectedObjectID(for: object.objectID) else { continue }
            object.absorbedInto = other
        }
    }

    // MARK: Edits

    /// An edit that leads to an object which somebody else has folded into another one.
    struct LateLink {
        let object: ManagedObject
        /// The relationship, as an index of the object's entity.
        let index: Int
        let other: ManagedObject
    }

    /// The edits that lead to some objects which are gone, as far as they may lead to those in their place, by a state.
    ///
    /// - Complexity: O(edits). Only of objects that edits lead to it is asked what is in their place.
    func linksToRedirect(of gone: Set<ObjectID>, in state: any StoreSnapshot) -> [LateLink] {
        guard mayRedirect else { return [] }
        var survivors: [ObjectID: ManagedObject?] = [:]
        func survivor(of id: ObjectID) -> ManagedObject? {
            if let known = survivors[id] { return known }
            var survivor: ManagedObject?
            if !id.isTemporary, let other = try? lead(of: id, in: state),
                let root = rootEntity(of: other)
            {
                survivor = object(with: other, under: root)
            }
            survivors[id] = .some(survivor)
            return survivor
        }
        var links: [LateLink] = []
        for object in changedInOrder where !object.isDeleted {
            for (index, relationship) in object.entity.relationships.enumerated() {
                let targets: [ObjectID] =
                    switch relationship.storage {
                    case .column(let column): object.edit(column)?.reference.map { [$0] } ?? []
                    case .pairs: object.rarer?.toMany[index].map { Array($0.added) } ?? []
                    // What the other side says goes with it.
                    case .inverseColumn, .transient: []
                    }
                for target in targets where gone.contains(target) {
                    guard let other = survivor(of: target), !other.isDeleted, !other.isGone,
                        other.entity.isKind(of: schema.entities[relationship.destination])
                    else { continue }
                    links.append(LateLink(object: object, index: index, other: other))
                }
            }
        }
        return links
    }

    /// Has an edit lead to the object in the place of the one that it led to, unless that has another partner.
    func redirect(_ link: LateLink) {
        let relationship = link.object.entity.relationships[link.index]
        if let inverse = relationship.inverse,
            !link.other.entity.relationships[inverse].description.isToMany,
            target(of: link.other, inverse) != nil
        {
            return
        }
        if relationship.description.isToMany,
            isMember(link.other.objectID, of: link.object, link.index)
        {
            return
        }
        self.link(link.object, link.index, link.other)
    }
}
