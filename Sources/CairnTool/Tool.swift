// Runs a command line and says how it went: output, errors and the exit code.
//
// The argument parser's own code for a wrong command line is translated to 2. With `--json` an error is a
// JSON object on standard error, whatever went wrong.

import ArgumentParser
import CairnInspection
import SystemPackage

/// The tool, apart from the process it runs in.
enum Tool {
    /// Runs a command line, without the tool's name.
    static func run(_ arguments: [String], console: Console) -> Int32 {
        Console.$current.withValue(console) {
            defer { console.flush() }
            do {
                var command = try CairnCommand.parseAsRoot(arguments)
                var code: Int32 = 0
                do {
                    try command.run()
                } catch is StoresDiffer {
                    code = 1
                } catch is StoreCannotFollow {
                    code = 1
                }
                console.flush()
                try checkOutput(of: command, console)
                return code
            } catch {
                return report(error, asJSON: arguments.contains("--json"), to: console)
            }
        }
    }

    /// A command whose output is lost has not done its job; one that changed a store has, and only says so.
    private static func checkOutput(of command: any ParsableCommand, _ console: Console) throws {
        guard let error = console.outputError else { return }
        // A reader that has seen enough and gone away is no error of ours.
        if error as? Errno == .brokenPipe { return }
        let message = "the output cannot be written: \(error)"
        guard
            command is ImportCommand || command is ImportCoreDataCommand
                || command is DeleteCommand || command is QuickstartCommand
                || command is SalvageCommand || command is MigrateCommand
        else { throw Failure(message) }
        console.printError("cairn: note: \(message)")
    }

    private static func report(_ error: any Error, asJSON: Bool, to console: Console) -> Int32 {
        console.endProgress()
        let failure: Failure
        if let known = Failure(error) {
            failure = known
        } else {
            let code = CairnCommand.exitCode(for: error)
            let message = CairnCommand.fullMessage(for: error)
            guard !code.isSuccess else {
                // Help and version are no errors.
                if !message.isEmpty { console.print(message) }
                return 0
            }
            failure = Failure(
                asJSON ? CairnCommand.message(for: error) : message,
                code: code == .validationFailure ? .usage : .failed, isWhole: true)
        }
        if asJSON {
            console.printError(failure.json.line)
        } else {
            console.printError(failure.isWhole ? failure.message : "cairn: \(failure.message)")
        }
        return failure.code.rawValue
    }
}
