// cairn history: prints who changed which objects, and when.

import ArgumentParser
import CairnInspection
import CairnModel
import CairnStore
import FoundationEssentials

/// Prints the retained history of a store.
struct HistoryCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Print who changed which objects, and when.",
        discussion: """
            A store has a history if a program or --keep turned it on; from then on, all programs \
            record it. A transaction's number is that of its commit. Transactions are printed \
            oldest first, even while programs write. With --values, the objects' values before and \
            after each transaction are printed too, as far back as the store keeps past states \
            (see cairn past).

            Examples:
              cairn history shop.cairn --keep
              cairn history shop.cairn --author "cairn import" --entity Product --values
            """)

    @OptionGroup var place: StoreArgument

    @Option(help: "Only transactions after this number.")
    var after: UInt64?

    @Option(help: "Only transactions by this author.")
    var author: String?

    @Option(help: "Only changes to objects of this entity, without its subentities.")
    var entity: String?

    @Option(
        help: ArgumentHelp(
            "Only changes to this object: a URI, or p17 with --entity. Can be repeated.",
            valueName: "id"))
    var object: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only changes of this type. Can be repeated.", valueName: "insert|update|delete"),
        transform: { try HistoryCommand.type($0) })
    var type: [PersistentHistoryChangeType] = []

    @Option(help: "Print at most this many transactions.")
    var limit: Int?

    @Flag(help: "Print changed values, before and after.")
    var values = false

    @Flag(help: "Start a history if the store has none, without printing it.")
    var keep = false

    @OptionGroup var turn: WaitOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        let asks =
            after != nil || author != nil || entity != nil || limit != nil || values
            || !object.isEmpty || !type.isEmpty
        if keep, asks {
            throw ValidationError("--keep only starts a history; omit it to print the history.")
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
                    "cairn: note: past states are available after commit \(bounds.horizon): see get --at"
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
                // A batch request may have changed a million objects: printed lines are not kept.
                try past?.readValues(of: transaction) {
                    for line in Self.lines($0) { console.print(line) }
                    return true
                }
            }
        }
    }

    /// Starts keeping a history.
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
                : "\(place.title): history is kept from now on, after commit \(bounds.horizon)")
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
        let head =
            "\(transaction.transactionNumber)  \(TransactionText.time(transaction))"
            + (transaction.author.map { "  by \($0)" } ?? "")
            + (transaction.contextName.map { "  in \($0)" } ?? "")
            + "  \(TransactionText.program(transaction))"
        return [head]
            + (transaction.changes?.groups ?? []).map { "    \(TransactionText.line($0))" }
    }

    /// Returns the lines for the changed values of an object.
    private static func lines(_ object: PersistentHistoryValues) -> [String] {
        TransactionText.changed(object).map { name in
            "        \(TransactionText.name(object))  \(PlainText.visible(name))  \(TransactionText.values(of: name, object))"
        }
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
                TransactionText.changed(object).map {
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
        let led = TransactionText.redirected(group)
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
