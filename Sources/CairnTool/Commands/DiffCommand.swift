// cairn diff: compares two stores.

import ArgumentParser
import CairnInspection
import CairnModel

/// Thrown by a comparison that found differences: not a failure, but not the exit code for equal stores
/// either.
struct StoresDiffer: Error {}

/// Prints the differences between two stores.
struct DiffCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Compare two stores: schema, counts, rows.",
        discussion: """
            Objects are matched by the attributes of a uniqueness constraint; without one, or if \
            it contains nil, by their ids. Related objects are identified in the same way. Ids and \
            versions are not compared otherwise.

            Exit codes: 0 the stores are equal; 1 they differ; 2 they cannot be compared; 3 one of \
            them is damaged.

            Example:
              cairn diff shop.cairn shop-backup.cairn --entity Product
            """)

    @Argument(
        help: "The first store: a folder, or postgresql://HOST/DATABASE.",
        completion: .directory)
    var a: String

    @Argument(help: "The second store, in the same form.", completion: .directory)
    var b: String

    @Option(help: "Only compare objects of this entity and its subentities.")
    var entity: String?

    @Option(
        parsing: .unconditional,
        help: "Print at most this many rows; all are counted.")
    var limit = 20

    @OptionGroup var output: OutputOptions

    var places: [String] { [a, b] }

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() throws {
        let isEqual: Bool
        do {
            isEqual = try StoreSession.reading(a) { first in
                try StoreSession.reading(b) { second in
                    try compare(try ComparedStore(first), try ComparedStore(second))
                }
            }
        } catch {
            // Exit code 1 means that the stores differ.
            guard let failure = Failure(error), failure.code == .failed else { throw error }
            throw failure.with(.usage)
        }
        guard isEqual else { throw StoresDiffer() }
    }

    private func compare(_ first: ComparedStore, _ second: ComparedStore) throws -> Bool {
        let console = Console.current
        var printer = DiffPrinter(limit: limit, isJSON: output.json, console: console)
        let chosen = try entity.map { try family($0, first, second) }
        for difference in SchemaDifference.all(first.schema.model, second.schema.model)
        where chosen?.contains(difference.entity) ?? true {
            printer.add(difference)
        }
        var pairs: [(ours: SchemaEntity?, theirs: SchemaEntity?)] = first.schema.entities.map {
            ($0, second.schema.entity(named: $0.name))
        }
        for entity in second.schema.entities where first.schema.entity(named: entity.name) == nil {
            pairs.append((nil, entity))
        }
        pairs = pairs.compactMap { ours, theirs in
            guard let name = ours?.name ?? theirs?.name, chosen?.contains(name) ?? true else {
                return nil
            }
            let ours = ours.flatMap { $0.isAbstract ? nil : $0 }
            let theirs = theirs.flatMap { $0.isAbstract ? nil : $0 }
            return ours == nil && theirs == nil ? nil : (ours, theirs)
        }
        for (ours, theirs) in pairs {
            printer.add(
                entity: ours?.name ?? theirs?.name ?? "",
                try ours.map { try first.count(of: $0) } ?? 0,
                try theirs.map { try second.count(of: $0) } ?? 0)
        }
        for (ours, theirs) in pairs {
            let comparison = RowComparison(
                first: first, second: second, report: { printer.add($0) },
                progress: { done in
                    console.progress("comparing \(ours?.name ?? ""): \(PlainText.number(done))")
                })
            try comparison.compare(ours, theirs)
        }
        return printer.end()
    }

    /// Returns the names of an entity and its descendants, in either store.
    private func family(_ name: String, _ first: ComparedStore, _ second: ComparedStore) throws
        -> Set<String>
    {
        var names: Set<String> = []
        for store in [first, second] {
            guard let entity = store.schema.entity(named: name) else { continue }
            names.formUnion(entity.family.map { store.schema.entities[$0].name })
        }
        if names.isEmpty { _ = try first.session.entity(name) }
        return names
    }
}
