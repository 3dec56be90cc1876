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
    @Argument(help: "The store's folder.", completion: .directory)
    var store: String
}
