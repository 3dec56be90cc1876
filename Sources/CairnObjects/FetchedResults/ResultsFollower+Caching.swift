// A list that need not be fetched, since it was fetched before, and nothing has been written since.
//
//   1. It is looked for only if the store alone decides it: the request has no fickle condition and names no object that may
//      have been folded into another one, and nothing that it is about is changed here. If objects name the sections, nothing
//      at all is changed, and the context shows the state that it reads.
//   2. A list that is found is put together again. If it holds its objects, their rows are read.
//   3. One that is fetched is kept if all that is still so: whoever named sections may have edited objects, and somebody else
//      may have written.
//
// Threads: the context's.

import CairnModel
import CairnStore

extension ResultsFollower {
    /// Where a list is kept.
    struct CacheAddress {
        let name: String
        /// The computed property that sections are named after.
        var sectionPath: AnyKeyPath?
        var cache = SectionCache.shared
    }

    /// Where a list of one state is kept.
    struct CachePlace {
        let address: CacheAddress
        let subject: SectionCache.Subject
        let state: StoreState
        let snapshot: any StoreSnapshot
    }

    /// Where the list is kept that the request has now; nil if it is not decided by the store alone.
    func place(
        _ address: CacheAddress, _ question: FetchQuestion, _ context: ManagedObjectContext
    ) throws(StoreError) -> CachePlace? {
        if let predicate = terms.predicate, predicate.isFickle || predicate.namesObjects {
            return nil
        }
        // What a parent shows has no commit.
        guard context.parent == nil else { return nil }
        let snapshot = try context.source()
        guard let state = StoreState(snapshot, of: context.store),
            isDecided(by: state, question, context)
        else { return nil }
        let subject = SectionCache.Subject(
            terms, stores: question.fetch.affectedStores, sectionKey: sectionKey,
            sectionPath: address.sectionPath.map(KnownPath.init(path:)),
            classes: areSectionsOfObjects ? context.objectClasses : [])
        return CachePlace(address: address, subject: subject, state: state, snapshot: snapshot)
    }

    private var areSectionsOfObjects: Bool {
        if case .object = sections { true } else { false }
    }

    private func isDecided(
        by state: StoreState, _ question: FetchQuestion, _ context: ManagedObjectContext
    ) -> Bool {
        areSectionsOfObjects
            ? context.shows(state) : context.pendingObjects(terms, question).isEmpty
    }

    /// The list of a place, if there is one.
    func cachedList(
        _ place: CachePlace, _ question: FetchQuestion, _ context: ManagedObjectContext
    ) throws(StoreError) -> FetchedList? {
        // What it says that cannot be done is refused all the same.
        let paths = try context.prefetchPaths(
            terms.rarer.relationshipKeyPathsForPrefetching, terms)
        let address = place.address
        guard
            let content = address.cache.content(address.name, place.subject, in: place.state)
        else { return nil }
        var listed = content.objects
        if holdsObjects {
            guard try read(&listed, place.snapshot, question, context) else { return nil }
            if !paths.isEmpty {
                try context.prefetch(paths, of: listed.compactMap(\.object), terms, nil)
            }
        }
        return FetchedList(listed, ListOrder(question.sort), isSectioned: isSectioned)
    }

    /// Gives the objects of a list themselves, with their rows; false if there is none of one.
    private func read(
        _ listed: inout [ListedObject], _ snapshot: any StoreSnapshot, _ question: FetchQuestion,
        _ context: ManagedObjectContext
    ) throws(StoreError) -> Bool {
        for start in stride(from: 0, to: listed.count, by: Self.mostRows) {
            let some = start..<min(start + Self.mostRows, listed.count)
            let began = context.board.wants(.fetches) ? ManagedObjectContext.now() : nil
            let rows = try snapshot.rows(listed[some].map(\.id))
            for (index, row) in zip(some, rows) {
                guard let row else { return false }
                let object = context.object(for: row)
                if !terms.returnsObjectsAsFaults { context.wake(object) }
                listed[index].object = object
            }
            if let began { context.tell(.batch, question.entity, some.count, since: began) }
        }
        try context.throwReadError()
        return true
    }

    /// Keeps what was fetched, if it is what the store alone has decided.
    func keep(
        _ objects: [ListedObject], _ place: CachePlace, _ question: FetchQuestion,
        _ context: ManagedObjectContext
    ) {
        // The fetch took a state of its own, between those two.
        guard let snapshot = try? context.source(),
            StoreState(snapshot, of: context.store) == place.state,
            isDecided(by: place.state, question, context)
        else { return }
        place.address.cache.keep(
            SectionCache.Content(place.subject, of: place.state, objects), place.address.name)
    }
}

extension ManagedObjectContext {
    /// The class of each entity's objects.
    fileprivate var objectClasses: [ObjectIdentifier] {
        schema.entities.map { ObjectIdentifier(classes.type(for: $0, in: schema)) }
    }
}
