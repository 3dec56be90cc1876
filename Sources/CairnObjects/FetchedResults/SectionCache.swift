// Lists that were fetched, by the names that controllers have for them: who fetches the same of the same state has it from here.
//
//   subject   what was asked: the request as far as it decides the list, and what sections are named after
//   state     of what it was asked: the store or coordinator itself, not its identifier, and the commit of each store
//   content   ids, sort keys, and where sections begin
//
// A list is given again only if subject and state are the same. So nothing is ever taken back when something is written: it is
// not found any more, and goes when its name is used again, or is the least lately used.
//
// Invariants: no store is kept alive; what is found is whole; at most so many lists and objects are kept.
// Threads: any; a lock for the table. Lists themselves never change.

import CairnModel
import CairnStore
import FoundationEssentials
import Synchronization

/// The lists of all controllers of the process that have a name for them.
final class SectionCache: Sendable {
    static let shared = SectionCache()

    /// What a list is of.
    struct Subject: Equatable, Sendable {
        /// The request as far as it decides the list, but for what follows.
        private let terms: FetchTerms
        private let nullSemantics: NullSemantics
        /// The stores that are asked; nil: all.
        private let stores: [UUID]?
        private let sectionKey: String?
        /// The computed property that sections are named after.
        private let sectionPath: KnownPath?
        /// The classes of all entities, if objects name the sections.
        private let classes: [ObjectIdentifier]

        init(
            _ terms: FetchTerms, stores: [UUID]?, sectionKey: String?, sectionPath: KnownPath?,
            classes: [ObjectIdentifier]
        ) {
            var deciding = FetchTerms(entityName: terms.entityName, predicate: terms.predicate)
            deciding.sortDescriptors = terms.sortDescriptors
            deciding.fetchLimit = max(0, terms.fetchLimit)
            deciding.fetchOffset = max(0, terms.fetchOffset)
            deciding.includesSubentities = terms.includesSubentities
            self.terms = deciding
            nullSemantics = terms.nullSemantics
            self.stores = stores
            self.sectionKey = sectionKey
            self.sectionPath = sectionPath
            self.classes = classes
        }
    }

    /// A list as it was fetched.
    final class Content: Sendable {
        let subject: Subject
        let state: StoreState
        let ids: ContiguousArray<ObjectID>
        let keys: ContiguousArray<[Value]>
        /// The first object of each section; empty if there are none.
        let starts: ContiguousArray<FetchedList.SectionStart>

        init(_ subject: Subject, of state: StoreState, _ objects: [ListedObject]) {
            self.subject = subject
            self.state = state
            ids = ContiguousArray(objects.map(\.id))
            keys = ContiguousArray(objects.map(\.keys))
            var starts: ContiguousArray<FetchedList.SectionStart> = []
            for (offset, object) in objects.enumerated() {
                if let name = object.section, starts.last?.name != name {
                    starts.append(FetchedList.SectionStart(offset: offset, name: name))
                }
            }
            self.starts = starts
        }

        /// The objects of the list, without themselves.
        var objects: [ListedObject] {
            var objects: [ListedObject] = []
            objects.reserveCapacity(ids.count)
            var next = starts.startIndex
            var section: String?
            for index in ids.indices {
                if next < starts.endIndex, starts[next].offset == index {
                    section = starts[next].name
                    next += 1
                }
                objects.append(ListedObject(id: ids[index], keys: keys[index], section: section))
            }
            return objects
        }
    }

    private struct Table {
        var lists: [String: (content: Content, used: UInt64)] = [:]
        /// How many objects are in them.
        var objects = 0
        /// Rises with each use.
        var uses: UInt64 = 0

        /// Takes a list out. Who calls this lets go of it after the lock.
        mutating func remove(_ name: String) -> Content? {
            guard let content = lists.removeValue(forKey: name)?.content else { return nil }
            objects -= content.ids.count
            return content
        }
    }

    private let table = Mutex(Table())
    private let mostLists: Int
    private let mostObjects: Int

    /// - Parameters:
    ///   - lists: so many are kept: the screens of a program, and some to spare.
    ///   - objects: so many in all of them together, with about 100 bytes for each.
    init(lists: Int = 64, objects: Int = 1 << 20) {
        mostLists = lists
        mostObjects = objects
    }

    /// The list of a name, if it is of that subject in that state.
    func content(_ name: String, _ subject: Subject, in state: StoreState) -> Content? {
        let found = table.withLock { table -> Content? in
            table.uses += 1
            table.lists[name]?.used = table.uses
            return table.lists[name]?.content
        }
        guard let found, found.state == state, found.subject == subject else { return nil }
        return found
    }

    /// Keeps a list under a name, instead of the one that is there. One that is too long for the cache is not kept.
    func keep(_ content: Content, _ name: String) {
        let gone = table.withLock { table -> [Content] in
            var gone: [Content?] = [table.remove(name)]
            guard content.ids.count <= mostObjects else { return gone.compactMap(\.self) }
            table.uses += 1
            table.lists[name] = (content, table.uses)
            table.objects += content.ids.count
            while table.lists.count > mostLists || table.objects > mostObjects,
                let oldest = table.lists.min(by: { $0.value.used < $1.value.used })
            {
                gone.append(table.remove(oldest.key))
            }
            return gone.compactMap(\.self)
        }
        withExtendedLifetime(gone) {}
        removeAbsent()
    }

    /// Forgets the lists of stores that are gone. To ask for a store is to hold it: who lets go of it then may be the one to close
    /// it, which is not done under the lock.
    private func removeAbsent() {
        let kept = table.withLock { $0.lists.mapValues(\.content) }
        let absent = kept.filter { !$0.value.state.isPresent }
        if absent.isEmpty { return }
        table.withLock { table in
            for (name, content) in absent where table.lists[name]?.content === content {
                _ = table.remove(name)
            }
        }
    }

    /// Forgets the list of a name; nil: all.
    func remove(_ name: String?) {
        let gone = table.withLock { table -> [Content] in
            (name.map { [$0] } ?? Array(table.lists.keys)).compactMap { table.remove($0) }
        }
        withExtendedLifetime(gone) {}
    }
}
