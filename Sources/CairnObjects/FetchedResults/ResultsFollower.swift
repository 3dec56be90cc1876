// What keeps a list as a fetch would give it: what a controller and a sequence of snapshots are made of.
//
//   load     fetches, and keeps of each object its id and what it is sorted by
//   handle   takes an event of the context, and notes which objects it may concern (+Events)
//   follow   asks what has become of these: unsaved ones are looked at as they are, all others are read with one question,
//            and looked at as the store would. Those that match go to their places, the others leave (+Following)
//
// So after each event the list is what a fetch of the request in the context would give. An object that is not changed itself
// is where the store has it, also if an object that it leads to has unsaved changes: so it is in a fetch.
//
// Work for an event: the objects that it concerns, times the logarithm of the list; the list as a whole only where the events
// cannot say what they are about, and for lists with a limit or an offset.
//
// It does not hold its context: that one may hold it.
//
// Threads: the context's.

import CairnModel
import CairnStore
import FoundationEssentials

/// Keeps a list as a fetch would give it.
final class ResultsFollower {
    /// Where the names of sections come from.
    enum Sections {
        /// There are none.
        case none
        /// From what is stored.
        case path(SortPath)
        /// From the objects.
        case object((ManagedObject) -> String)
    }

    /// Who is told of the list.
    struct Listener {
        var willChange: () -> Void = {}
        var didChange: (ListChange, FetchedList) -> Void = { _, _ in }
        /// The context has forgotten its objects.
        var didReset: (ManagedObjectContext) -> Void = { _ in }
        var didFail: (StoreError) -> Void = { _ in }
        /// Whether anybody listens still.
        var isListening: () -> Bool = { true }
    }

    let terms: FetchTerms
    /// Whether the list holds its objects, and not only their ids.
    let holdsObjects: Bool
    /// Whether the predicate names objects, which may be folded into others.
    private let namesObjects: Bool
    let sectionKey: String?
    private let sectionName: ((ManagedObject) -> String)?
    private(set) var sections = Sections.none
    private(set) var related: RelatedPaths?
    /// The list; nil before it was loaded, and after the context has forgotten its objects.
    private(set) var list: FetchedList?
    var listener = Listener()
    /// What is to be looked at.
    var waiting = Candidates()
    /// Whether somebody is being told: what happens meanwhile waits.
    var isTelling = false
    /// Whether others have led more objects to one that is deleted here: which ones lead to it when that is saved, nobody says.
    var hasDoomedLinks = false
    /// What the predicate was when the list was fetched, with the objects in the place of those that were folded into them; nil if
    /// it names no object.
    private var ledPredicate: PredicateNode?
    private(set) var isObserving = false
    /// How many objects were looked at whether they match.
    private(set) var looks = 0
    /// How many times the list was fetched.
    private(set) var fetches = 0

    /// So many rows are looked at at once.
    static let mostRows = 8192

    /// - Parameters:
    ///   - sectionKey: what the names of sections are made of; nil: there are no sections.
    ///   - sectionName: what makes them of objects, whatever the key says.
    init(
        _ terms: FetchTerms, sectionKey: String?, sectionName: ((ManagedObject) -> String)? = nil,
        holdsObjects: Bool
    ) {
        self.terms = terms
        self.sectionKey = sectionKey
        self.sectionName = sectionName
        self.holdsObjects = holdsObjects
        namesObjects = terms.predicate?.namesObjects ?? false
    }

    var isSectioned: Bool { sectionKey != nil || sectionName != nil }

    /// Whether only a part of what matches is wanted.
    var isWindow: Bool { terms.fetchLimit > 0 || terms.fetchOffset > 0 }

    // MARK: Loading

    /// Fetches the list.
    ///
    /// - Parameter cache: where to look for it before, and to keep it.
    func load(_ context: ManagedObjectContext, cache: CacheAddress? = nil) throws(StoreError) {
        waiting = Candidates()
        let new = try fetchedList(context, cache: cache)
        if new.isOutOfOrder { throw outOfOrder(new) }
        list = new
    }

    /// Forgets the list.
    func unload() {
        list = nil
        waiting = Candidates()
    }

    func replaceList(_ list: FetchedList) { self.list = list }

    /// Whether the predicate names an object that was folded into another one since the list was fetched.
    func isLedElsewhere(_ context: ManagedObjectContext) -> Bool {
        guard namesObjects, let ledPredicate, let predicate = terms.predicate else { return false }
        return context.mayRedirect && context.led(predicate) != ledPredicate
    }

    /// The list as a fetch gives it now.
    func fetchedList(_ context: ManagedObjectContext, cache: CacheAddress? = nil)
        throws(StoreError) -> FetchedList
    {
        try context.throwReadError()
        context.processPendingChanges()
        try terms.box?.terms.checkForObjects(terms.entityName, in: context.schema)
        // Before it is asked: an object that is folded meanwhile is noticed with the next event.
        ledPredicate = namesObjects ? terms.predicate.map(context.led) : nil
        let question = try context.question(terms)
        try findSections(question.entity, context)
        let place = try cache.flatMap { address throws(StoreError) in
            try self.place(address, question, context)
        }
        if let place, let list = try cachedList(place, question, context) { return list }
        fetches += 1
        let objects: [ListedObject]
        if context.board.wants(.fetches) {
            objects = try context.watched(.objects, terms, count: \.count) {
                () throws(StoreError) in try fetchedObjects(question, context)
            }
        } else {
            objects = try fetchedObjects(question, context)
        }
        let list = FetchedList(objects, ListOrder(question.sort), isSectioned: isSectioned)
        if let place, !list.isOutOfOrder { keep(objects, place, question, context) }
        return list
    }

    private func findSections(_ entity: SchemaEntity, _ context: ManagedObjectContext)
        throws(StoreError)
    {
        sections = .none
        if let sectionName {
            sections = .object(sectionName)
        } else if let sectionKey {
            do throws(PredicateFormatError) {
                sections = .path(
                    try SortPath(SortKey(sectionKey), of: entity, in: context.schema))
            } catch {
                // What no store can sort by, a transient property for example, is asked of the objects.
                try SectionPath.check(sectionKey, of: entity, in: context.schema)
                sections = .object { SectionName.of($0.value(forKeyPath: sectionKey)) }
            }
        }
        related = RelatedPaths(terms, section: sectionKey, entity, context)
    }

    private func fetchedObjects(
        _ question: FetchQuestion, _ context: ManagedObjectContext
    ) throws(StoreError) -> [ListedObject] {
        let paths = try context.prefetchPaths(
            terms.rarer.relationshipKeyPathsForPrefetching, terms)
        let pending = context.pendingObjects(terms, question)
        let snapshot = try context.source()
        let found = try snapshot.fetch(
            context.widened(question.fetch, pending, includesRows: true))
        let entries = try context.overlaid(found, of: snapshot, question, pending)
        var listed: [ListedObject] = []
        listed.reserveCapacity(entries.count)
        for start in stride(from: 0, to: entries.count, by: Self.mostRows) {
            let some = entries[start..<min(start + Self.mostRows, entries.count)]
            let reader = RowReader(snapshot, question, sections)
            reader.load(some.compactMap { $0.object == nil ? $0.row : nil })
            for entry in some {
                if let object = entry.object {
                    listed.append(listedObject(object, question))
                } else if let row = entry.row {
                    listed.append(listedObject(row, reader, context))
                }
            }
            try reader.rethrow()
        }
        try context.throwReadError()
        if holdsObjects, !paths.isEmpty {
            try context.prefetch(paths, of: listed.compactMap(\.object), terms, nil)
        }
        return listed
    }

    // MARK: Objects of the list

    /// What the list is to know of an object with unsaved changes.
    func listedObject(_ object: ManagedObject, _ question: FetchQuestion) -> ListedObject {
        let section: String? =
            switch sections {
            case .none: nil
            case .path(let path): SectionName.of(path.key(of: object))
            case .object(let name): name(object)
            }
        return ListedObject(
            id: object.objectID, keys: question.sort.map { $0.key(of: object) },
            section: section,
            object: holdsObjects || object.hasTemporaryID ? object : nil)
    }

    /// What the list is to know of a stored object.
    func listedObject(
        _ row: Row, _ reader: RowReader, _ context: ManagedObjectContext
    ) -> ListedObject {
        let stored = reader.objects.object(of: row)
        var object: ManagedObject?
        if holdsObjects || row.id.isTemporary {
            let made = context.object(for: row)
            if !terms.returnsObjectsAsFaults { context.wake(made) }
            object = made
        }
        let section: String? =
            switch sections {
            case .none: nil
            case .path(let path): SectionName.of(path.key(of: stored))
            case .object(let name): name(object ?? context.object(for: row))
            }
        return ListedObject(
            id: row.id, keys: reader.question.sort.map { $0.key(of: stored) },
            section: section, object: object)
    }

    /// Looks at what has become of objects: gives those that belong to the list.
    func present(
        _ ids: [ObjectID], _ question: FetchQuestion, _ context: ManagedObjectContext
    ) throws(StoreError) -> [ObjectID: ListedObject] {
        var present: [ObjectID: ListedObject] = [:]
        var asked: [ObjectID] = []
        let divided = context.dividedStores
        looks += ids.count
        for id in ids {
            if terms.includesPendingChanges, let object = context.registry.object(for: id),
                object.changedIndex >= 0
            {
                guard !object.isDeleted, !object.isGone,
                    context.isAskedFor(object, question, divided),
                    question.evaluator?.matches(object) ?? true
                else { continue }
                present[id] = listedObject(object, question)
            } else if !id.isTemporary || context.parent != nil {
                asked.append(id)
            }
        }
        try context.throwReadError()
        if asked.isEmpty { return present }
        let snapshot = try context.source()
        for start in stride(from: 0, to: asked.count, by: Self.mostRows) {
            let some = Array(asked[start..<min(start + Self.mostRows, asked.count)])
            let rows = try snapshot.rows(some).compactMap { row in
                row.flatMap { isAskedFor($0, question, divided, context) ? $0 : nil }
            }
            let reader = RowReader(snapshot, question, sections)
            reader.load(rows)
            for row in rows {
                let stored = reader.objects.object(of: row)
                guard question.evaluator?.matches(stored) ?? true else { continue }
                present[row.id] = listedObject(row, reader, context)
            }
            try reader.rethrow()
        }
        return present
    }

    private func isAskedFor(
        _ row: Row, _ question: FetchQuestion, _ divided: [CoordinatedStore]?,
        _ context: ManagedObjectContext
    ) -> Bool {
        guard question.includes(context.schema.entities[row.entity]) else { return false }
        if let stores = question.fetch.affectedStores, !stores.contains(row.id.store) {
            return false
        }
        guard let divided else { return true }
        return divided.first { $0.identifier == row.id.store }?.entities[row.entity] ?? true
    }

    func outOfOrder(_ list: FetchedList) -> StoreError {
        StoreError(
            .invalidRequest,
            "the objects of a section are not adjacent: use the section's key path as the first sort key",
            context: .init(entity: terms.entityName))
    }

    // MARK: Following

    /// Begins to follow what happens in the context.
    ///
    /// - Parameter isOwn: whether the context is to keep the follower alive.
    func observe(_ context: ManagedObjectContext, isOwn: Bool) {
        if isObserving { return }
        isObserving = true
        let kept = isOwn ? self : nil
        context.observe(
            ContextObserver([.changes, .saves, .merges, .renames, .differences]) {
                [weak self] event, context in
                guard let follower = kept ?? self else { return false }
                guard follower.listener.isListening() else {
                    follower.isObserving = false
                    return false
                }
                follower.handle(event, context)
                return true
            })
    }
}

/// Reads what rows are sorted and grouped by.
final class RowReader {
    let objects: SnapshotObjects
    let question: FetchQuestion
    private let paths: [SortPath]

    init(
        _ snapshot: any StoreSnapshot, _ question: FetchQuestion,
        _ sections: ResultsFollower.Sections
    ) {
        objects = SnapshotObjects(snapshot)
        self.question = question
        var paths = question.sort
        if case .path(let path) = sections { paths.append(path) }
        self.paths = paths
    }

    func load(_ rows: [Row]) { objects.load(rows, along: paths) }

    func rethrow() throws(StoreError) { try objects.rethrow() }
}

/// An optional value of any type.
private protocol OptionalName {
    var value: Any? { get }
}

extension Optional: OptionalName {
    fileprivate var value: Any? { self }
}

/// How sections are named after values.
enum SectionName {
    /// Texts by themselves, truth values as 1 and 0, nil as nothing.
    static func of(_ value: Any?) -> String {
        guard let value else { return "" }
        // A property of any type may be optional: that is in the value then.
        if let optional = value as? any OptionalName { return of(optional.value) }
        return switch value {
        case let text as String: text
        case let truth as Bool: truth ? "1" : "0"
        case let object as ManagedObject: object.objectID.uriRepresentation.absoluteString
        case let id as ObjectID: id.uriRepresentation.absoluteString
        default: "\(value)"
        }
    }

    static func of(_ value: Value) -> String {
        if case .string(let text) = value { return text }
        return of(value.any)
    }

    /// What names the sections of objects of a class, for objects of any.
    static func untyped<Result: ManagedObject>(
        _ name: @escaping (Result) -> String
    ) -> (ManagedObject) -> String {
        { object in (object as? Result).map(name) ?? "" }
    }
}
