// Tells of each step of a path that is read ahead, and notes where what it led to came from.
//
// Threads: lives in one call.

import CairnModel
import CairnStore

/// Watches one path.
struct PrefetchWatch {
    private let root: SchemaEntity
    private var origin: FaultOrigin?
    private var path: [String] = []
    private var owner: SchemaEntity
    private var start = ManagedObjectContext.now()
    private var rows = 0
    private var members = 0

    /// Nil if nobody wants to know.
    init?(_ terms: FetchTerms, _ origin: FaultOrigin?, in context: ManagedObjectContext) {
        guard context.board.wants([.fetches, .advice]),
            let entity = context.schema.entity(named: terms.entityName)
        else { return nil }
        root = entity
        owner = entity
        self.origin = origin
    }

    /// A step begins.
    mutating func begin(_ ahead: PrefetchedRows) {
        start = ManagedObjectContext.now()
        rows = ahead.rows.count
        members = ahead.members.count
    }

    /// It could not be made.
    func fail(_ name: String, _ error: StoreError, in context: ManagedObjectContext) {
        context.tell(
            .prefetch, root, keyPath: (path + [name]).joined(separator: "."), 0, since: start,
            error: error)
    }

    /// It has led to objects. One that read nothing is not worth a word.
    mutating func end(
        _ name: String, _ ids: [ObjectID], _ ahead: PrefetchedRows, in context: ManagedObjectContext
    ) {
        path.append(name)
        let read = ahead.rows.count - rows
        if read > 0 || ahead.members.count > members {
            context.tell(
                .prefetch, root, keyPath: path.joined(separator: "."), read, since: start)
        }
        if let next = origin?.following(name, of: owner.name) {
            for id in ids { context.advisor?.enter(id, next) }
            origin = next
        }
        if let index = owner.relationshipIndex(named: name) {
            owner = context.schema.entities[owner.relationships[index].destination]
        }
    }
}
