// Options that commands have in common.

import ArgumentParser
import CairnLog
import CairnModel

/// The output format of a command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one value per line.")
    var json = false
}

/// The objects of a command.
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

    /// The semantics of nil in the condition.
    var nullSemantics: NullSemantics { sqlNulls ? .sql : .twoValued }
}

extension ConditionOptions {
    /// Creates the options without a command line.
    init(condition: String?, sqlNulls: Bool) throws {
        self = try .parse(
            (condition.map { ["--where=\($0)"] } ?? []) + (sqlNulls ? ["--sql-nulls"] : []))
    }
}

/// The depth of a check.
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

/// The state of a store.
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
    /// Creates the options without a command line.
    init(at moment: String?) throws {
        self = try .parse(moment.map { ["--at=\($0)"] } ?? [])
    }
}

/// The store of a command.
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

    /// The store's title for output, without secrets.
    var title: String { StoreKinds.current.title(of: store) }
}

/// The store of a command, in a folder.
struct FolderArgument: ParsableArguments {
    @Argument(help: "The store's folder.", completion: .directory)
    var store: String

    /// Returns the folder.
    ///
    /// - Throws: `Failure` if it is not a folder: such stores lack the command's feature.
    func folder(for feature: FolderFeature) throws -> String {
        guard !DatabaseURL.isOne(store) else {
            throw feature.refusal(of: StoreKinds.current.title(of: store))
        }
        return store
    }
}

/// A command for stores that may be in places which this tool does not support.
protocol StoreCommand: ParsableCommand {
    /// The places of stores, or models, that the command opens.
    var places: [String] { get }
}

/// A command with the usual store argument.
protocol OneStoreCommand: StoreCommand {
    var place: StoreArgument { get }
}

extension OneStoreCommand {
    var places: [String] { [place.store] }
}
