// Tells instruments what a context writes. Nothing here is called while there are none.

import CairnModel
import CairnStore

extension ManagedObjectContext {
    /// Saves and tells of it.
    @inline(never)
    func watchedSave() throws {
        let start = Self.now()
        // Hooks may save too.
        let outer = tally
        tally = SaveEvent()
        var failure: (any Error)?
        do { try saveChanges() } catch { failure = error }
        var event = tally ?? SaveEvent()
        tally = outer
        event.error = failure
        // What a policy of one's own was told of is counted; its error may list it again.
        if event.conflicts == 0 {
            event.conflicts = (failure as? StoreError)?.conflicts.count ?? 0
        }
        event.contextName = name
        event.duration = start.duration(to: Self.now())
        let isEmpty =
            event.inserted + event.updated + event.deleted + event.memberChanges == 0
        if failure != nil || !isEmpty { board.send(.save(event)) }
        if let failure { throw failure }
    }

    /// Carries a batch request out and tells of it.
    @inline(never)
    func watched<R>(
        _ event: BatchEvent, _ body: () throws(StoreError) -> R,
        _ note: (R, inout BatchEvent) -> Void
    ) throws(StoreError) -> R {
        var event = event
        event.contextName = name
        let start = Self.now()
        do throws(StoreError) {
            let result = try body()
            event.duration = start.duration(to: Self.now())
            note(result, &event)
            board.send(.batch(event))
            return result
        } catch {
            event.duration = start.duration(to: Self.now())
            event.error = error
            board.send(.batch(event))
            throw error
        }
    }

    /// The name of the entity whose objects a request deletes.
    func entityName(of target: BatchDeleteRequest.Target) -> String {
        let index =
            switch target {
            case .fetch(let fetch): fetch.entity
            case .ids(_, let entity): entity
            case .objectIDs(let ids): ids.first.flatMap(rootEntity(of:))?.index ?? -1
            case .matching(_, let name): schema.entity(named: name)?.index ?? -1
            }
        return schema.entities.indices.contains(index) ? schema.entities[index].name : ""
    }
}

extension SaveEvent {
    /// What a request writes. A request that is tried again counts once.
    mutating func count(_ request: SaveRequest) {
        inserted = request.inserted.count
        updated = request.updated.count
        deleted = request.deleted.count
        memberChanges = request.pairChanges.count
    }

    /// What new objects became that were written as columns.
    mutating func count(_ objects: Int, _ numbers: NewNumbers) {
        inserted = objects
        absorbed += (0..<objects).count { numbers.isMerged($0) }
    }
}
