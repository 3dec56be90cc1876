// The root of the command line.

import ArgumentParser

/// `cairn`: works with stores without writing Swift.
struct CairnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn",
        abstract: "Import lists without creating duplicates; query and maintain stores.",
        discussion: """
            A store is a folder, or a PostgreSQL database given by its URL, \
            postgresql://USER@HOST/DATABASE (with ?cairn_schema=NAME if its schema is not cairn). \
            For database URLs, cairn runs cairn-postgres, which must be next to it or in PATH. \
            Commands that read never wait for a program that writes.

            Exit codes: 0 success; 1 the command failed and changed nothing; 2 the command line is \
            invalid; 3 the store is damaged; 4 a store was salvaged or imported from Core Data \
            with losses. cairn diff exits with 1 if the stores differ, and with 2 if they cannot \
            be compared.

            With --json, every command prints JSON, one value per line, and errors are objects \
            {"error":{"exit":…,"message":…}} on standard error.

            Examples:
              cairn quickstart
              cairn import airports.cairn --entity Airport --unique icao airports.csv
              cairn query airports.cairn Airport --where "country == 'DE'" --sort name
            """,
        version: "0.1.0",
        subcommands: [
            ImportCommand.self, ImportCoreDataCommand.self, QueryCommand.self, CountCommand.self,
            GetCommand.self,
            FindCommand.self, DeleteCommand.self, DuplicatesCommand.self, InfoCommand.self,
            SchemaCommand.self, SpaceCommand.self, HistoryCommand.self, PastCommand.self,
            FramesCommand.self, CheckCommand.self, ReportCommand.self,
            SalvageCommand.self, CompactCommand.self, BackupCommand.self, CopyCommand.self,
            ExportCommand.self,
            HashCommand.self, DiffCommand.self, ModelCommand.self, MigrateCommand.self,
            PredicateCommand.self, StudioCommand.self, PortCommand.self, QuickstartCommand.self,
        ])

    /// Returns the failure for an error from parsing or running a command line; nil if it is a message such
    /// as help.
    static func failure(of error: any Error, asJSON: Bool) -> Failure? {
        if let known = Failure(error) { return known }
        let code = exitCode(for: error)
        guard !code.isSuccess else { return nil }
        return Failure(
            asJSON ? message(for: error) : fullMessage(for: error),
            code: code == .validationFailure ? .usage : .failed, isWhole: true)
    }
}
