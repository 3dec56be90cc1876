// Hands a command line over to another tool, which takes the place of this process.
//
//   1. It lies beside this one, or in a folder of PATH.
//   2. It is no link to this one, which would go round in circles.
//
// Threads: one.

import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Who gets the command lines that this tool cannot carry out.
package struct Handover: Sendable {
    /// The tool that knows stores in databases.
    static let name = "cairn-postgres"

    /// What somebody has to do who does not have it.
    static let advice = """
        stores in PostgreSQL are opened by \(name), which is neither beside this cairn nor in PATH: \
        build it with swift build -c release --product \(name)
        """

    /// Where it is looked for, in this order.
    private let folders: [String]
    /// The program that looks for it.
    private let own: String?

    /// Looks beside a program, and where PATH says.
    package init(beside own: String?, path: String?) {
        self.own = own
        let besides = own.map { [String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex))] }
        folders = (besides ?? []) + (path ?? "").split(separator: ":").map(String.init)
    }

    /// Looks beside this process's own program, and where PATH says.
    package static var standard: Handover {
        Handover(
            beside: ownProgram, path: ProcessInfo.processInfo.environment["PATH"])
    }

    private static var ownProgram: String? {
        #if os(Linux)
            if let path = real("/proc/self/exe") { return path }
        #endif
        return CommandLine.arguments.first.flatMap { $0.contains("/") ? real($0) : nil }
    }

    /// Where a path leads, without links; nil if nowhere.
    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// The path of the other tool; nil if there is none.
    var program: String? {
        let real = own.flatMap(Self.real)
        return folders.lazy.map { "\($0)/\(Self.name)" }.first { path in
            FileManager.default.isExecutableFile(atPath: path)
                && (real == nil || Self.real(path) != real)
        }
    }

    /// Runs the other tool with the same arguments. It does not return.
    ///
    /// - Throws: `Failure` if there is none.
    func run(_ arguments: [String]) throws {
        guard let program else { throw Failure(Self.advice) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        execv(program, &words)
        throw Failure("\(program) cannot be run: \(String(cString: strerror(errno)))")
    }
}
