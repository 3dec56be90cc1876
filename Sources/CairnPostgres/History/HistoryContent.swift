// The changes of a transaction in one row of the history: objects of one entity with the same change.
//
// It is JSON, so that people can read it in the database.
//
// Threads: plain values.

import CairnModel
import CairnStore
import FoundationEssentials

/// The content of a row of `cairn_changes`.
struct HistoryContent: Codable {
    /// Neighbouring numbers: the first, and how many there are, run by run.
    var numbers: [UInt64]
    /// Of updates: the names of the properties that were changed.
    var properties: [String]?
    /// Of deletions: the names of the values that are kept.
    var names: [String]?
    /// The values, object by object.
    var values: [Value]?
    /// Objects that were folded into others, and these, one after the other.
    var redirects: [UInt64]?

    init(_ group: PersistentHistoryChanges.Group) {
        numbers = group.numbers.runs.flatMap { [$0.lowerBound, UInt64($0.count)] }
        properties = group.updatedProperties.isEmpty ? nil : group.updatedProperties.sorted()
        names = group.names.isEmpty ? nil : group.names
        values = group.values.isEmpty ? nil : group.values
        let folded = group.redirects.sorted { $0.key < $1.key }
        redirects = folded.isEmpty ? nil : folded.flatMap { [$0.key, $0.value] }
    }

    /// The same as a history has it.
    ///
    /// - Throws: `SQLFailure` if the parts do not fit together.
    func group(_ entity: SchemaEntity, _ type: PersistentHistoryChangeType) throws(SQLFailure)
        -> PersistentHistoryChanges.Group
    {
        let redirects = redirects ?? []
        guard numbers.count % 2 == 0, !numbers.isEmpty, redirects.count % 2 == 0 else {
            throw SQLFailure(.unreadable, "a change in the history has no objects")
        }
        var objects = ObjectNumbers()
        for run in stride(from: 0, to: numbers.count, by: 2) {
            guard numbers[run + 1] > 0, numbers[run + 1] <= UInt64(UInt32.max),
                numbers[run] <= UInt64(UInt32.max)
            else { throw SQLFailure(.unreadable, "an object number in the history is invalid") }
            objects.formUnion(ObjectNumbers(numbers[run]..<numbers[run] + numbers[run + 1]))
        }
        var group = PersistentHistoryChanges.Group(
            entity: entity.index, entityName: entity.name, type: type, numbers: objects,
            updatedProperties: Set(properties ?? []), names: names ?? [], values: values ?? [])
        guard group.values.count == group.names.count * objects.count else {
            throw SQLFailure(.unreadable, "values that the history kept are missing")
        }
        for place in stride(from: 0, to: redirects.count, by: 2) {
            group.redirects[redirects[place]] = redirects[place + 1]
        }
        return group
    }
}
