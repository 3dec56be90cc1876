// Options that commands have in common.

import ArgumentParser
import CairnLog
import CairnModel

/// How a command prints.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one value per line.")
    var json = false
}

/// Which objects.
struct ConditionOptions: ParsableArguments {
    @Option(
        name: .customLong("where"), parsing: .unconditional,
        help: "A condition in the predicate format language.")
    var condition: String?

    @Flag(
        help: ArgumentHelp(
            "Use SQL's null semantics in conditions.",
            discussion: """
                A comparison with nil is then neither true nor false, and neither is its negation: price != 5 \
                does not match an object without a price. == NULL and != NULL still work.
                """))
    var sqlNulls = false

    /// What the condition says of nil.
    var nullSemantics: NullSemantics { sqlNulls ? .sql : .twoValued }
}

extension ConditionOptions {
    /// The same without a command line.
    init(condition: String?, sqlNulls: Bool) throws {
        self = try .parse(
            (condition.map { ["--where=\($0)"] } ?? []) + (sqlNulls ? ["--sql-nulls"] : []))
    }
}

/// How deep a check looks.
struct DepthOptions: ParsableArguments {
    @Option(
        help: "How much to check: headers, frames, blocks or all.",
        transform: { text in
            guard let depth = CheckDepth(rawValue: text) else {
                throw ValidationError(
                    "--depth must be one of \(CheckDepth.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            return depth
        })
    var depth = CheckDepth.all
}

/// Which state of a store.
struct MomentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the state after this commit number, or at this time (2026-01-31T10:00:00Z).",
            discussion:
                "A store keeps past states if a program or cairn past turned them on."
        ))
    var at: String?
}

extension MomentOptions {
    /// The same without a command line.
    init(at moment: String?) throws {
        self = try .parse(moment.map { ["--at=\($0)"] } ?? [])
    }
}

/// Which store.
struct StoreArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The store: a folder, or postgresql://HOST/DATABASE.",
            discussion: """
                A store in PostgreSQL uses the database schema cairn, or another with ?cairn_schema=NAME. Put \
                passwords in ~/.pgpass or PGPASSWORD: other users can see command lines.
                """),
        completion: .directory)
    var store: String

    /// The same as it is shown: nothing in it is secret.
    var title: String { StoreKinds.current.title(of: store) }
}

/// Which store, of those in folders.
struct FolderArgument: ParsableArguments {
    @Argument(help: "The store's folder.", completion: .directory)
    var store: String

    /// The folder.
    ///
    /// - Throws: `Failure` if it is none: such stores do not have what the command is about.
    func folder(for feature: FolderFeature) throws -> String {
        guard !DatabaseURL.isOne(store) else {
            throw feature.refusal(of: StoreKinds.current.title(of: store))
        }
        return store
    }
}

/// A command on stores that may be in places which this tool does not know.
protocol StoreCommand: ParsableCommand {
    /// Where stores are that the command opens, or models.
    var places: [String] { get }
}

/// One that names its store as most do.
protocol OneStoreCommand: StoreCommand {
    var place: StoreArgument { get }
}

extension OneStoreCommand {
    var places: [String] { [place.store] }
}
