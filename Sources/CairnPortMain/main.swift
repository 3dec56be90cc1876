// The command line tool `cairn-port`: brings Swift code that uses Core Data to Linux.

import Foundation

let console = PortConsole(
    output: { FileHandle.standardOutput.write(Data($0.utf8)) },
    errors: { FileHandle.standardError.write(Data($0.utf8)) })
exit(PortCommand.run(Array(CommandLine.arguments.dropFirst()), console))
