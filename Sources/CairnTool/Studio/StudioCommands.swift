// Runs the tool's own commands for the page: the same code prints the same JSON.
//
// Every option is passed as --name=value and every argument after --, so that no parameter value is treated
// as an option. Only options that change nothing are allowed here.
//
// Threads: values.

import CairnInspection
import CairnStudio
import FoundationEssentials

/// The parameters of a command in a request.
struct StudioCommandForm {
    /// The parameters that become arguments, in their order; repeatable ones are last.
    var arguments: [String] = []
    var options: [String] = []
    var flags: [String] = []
    /// Whether it prints one JSON value per line, as opposed to a single one.
    var printsLines = false
    /// Whether the store is its argument.
    var hasStore = true

    /// The available commands.
    static let all: [String: StudioCommandForm] = [
        "info": .init(),
        "schema": .init(options: ["entity"]),
        "space": .init(),
        "past": .init(),
        "history": .init(
            options: ["after", "author", "entity", "object", "type", "limit"], flags: ["values"],
            printsLines: true),
        "query": .init(
            arguments: ["entity"],
            options: [
                "where", "sort", "limit", "offset", "columns", "group-by", "having", "at",
            ], flags: ["sql-nulls", "distinct", "explain"], printsLines: true),
        "count": .init(arguments: ["entity"], options: ["where", "at"], flags: ["sql-nulls"]),
        "get": .init(arguments: ["entity", "key"], options: ["at"]),
        "find": .init(
            arguments: ["text"], options: ["entity", "limit", "at"], printsLines: true),
        "duplicates": .init(
            arguments: ["entity"], options: ["by", "where", "keep", "fold", "limit"],
            flags: ["sql-nulls", "including-nil", "merge"], printsLines: true),
        "predicate": .init(arguments: ["format", "argument"], hasStore: false),
    ]

    /// Returns the command line.
    ///
    /// - Throws: `Failure` if a parameter is unknown or missing.
    func commandLine(_ name: String, _ place: String, _ request: StudioRequest) throws -> [String] {
        let parameters = try StudioParameters(request, known: arguments + options + flags)
        var line = [name, "--json"]
        for option in options {
            for value in parameters.values(option) where !value.isEmpty {
                line.append("--\(option)=\(value)")
            }
        }
        for flag in flags where try parameters.flag(flag) { line.append("--\(flag)") }
        line.append("--")
        if hasStore { line.append(place) }
        for argument in arguments {
            let values = parameters.values(argument)
            if values.isEmpty, argument != "argument" { _ = try parameters.need(argument) }
            line += values
        }
        return line
    }
}

/// Runs commands and collects their output.
struct StudioCommands: Sendable {
    /// Runs a command line. Throws its errors as a `Failure`.
    let run: @Sendable ([String]) throws -> Void

    /// The maximum size of output for a browser, in bytes.
    static let mostOutput = 64 << 20

    /// Returns the output of a command line.
    func output(_ line: [String]) throws -> Data {
        struct TooMuch: Error {}
        let printed = Printed()
        let console = Console(
            output: { bytes in
                guard printed.data.count + bytes.count <= Self.mostOutput else { throw TooMuch() }
                printed.data.append(contentsOf: bytes)
            }, errors: { _ in })
        try Console.$current.withValue(console) { try run(line) }
        console.flush()
        if console.outputError is TooMuch {
            throw Failure(
                "the answer has more than \(PlainText.bytes(UInt64(Self.mostOutput))): ask for less, with limit",
                code: .usage)
        }
        return printed.data
    }

    private final class Printed {
        var data = Data()
    }
}
