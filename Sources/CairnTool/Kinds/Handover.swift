// Replaces this process by another tool, with the same command line.
//
//   1. The tool is next to this one, or in a folder of PATH.
//   2. It must not be a link to this one, which would recurse forever.
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

/// Finds and runs the tool for command lines that this one cannot execute.
package struct Handover: Sendable {
    /// Another tool.
    package struct Recipient: Sendable {
        let name: String
        /// What it is required for, as the start of a sentence.
        private let purpose: String

        /// The tool for stores in databases.
        package static let postgres = Recipient(
            name: "cairn-postgres", purpose: "stores in PostgreSQL require")
        /// The tool for rewriting sources.
        static let port = Recipient(name: "cairn-port", purpose: "porting sources requires")

        /// Instructions if the tool is missing.
        var advice: String {
            """
            \(purpose) \(name), which is neither next to cairn nor in PATH: \
            build it with swift build -c release --product \(name)
            """
        }
    }

    private let recipient: Recipient
    /// The folders to search, in this order.
    private let folders: [String]
    /// The path of the searching program.
    private let own: String?

    /// Searches next to a program, and in the folders of PATH.
    package init(to recipient: Recipient, beside own: String?, path: String?) {
        self.recipient = recipient
        self.own = own
        let besides = own.map { [String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex))] }
        folders = (besides ?? []) + (path ?? "").split(separator: ":").map(String.init)
    }

    /// Searches next to this process's own program, and in the folders of PATH.
    package static func standard(to recipient: Recipient) -> Handover {
        Handover(
            to: recipient, beside: ownProgram, path: ProcessInfo.processInfo.environment["PATH"])
    }

    private static var ownProgram: String? {
        #if os(Linux)
            if let path = real("/proc/self/exe") { return path }
        #endif
        return CommandLine.arguments.first.flatMap { $0.contains("/") ? real($0) : nil }
    }

    /// Returns the path without links; nil if it does not exist.
    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// The path of the other tool; nil if it is missing.
    var program: String? {
        let real = own.flatMap(Self.real)
        return folders.lazy.map { "\($0)/\(recipient.name)" }.first { path in
            FileManager.default.isExecutableFile(atPath: path)
                && (real == nil || Self.real(path) != real)
        }
    }

    /// Runs the other tool with the same arguments. It does not return.
    ///
    /// - Throws: `Failure` if the tool is missing.
    func run(_ arguments: [String]) throws {
        guard let program else { throw Failure(recipient.advice) }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        execv(program, &words)
        throw Failure("\(program) cannot be run: \(String(cString: strerror(errno)))")
    }
}
