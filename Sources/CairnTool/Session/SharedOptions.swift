// Options that commands have in common.

import ArgumentParser
import CairnModel

/// How a command prints.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one value a line.")
    var json = false
}

/// Which objects.
struct ConditionOptions: ParsableArguments {
    @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition.")
    var condition: String?

    @Flag(
        help: ArgumentHelp(
            "Take nil in conditions as SQL does.",
            discussion: """
                A comparison with nil is neither true nor false then, nor is its opposite: price != 5 \
                finds no object without a price. == NULL and != NULL are what they are.
                """))
    var sqlNulls = false

    /// What the condition says of nil.
    var nullSemantics: NullSemantics { sqlNulls ? .sql : .twoValued }
}

/// Which state of a store.
struct MomentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the state after the commit of that number, or at that time (2026-01-31T10:00:00Z).",
            discussion:
                "A store keeps past states if a program asked for them when it opened it, or cairn past did."
        ))
    var at: String?
}

/// Which store.
struct StoreArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The store: its folder, or postgresql://HOST/DATABASE for one in PostgreSQL.",
            discussion: """
                Without ?cairn_schema=NAME a store in PostgreSQL is in the schema cairn of the database. Leave \
                passwords to ~/.pgpass or PGPASSWORD: others on the machine can see command lines.
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
