// The changes of one commit in the history.

public import CairnModel
public import FoundationEssentials

/// A commit in the history: its author, time and changes.
public struct PersistentHistoryTransaction: Sendable {
    /// When it was committed.
    public let timestamp: Date
    /// Its number in its store, which is the number of the commit. Numbers ascend, with gaps.
    public let transactionNumber: UInt64
    /// The identifier of its store.
    public let storeID: UUID
    /// The name of the program that wrote; nil if unknown. (There are no bundles here.)
    public let bundleID: String?
    /// The id of the process that wrote.
    public let processID: Int32
    /// The name of the context that wrote, if it has one.
    public let contextName: String?
    /// The author, if one was set.
    public let author: String?
    /// The changes; nil if only transactions were requested.
    public internal(set) var changes: PersistentHistoryChanges?
    /// The position after it, and after everything fetched before it: for other stores that the request covers, or that
    /// its token covers, it keeps their positions.
    public internal(set) var token: PersistentHistoryToken

    /// Describes a transaction.
    package init(
        timestamp: Date, transactionNumber: UInt64, storeID: UUID, bundleID: String?,
        processID: Int32, contextName: String?, author: String?, changes: PersistentHistoryChanges?
    ) {
        self.timestamp = timestamp
        self.transactionNumber = transactionNumber
        self.storeID = storeID
        self.bundleID = bundleID
        self.processID = processID
        self.contextName = contextName
        self.author = author
        self.changes = changes
        token = PersistentHistoryToken(
            store: storeID, number: transactionNumber,
            mark: .init(
                transaction: transactionNumber, time: timestamp.timeIntervalSinceReferenceDate))
    }

    /// The ids of new objects, if the transaction has its changes.
    public var insertedObjectIDs: [ObjectID] { changes?.objectIDs(.insert) ?? [] }
    /// The ids of changed objects, if the transaction has its changes.
    public var updatedObjectIDs: [ObjectID] { changes?.objectIDs(.update) ?? [] }
    /// The ids of deleted objects, if the transaction has its changes.
    public var deletedObjectIDs: [ObjectID] { changes?.objectIDs(.delete) ?? [] }
}

/// The type of a change.
public enum PersistentHistoryChangeType: Int, Sendable, Hashable, CaseIterable, Codable {
    /// The object was inserted.
    case insert = 0
    /// The object was updated.
    case update = 1
    /// The object was deleted.
    case delete = 2
}

/// A transaction's change to one object.
public struct PersistentHistoryChange: Sendable {
    /// Its position among the changes of its transaction, from 1.
    public let changeID: Int64
    /// The number of its transaction.
    public let transactionNumber: UInt64
    /// The object.
    public let changedObjectID: ObjectID
    /// The name of the object's entity.
    public let entityName: String
    /// The type of the change.
    public let changeType: PersistentHistoryChangeType
    /// For a deletion: the values of attributes with `preservesValueInHistoryOnDeletion`, by name; nil if there are none.
    /// Values of more than a few KiB are not kept.
    public let tombstone: [String: Value]?
    /// For an update: the names of the changed properties, including relationships.
    public let updatedProperties: Set<String>?
    /// If the object was merged into another one and deleted, as by deduplication: the id of the other object, which may
    /// later have been merged into yet another one.
    public let redirectedObjectID: ObjectID?
}

/// The changes of a transaction: one per object, created on access.
///
/// The changes of a batch request to a million objects take about a hundred bytes here.
public struct PersistentHistoryChanges: Sendable, RandomAccessCollection {
    /// Objects of one entity to which the same was done.
    package struct Group: Sendable {
        /// The entity, as an index of the schema.
        package var entity: Int
        package var entityName: String
        package var type: PersistentHistoryChangeType
        package var numbers: ObjectNumbers
        package var updatedProperties: Set<String>
        /// Of deletions: the names of the values that were kept, and the values, object by object.
        package var names: [String]
        package var values: [Value]
        /// Of deletions: by the number of each object that was deleted in favour of another one, the number of that one. There may
        /// be more than those of the group.
        package var redirects: [UInt64: UInt64] = [:]

        package init(
            entity: Int, entityName: String, type: PersistentHistoryChangeType,
            numbers: ObjectNumbers, updatedProperties: Set<String> = [], names: [String] = [],
            values: [Value] = []
        ) {
            self.entity = entity
            self.entityName = entityName
            self.type = type
            self.numbers = numbers
            self.updatedProperties = updatedProperties
            self.names = names
            self.values = values
        }
    }

    /// Neighbouring numbers.
    private struct Run: Sendable {
        let group: Int
        let first: UInt64
        /// The index of its first change, and which one of its group it is.
        let index: Int
        let place: Int
    }

    package let groups: [Group]
    private let runs: [Run]
    private let identity: StoreIdentity
    private let transaction: UInt64
    /// Where the changes are among all of the transaction, from 1; nil if they are all.
    private let places: ObjectPlaces?
    /// The number of changes.
    public let count: Int

    /// - Parameters:
    ///   - groups: none of them empty.
    ///   - places: where the changes are among all of the transaction, from 1; nil if they are all.
    package init(
        _ groups: [Group], transaction: UInt64, identity: StoreIdentity,
        places: ObjectNumbers? = nil
    ) {
        self.groups = groups
        self.places = places.map(ObjectPlaces.init)
        self.transaction = transaction
        self.identity = identity
        var runs: [Run] = []
        var index = 0
        for (group, content) in groups.enumerated() {
            let start = index
            for run in content.numbers.runs {
                runs.append(
                    Run(group: group, first: run.lowerBound, index: index, place: index - start))
                index += run.count
            }
        }
        self.runs = runs
        count = index
    }

    /// The index of the first change.
    public var startIndex: Int { 0 }
    /// The index after the last change.
    public var endIndex: Int { count }

    /// A change.
    ///
    /// - Complexity: O(log runs of adjacent objects).
    public subscript(_ position: Int) -> PersistentHistoryChange {
        precondition(position >= 0 && position < count, "the transaction has fewer changes")
        var (low, high) = (0, runs.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if runs[middle].index <= position { low = middle } else { high = middle }
        }
        let run = runs[low]
        let group = groups[run.group]
        let offset = position - run.index
        var tombstone: [String: Value]?
        if !group.names.isEmpty {
            var values: [String: Value] = [:]
            let start = (run.place + offset) * group.names.count
            for (index, name) in group.names.enumerated() {
                let value = group.values[start + index]
                if !value.isNull { values[name] = value }
            }
            tombstone = values
        }
        return PersistentHistoryChange(
            changeID: changeID(position), transactionNumber: transaction,
            changedObjectID: identity.id(run.first + UInt64(offset), entity: group.entity),
            entityName: group.entityName, changeType: group.type, tombstone: tombstone,
            updatedProperties: group.type == .update ? group.updatedProperties : nil,
            redirectedObjectID: group.redirects.isEmpty
                ? nil
                : group.redirects[run.first + UInt64(offset)].map {
                    identity.id($0, entity: group.entity)
                })
    }

    /// The ids of the objects to which one thing was done.
    func objectIDs(_ type: PersistentHistoryChangeType) -> [ObjectID] {
        groups.filter { $0.type == type }.flatMap { group in
            group.numbers.map { identity.id($0, entity: group.entity) }
        }
    }

    private func changeID(_ position: Int) -> Int64 {
        places.map { Int64(clamping: $0[position]) } ?? Int64(position) + 1
    }

    /// Those that a closure wants of each group; nil if that is none.
    ///
    /// - Precondition: these are all changes of their transaction.
    func filtered(groups body: (Group) -> Group?) -> PersistentHistoryChanges? {
        var wanted: [Group] = []
        var places = ObjectNumbers()
        var start: UInt64 = 1
        for group in groups {
            if let some = body(group) {
                wanted.append(some)
                group.numbers.places(of: some.numbers, from: start, into: &places)
            }
            start += UInt64(group.numbers.count)
        }
        if wanted.isEmpty { return nil }
        return PersistentHistoryChanges(
            wanted, transaction: transaction, identity: identity,
            places: places.count == count ? nil : places)
    }

    /// Those that a closure wants; nil if that is none.
    func filtered(where isWanted: (PersistentHistoryChange) -> Bool) -> PersistentHistoryChanges? {
        var wanted: [Group] = []
        var places = ObjectNumbers()
        var position = 0
        for group in groups {
            var some = group
            some.numbers = ObjectNumbers()
            some.values = []
            let each = group.names.count
            for (place, number) in group.numbers.enumerated() {
                defer { position += 1 }
                guard isWanted(self[position]) else { continue }
                some.numbers.append(number)
                some.values += group.values[place * each..<(place + 1) * each]
                places.append(UInt64(changeID(position)))
            }
            if !some.numbers.isEmpty { wanted.append(some) }
        }
        if wanted.isEmpty { return nil }
        return PersistentHistoryChanges(
            wanted, transaction: transaction, identity: identity,
            places: places.count == count && self.places == nil ? nil : places)
    }

    /// The first of them. None is made.
    ///
    /// - Complexity: O(runs of neighbouring objects), and the values that were kept of those.
    func first(_ count: Int) -> PersistentHistoryChanges {
        if count <= 0 { return [] }
        if count >= self.count { return self }
        var first: [Group] = []
        var left = count
        for group in groups where left > 0 {
            var some = group
            if group.numbers.count > left {
                some.numbers = group.numbers.first(left)
                some.values = Array(group.values.prefix(left * group.names.count))
            }
            left -= some.numbers.count
            first.append(some)
        }
        var all = ObjectNumbers()
        all.append(1...UInt64(count))
        return PersistentHistoryChanges(
            first, transaction: transaction, identity: identity,
            places: places?.first(count) ?? all)
    }

    /// How objects are named.
    var names: StoreIdentity { identity }
}

extension PersistentHistoryChanges: ExpressibleByArrayLiteral {
    /// No changes: `transaction.changes ?? []`.
    public init(arrayLiteral elements: Never...) {
        self.init(
            [], transaction: 0,
            identity: StoreIdentity(
                identifier: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
                hierarchies: []))
    }
}
