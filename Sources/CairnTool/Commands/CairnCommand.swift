// The root of the command line.

import ArgumentParser

/// `cairn`: everything about stores without writing Swift.
struct CairnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn",
        abstract: "Imports lists as objects without duplicates, queries and maintains stores.",
        discussion: """
            A store is a folder, or lies in a PostgreSQL database: then its place is \
            postgresql://USER@HOST/DATABASE, with ?cairn_schema=NAME if its schema is not called cairn. \
            Those are opened by cairn-postgres, which cairn runs if it is beside it or in PATH. \
            Reading commands never wait for one that writes.

            Exit codes: 0 fine, 1 the job failed and changed nothing, 2 the command line makes no \
            sense, 3 the store is damaged, 4 it was salvaged, or imported from Core Data, and \
            something of it is lost. \
            cairn diff ends with 1 if the stores differ, and with 2 if they cannot be compared.

            With --json every command prints JSON, one value a line, and errors are objects \
            {"error":{"exit":…,"message":…}} on standard error.
            """,
        version: "0.1.0",
        subcommands: [
            ImportCommand.self, ImportCoreDataCommand.self, QueryCommand.self, CountCommand.self,
            GetCommand.self,
            FindCommand.self, DeleteCommand.self, DuplicatesCommand.self, InfoCommand.self,
            SchemaCommand.self, SpaceCommand.self, HistoryCommand.self, PastCommand.self,
            FramesCommand.self, CheckCommand.self,
            SalvageCommand.self, CompactCommand.self, BackupCommand.self, CopyCommand.self,
            ExportCommand.self,
            HashCommand.self, DiffCommand.self, ModelCommand.self, MigrateCommand.self,
            PredicateCommand.self, QuickstartCommand.self,
        ])
}
