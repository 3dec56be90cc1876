// Transactions of the history for people.
//
// Threads: values.

import CairnInspection
import CairnModel
import CairnStore
import FoundationEssentials

/// The words for the changes of a transaction.
enum TransactionText {
    /// The maximum number of runs of numbers, or of redirects, for people.
    private static let most = 8

    /// Returns the program that committed it, as far as it is known.
    static func program(_ transaction: PersistentHistoryTransaction) -> String {
        transaction.bundleID.map { "\($0) (\(transaction.processID))" }
            ?? "process \(transaction.processID)"
    }

    /// Returns the time of the commit, to the second: more precision is not useful here.
    static func time(_ transaction: PersistentHistoryTransaction) -> String {
        let seconds = transaction.timestamp.timeIntervalSinceReferenceDate.rounded(.down)
        return PlainText.value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    }

    /// Returns a line about changed objects of one entity.
    static func line(_ group: PersistentHistoryChanges.Group) -> String {
        let properties = group.updatedProperties.sorted().joined(separator: ", ")
        return
            "\(group.type) \(PlainText.count(group.numbers.count, "object")) of \(group.entityName)"
            + ": \(numbers(group.numbers))" + (properties.isEmpty ? "" : "; \(properties)")
            + redirects(group)
    }

    /// Returns its changes in total: one line for each entity and kind of change, without object numbers.
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

    /// Returns the objects that were merged into others, with these.
    static func redirected(_ group: PersistentHistoryChanges.Group)
        -> [(number: UInt64, target: UInt64)]
    {
        group.redirects.filter { group.numbers.contains($0.key) }.inKeyOrder()
            .map { ($0.key, $0.value) }
    }

    /// Returns the names of an object's changed properties.
    static func changed(_ object: PersistentHistoryValues) -> [String] {
        let names = Set((object.before ?? [:]).keys).union((object.after ?? [:]).keys)
        return names.sorted().filter { name in
            (object.before?[name] ?? .null) != (object.after?[name] ?? .null)
        }
    }

    /// Returns the name of the object that the values belong to.
    static func name(_ object: PersistentHistoryValues) -> String {
        "\(object.change.entityName) p\(object.change.changedObjectID.reference)"
    }

    /// Returns the old and new value of a property: only one of them if the object was inserted or deleted.
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
