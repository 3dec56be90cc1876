// Options that commands have in common.

import ArgumentParser

/// How a command prints.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one value a line.")
    var json = false
}

/// Which store.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store's folder.", completion: .directory)
    var store: String
}
