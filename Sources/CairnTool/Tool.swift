// Runs a command line and reports its result: output, errors and the exit code.
//
// The argument parser's own code for a wrong command line becomes 2. With `--json` every error is a JSON
// object on standard error.

import ArgumentParser
import CairnInspection
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The tool, independent of its process.
package enum Tool {
    /// Runs the command line of this process, and exits with its exit code.
    ///
    /// - Parameter kinds: the supported store kinds.
    package static func main(_ kinds: StoreKinds) -> Never {
        // A process may be started without some of these: a store's file must not get their numbers,
        // otherwise output would be written into the store.
        for descriptor: CInt in 0...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            _ = open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
        }
        exit(run(Array(CommandLine.arguments.dropFirst()), kinds, console: .standard))
    }

    /// Runs a command line, without the tool's name.
    static func run(_ arguments: [String], _ kinds: StoreKinds = StoreKinds(), console: Console)
        -> Int32
    {
        StoreKinds.$current.withValue(kinds) {
            Console.$current.withValue(console) { run(arguments, console) }
        }
    }

    private static func run(_ arguments: [String], _ console: Console) -> Int32 {
        defer { console.flush() }
        do {
            var command = try CairnCommand.parseAsRoot(arguments)
            if let command = command as? any StoreCommand {
                do {
                    try StoreKinds.current.prepare(command.places, arguments: arguments)
                } catch let failure as Failure where command is DiffCommand {
                    // Exit code 1 means that the stores differ.
                    throw failure.with(.usage)
                }
            }
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
            return report(error, of: arguments, to: console)
        }
    }

    /// Checks that the output was written. A command without its output has failed; one that changed a store
    /// has succeeded, and only reports the error.
    private static func checkOutput(of command: any ParsableCommand, _ console: Console) throws {
        guard let error = console.outputError else { return }
        // A reader that closes the pipe early is not an error.
        if error as? Errno == .brokenPipe { return }
        let message = "the output cannot be written: \(error)"
        guard
            command is ImportCommand || command is ImportCoreDataCommand
                || command is DeleteCommand || command is QuickstartCommand
                || command is SalvageCommand || command is MigrateCommand
        else { throw Failure(message) }
        console.printError("cairn: note: \(message)")
    }

    private static func report(_ error: any Error, of arguments: [String], to console: Console)
        -> Int32
    {
        console.endProgress()
        let asJSON = arguments.contains("--json")
        guard var failure = CairnCommand.failure(of: error, asJSON: asJSON) else {
            // Help and version are not errors.
            let message = CairnCommand.fullMessage(for: error)
            if !message.isEmpty { console.print(message) }
            return 0
        }
        // The error for a command line contains parts of it.
        failure = failure.changing { StoreKinds.current.hidingSecrets(of: arguments, in: $0) }
        if asJSON {
            console.printError(failure.json.line)
        } else {
            console.printError(failure.isWhole ? failure.message : "cairn: \(failure.message)")
        }
        return failure.code.rawValue
    }
}
