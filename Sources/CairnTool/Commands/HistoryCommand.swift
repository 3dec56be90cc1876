// cairn history: who changed which objects, and when.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore
import FoundationEssentials

/// Prints the history of a store, as far as it is retained.
struct HistoryCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print who changed which objects of a store, and when.",
        discussion: """
            A store has a history if a program asked for one when it opened it, or --keep did: from \
            then on programs keep it too. The numbers of the transactions are those of commits. \
            Transactions are printed oldest first, also while a program writes. With --values the \
            values of the objects before and after each transaction are printed as well, as far back \
            as the store keeps past states: see cairn past.
            """)

    @OptionGroup var place: StoreArgument

    @Option(help: "Only what was written after the transaction of that number.")
    var after: UInt64?

    @Option(help: "Only what this author wrote.")
    var author: String?

    @Option(help: "Only changes of objects of this entity, its subentities not among them.")
    var entity: String?

    @Option(
        help: ArgumentHelp(
            "Only changes of this object: a URI, or p17 with --entity. Repeat it for more.",
            valueName: "id"))
    var object: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only changes of this type. Repeat it for more.", valueName: "insert|update|delete"),
        transform: { try HistoryCommand.type($0) })
    var type: [PersistentHistoryChangeType] = []

    @Option(help: "At most so many transactions.")
    var limit: Int?

    @Flag(help: "Print the values that were changed, before and after.")
    var values = false

    @Flag(help: "Begin a history, if the store keeps none, and print nothing of it.")
    var keep = false

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        let asks =
            after != nil || author != nil || entity != nil || limit != nil || values
            || !object.isEmpty || !type.isEmpty
        if keep, asks {
            throw ValidationError("--keep only begins a history: to read it, leave --keep out.")
        }
    }

    func run() throws {
        if keep { return try begin() }
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            let kind = try entity.map { try session.entity($0) }
            try session.requireKept(values ? [.history, .pastStates] : [.history])
            var request = PersistentHistoryChangeRequest.fetchHistory(
                after: after.map {
                    PersistentHistoryToken(store: session.store.identity.identifier, number: $0)
                })
            request.authors = author.map { [$0] }
            request.entityName = entity
            if !object.isEmpty {
                request.changedObjectIDs = Set(
                    try session.objectIDs(object, of: kind, option: "--object"))
            }
            if !type.isEmpty { request.changeTypes = Set(type) }
            request.fetchLimit = limit ?? 0
            let past = session.store as? any PastStore
            let bounds = try past?.pastStateBounds()
            if let bounds, !output.json {
                console.printError(
                    "cairn: note: past states can be read from the one after commit \(bounds.horizon) on: see get --at"
                )
            }
            let first = bounds?.horizon ?? .max
            let history = try session.store.fetchHistory(request)
            while let transaction = try history.next() {
                let isKept = values && first < transaction.transactionNumber
                if output.json {
                    var objects: [JSONValue]? = isKept ? [] : nil
                    if isKept {
                        try past?.readValues(of: transaction) {
                            objects?.append(Self.json($0))
                            return true
                        }
                    }
                    console.print(Self.json(transaction, objects).line)
                    continue
                }
                for line in Self.lines(transaction) { console.print(line) }
                guard isKept else { continue }
                // A batch may have changed a million: what is printed is not kept.
                try past?.readValues(of: transaction) {
                    for line in Self.lines($0) { console.print(line) }
                    return true
                }
            }
        }
    }

    /// Has the store keep a history from now on.
    private func begin() throws {
        let bounds = try StoreSession.writing(place.store, turn, tracksHistory: true) {
            try $0.store.historyBounds()
        }
        guard let bounds else { throw StoreError.noHistory }
        Console.current.print(
            output.json
                ? JSONValue.object([
                    "store": .string(place.title), "horizon": .count(bounds.horizon),
                    "last": .count(bounds.last),
                ]).line
                : "\(place.title): a history is kept of what follows commit \(bounds.horizon)")
    }

    private static func type(_ text: String) throws -> PersistentHistoryChangeType {
        let types = PersistentHistoryChangeType.allCases
        guard let type = types.first(where: { "\($0)" == text }) else {
            throw ValidationError("--type must be insert, update or delete.")
        }
        return type
    }

    // MARK: Text

    private static func lines(_ transaction: PersistentHistoryTransaction) -> [String] {
        let program =
            transaction.bundleID.map { "\($0) (\(transaction.processID))" }
            ?? "process \(transaction.processID)"
        let head =
            "\(transaction.transactionNumber)  \(PlainText.value(.date(rounded(transaction.timestamp))))"
            + (transaction.author.map { "  by \($0)" } ?? "")
            + (transaction.contextName.map { "  in \($0)" } ?? "") + "  \(program)"
        return [head]
            + (transaction.changes?.groups ?? []).map { group in
                let properties = group.updatedProperties.sorted().joined(separator: ", ")
                return
                    "    \(group.type) \(PlainText.count(group.numbers.count, "object")) of \(group.entityName)"
                    + ": \(numbers(group.numbers))"
                    + (properties.isEmpty ? "" : "; \(properties)") + redirects(group)
            }
    }

    /// To whom objects were led, the first of many.
    private static func redirects(_ group: PersistentHistoryChanges.Group) -> String {
        let led = redirected(group)
        if led.isEmpty { return "" }
        let most = 8
        let words = led.prefix(most).map { "p\($0.number) to p\($0.target)" }
        return "; redirected " + words.joined(separator: ", ") + (led.count > most ? ", …" : "")
    }

    private static func redirected(_ group: PersistentHistoryChanges.Group)
        -> [(number: UInt64, target: UInt64)]
    {
        group.redirects.filter { group.numbers.contains($0.key) }.inKeyOrder()
            .map { ($0.key, $0.value) }
    }

    /// What of an object's values is another one now.
    private static func lines(_ object: PersistentHistoryValues) -> [String] {
        func text(_ value: Value?) -> String {
            guard let value, !value.isNull else { return "nil" }
            return PlainText.value(value)
        }
        let id = "\(object.change.entityName) p\(object.change.changedObjectID.reference)"
        return changed(object).map { name in
            let values = [object.before, object.after].compactMap { $0.map { text($0[name]) } }
            return "        \(id)  \(PlainText.visible(name))  \(values.joined(separator: " → "))"
        }
    }

    private static func changed(_ object: PersistentHistoryValues) -> [String] {
        let names = Set((object.before ?? [:]).keys).union((object.after ?? [:]).keys)
        return names.sorted().filter { name in
            (object.before?[name] ?? .null) != (object.after?[name] ?? .null)
        }
    }

    /// The first of many runs are enough for people.
    private static func numbers(_ numbers: ObjectNumbers) -> String {
        let most = 8
        let words = numbers.runs.prefix(most).map { run in
            run.count == 1 ? "p\(run.lowerBound)" : "p\(run.lowerBound)-p\(run.upperBound)"
        }
        return words.joined(separator: ", ") + (numbers.runs.count > most ? ", …" : "")
    }

    private static func rounded(_ date: Date) -> Date {
        Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
    }

    // MARK: JSON

    private static func json(
        _ transaction: PersistentHistoryTransaction, _ objects: [JSONValue]?
    ) -> JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) {
            members.append(.init(key: key, value: value))
        }
        add("number", .count(transaction.transactionNumber))
        add("time", .date(transaction.timestamp.timeIntervalSinceReferenceDate))
        add("author", .text(transaction.author))
        add("context", .text(transaction.contextName))
        add("program", .text(transaction.bundleID))
        add("process", .count(transaction.processID))
        add("changes", .array((transaction.changes?.groups ?? []).map(json)))
        if let objects { add("values", .array(objects)) }
        return .object(members)
    }

    private static func json(_ object: PersistentHistoryValues) -> JSONValue {
        func values(_ values: [String: Value]?) -> JSONValue {
            guard let values else { return .null }
            return .object(
                changed(object).map {
                    .init(key: $0, value: JSONValue(values[$0] ?? .null))
                })
        }
        return .object([
            "entity": .string(object.change.entityName),
            "objectID": .string("p\(object.change.changedObjectID.reference)"),
            "before": values(object.before), "after": values(object.after),
        ])
    }

    private static func json(_ group: PersistentHistoryChanges.Group) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init(key: "entity", value: .string(group.entityName)),
            .init(key: "type", value: .string("\(group.type)")),
            .init(
                key: "objects",
                value: .array(
                    group.numbers.runs.map {
                        .array([.count($0.lowerBound), .count($0.upperBound)])
                    })),
        ]
        if group.type == .update {
            members.append(
                .init(
                    key: "properties",
                    value: .array(group.updatedProperties.sorted().map { .string($0) })))
        }
        let led = redirected(group)
        if !led.isEmpty {
            members.append(
                .init(
                    key: "redirects",
                    value: .array(led.map { .array([.count($0.number), .count($0.target)]) })))
        }
        if !group.names.isEmpty {
            let each = group.names.count
            let tombstones = (0..<group.numbers.count).map { object in
                JSONValue.object(
                    group.names.enumerated().map { index, name in
                        .init(
                            key: name,
                            value: .string(PlainText.value(group.values[object * each + index])))
                    })
            }
            members.append(.init(key: "tombstones", value: .array(tombstones)))
        }
        return .object(members)
    }
}
