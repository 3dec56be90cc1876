// A transaction of the history as a person reads it.
//
// Threads: values.

import CairnInspection
import CairnModel
import CairnStore
import FoundationEssentials

/// The words for what a transaction changed.
enum TransactionText {
    /// So many runs of numbers, or redirects, are enough for people.
    private static let most = 8

    /// The program that committed it, as far as it is known.
    static func program(_ transaction: PersistentHistoryTransaction) -> String {
        transaction.bundleID.map { "\($0) (\(transaction.processID))" }
            ?? "process \(transaction.processID)"
    }

    /// When it was committed, to the second: nobody reads more here.
    static func time(_ transaction: PersistentHistoryTransaction) -> String {
        let seconds = transaction.timestamp.timeIntervalSinceReferenceDate.rounded(.down)
        return PlainText.value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    }

    /// What it did to objects of one entity.
    static func line(_ group: PersistentHistoryChanges.Group) -> String {
        let properties = group.updatedProperties.sorted().joined(separator: ", ")
        return
            "\(group.type) \(PlainText.count(group.numbers.count, "object")) of \(group.entityName)"
            + ": \(numbers(group.numbers))" + (properties.isEmpty ? "" : "; \(properties)")
            + redirects(group)
    }

    /// What it did, each entity's objects of one kind of change together, without their numbers.
    static func sums(_ transaction: PersistentHistoryTransaction) -> [String] {
        var sums: [(first: PersistentHistoryChanges.Group, count: Int, properties: Set<String>)] =
            []
        for group in transaction.changes?.groups ?? [] {
            let index = sums.firstIndex {
                $0.first.entityName == group.entityName && $0.first.type == group.type
            }
            if let index {
                sums[index].count += group.numbers.count
                sums[index].properties.formUnion(group.updatedProperties)
            } else {
                sums.append((group, group.numbers.count, Set(group.updatedProperties)))
            }
        }
        return sums.map { group, count, properties in
            "\(group.type) \(PlainText.count(count, "object")) of \(group.entityName)"
                + (properties.isEmpty ? "" : ": \(properties.sorted().joined(separator: ", "))")
        }
    }

    /// The objects that others took the place of, with these.
    static func redirected(_ group: PersistentHistoryChanges.Group)
        -> [(number: UInt64, target: UInt64)]
    {
        group.redirects.filter { group.numbers.contains($0.key) }.inKeyOrder()
            .map { ($0.key, $0.value) }
    }

    /// The names of what of an object has another value now.
    static func changed(_ object: PersistentHistoryValues) -> [String] {
        let names = Set((object.before ?? [:]).keys).union((object.after ?? [:]).keys)
        return names.sorted().filter { name in
            (object.before?[name] ?? .null) != (object.after?[name] ?? .null)
        }
    }

    /// The object that values are of.
    static func name(_ object: PersistentHistoryValues) -> String {
        "\(object.change.entityName) p\(object.change.changedObjectID.reference)"
    }

    /// A value of an object, from what to what: one side alone if it was inserted or deleted.
    static func values(of name: String, _ object: PersistentHistoryValues) -> String {
        [object.before, object.after].compactMap { values in
            values.map { values in
                guard let value = values[name], !value.isNull else { return "nil" }
                return PlainText.value(value)
            }
        }.joined(separator: " → ")
    }

    private static func redirects(_ group: PersistentHistoryChanges.Group) -> String {
        let led = redirected(group)
        if led.isEmpty { return "" }
        let words = led.prefix(most).map { "p\($0.number) to p\($0.target)" }
        return "; redirected " + words.joined(separator: ", ") + (led.count > most ? ", …" : "")
    }

    private static func numbers(_ numbers: ObjectNumbers) -> String {
        let words = numbers.runs.prefix(most).map { run in
            run.count == 1 ? "p\(run.lowerBound)" : "p\(run.lowerBound)-p\(run.upperBound)"
        }
        return words.joined(separator: ", ") + (numbers.runs.count > most ? ", …" : "")
    }
}
