// What a list was at one moment, by ids.
//
// It shares the arrays of the list; the list copies those that change afterwards. So a snapshot of a long list costs little.
//
// Threads: a value.

public import CairnModel
import Synchronization

/// A list at one moment: the ids of its objects, by section.
///
/// ```swift
/// for section in snapshot.sectionIdentifiers {
///     print(section, snapshot.itemIdentifiers(inSection: section).count)
/// }
/// ```
///
/// A list without sections has a single one with an empty name. New objects have temporary ids until they are saved.
public struct FetchedResultsSnapshot: Sendable {
    /// Some of the ids, and where among them sections begin.
    struct Chunk: Sendable {
        let ids: ContiguousArray<ObjectID>
        let starts: ContiguousArray<FetchedList.SectionStart>
    }

    /// What was found out of the sections when somebody asked.
    private final class Known: Sendable {
        let index = Mutex<SectionIndex?>(nil)
    }

    private struct SectionIndex: Sendable {
        let sections: [(name: String, range: Range<Int>)]
        let places: [String: Int]
    }

    private let chunks: [Chunk]
    private let known = Known()
    private let isSectioned: Bool
    /// How many ids there are.
    public let numberOfItems: Int
    /// The ids of objects that are where they were, or elsewhere, and show other values than in the snapshot before: a list
    /// that draws itself redraws these.
    public internal(set) var reconfiguredItemIdentifiers: Set<ObjectID>

    init(_ list: FetchedList, reconfigured: Set<ObjectID> = []) {
        chunks = list.content()
        isSectioned = list.isSectioned
        numberOfItems = list.count
        reconfiguredItemIdentifiers = reconfigured
    }

    /// The snapshot of nothing.
    public init() {
        chunks = []
        isSectioned = false
        numberOfItems = 0
        reconfiguredItemIdentifiers = []
    }

    // MARK: Sections

    /// The sections in order: their names, and which places of the whole list are theirs.
    var sections: [(name: String, range: Range<Int>)] {
        guard isSectioned else { return [("", 0..<numberOfItems)] }
        var starts: [(name: String, start: Int)] = []
        var before = 0
        for chunk in chunks {
            for start in chunk.starts { starts.append((start.name, before + start.offset)) }
            before += chunk.ids.count
        }
        return starts.indices.map { index in
            let end = index + 1 < starts.count ? starts[index + 1].start : numberOfItems
            return (starts[index].name, starts[index].start..<end)
        }
    }

    private var sectionIndex: SectionIndex {
        known.index.withLock { known in
            if let known { return known }
            let sections = sections
            let places = Dictionary(
                sections.enumerated().map { ($0.element.name, $0.offset) },
                uniquingKeysWith: { first, _ in first })
            let new = SectionIndex(sections: sections, places: places)
            known = new
            return new
        }
    }

    private func range(ofSection name: String) -> Range<Int>? {
        let index = sectionIndex
        return index.places[name].map { index.sections[$0].range }
    }

    /// The names of the sections, in order.
    public var sectionIdentifiers: [String] { sections.map(\.name) }

    /// How many sections there are.
    public var numberOfSections: Int {
        isSectioned ? chunks.reduce(0) { $0 + $1.starts.count } : 1
    }

    /// The ids of a section, in order; none if there is no such section.
    ///
    /// - Complexity: O(ids of the section + n / 256); plus O(sections) the first time.
    public func itemIdentifiers(inSection name: String) -> [ObjectID] {
        range(ofSection: name).map(ids) ?? []
    }

    /// How many ids a section has; 0 if there is no such section.
    public func numberOfItems(inSection name: String) -> Int {
        range(ofSection: name)?.count ?? 0
    }

    /// The name of the section that contains an id; nil if there is none.
    ///
    /// - Complexity: O(n).
    public func sectionIdentifier(containing id: ObjectID) -> String? {
        guard let index = itemIdentifiers.firstIndex(of: id) else { return nil }
        return sections.first { $0.range.contains(index) }?.name
    }

    // MARK: Ids

    /// All ids, in order.
    public var itemIdentifiers: [ObjectID] {
        var ids: [ObjectID] = []
        ids.reserveCapacity(numberOfItems)
        for chunk in chunks { ids += chunk.ids }
        return ids
    }

    /// The ids of some places.
    func ids(_ range: Range<Int>) -> [ObjectID] {
        var ids: [ObjectID] = []
        ids.reserveCapacity(range.count)
        var before = 0
        for chunk in chunks {
            let own = range.clamped(to: before..<before + chunk.ids.count)
            ids += chunk.ids[(own.lowerBound - before)..<(own.upperBound - before)]
            before += chunk.ids.count
            if before >= range.upperBound { break }
        }
        return ids
    }

    // MARK: Comparing

    /// The difference between an earlier snapshot's ids and these, ignoring sections. A moved id is removed and
    /// inserted, and the two changes refer to each other.
    ///
    /// ```swift
    /// let change = snapshot.difference(from: earlier)
    /// shown = shown.applying(change) ?? snapshot.itemIdentifiers
    /// ```
    ///
    /// - Complexity: O(n log n) in the ids of both; the beginning that they share costs less.
    public func difference(from earlier: FetchedResultsSnapshot) -> CollectionDifference<ObjectID> {
        let (old, new) = (earlier.itemIdentifiers, itemIdentifiers)
        let places = Dictionary(
            uniqueKeysWithValues: old.enumerated().map { ($0.element, $0.offset) })
        let common = new.indices.filter { places[new[$0]] != nil }
        let staying = RisingRun.longest(common.map { places[new[$0]] ?? 0 })
        var isStayingNew = Array(repeating: false, count: new.count)
        var isStayingOld = Array(repeating: false, count: old.count)
        for index in staying {
            isStayingNew[common[index]] = true
            if let place = places[new[common[index]]] { isStayingOld[place] = true }
        }
        var moved: [ObjectID: Int] = [:]
        for index in common where !isStayingNew[index] { moved[new[index]] = index }
        var changes: [CollectionDifference<ObjectID>.Change] = []
        for (place, id) in old.enumerated() where !isStayingOld[place] {
            changes.append(.remove(offset: place, element: id, associatedWith: moved[id]))
        }
        for (place, id) in new.enumerated() where !isStayingNew[place] {
            changes.append(
                .insert(offset: place, element: id, associatedWith: places[id]))
        }
        return .checked(changes)
    }
}

extension CollectionDifference {
    /// A difference of changes that fit together.
    static func checked(_ changes: [Change]) -> CollectionDifference {
        guard let difference = CollectionDifference(changes) else {
            preconditionFailure("each place is removed or inserted once, and moves have two ends")
        }
        return difference
    }
}

extension FetchedResultsSnapshot: Equatable {
    /// Whether two have the same ids in the same sections.
    public static func == (left: Self, right: Self) -> Bool {
        left.numberOfItems == right.numberOfItems
            && left.sections.elementsEqual(right.sections) {
                $0.name == $1.name && $0.range == $1.range
            }
            && left.itemIdentifiers == right.itemIdentifiers
    }
}
