// The programs of a PostgreSQL server on this machine, and how they are run.
//
//   1. The newest of Debian's folders, else where `pg_config` says, else the PATH.
//   2. The server refuses to run as root: root runs its programs as an unprivileged user.
//
// Threads: any.

import CairnTestSupport
package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

package struct ServerPrograms: Sendable {
    private let folder: String
    /// What a command begins with.
    private let prefix: [String]
    /// Who owns the server's files; nil: who runs the tests.
    private let owner: String?

    /// Those of this machine; nil, and a line that says so, if it has none.
    package static let installed: ServerPrograms? = {
        if let programs = ServerPrograms() { return programs }
        printLine("PostgreSQL is not installed: tests that need a server of it are skipped")
        return nil
    }()

    private init?() {
        let needed = ["initdb", "pg_ctl", "postgres", "psql", "pg_basebackup"]
        func isComplete(_ folder: String) -> Bool {
            needed.allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)")
            }
        }
        guard let folder = Self.candidates.first(where: isComplete) else { return nil }
        self.folder = folder
        guard getuid() == 0 else {
            prefix = []
            owner = nil
            return
        }
        guard
            let user = (["postgres", "nobody"] as [String]).first(where: { getpwnam($0) != nil }),
            let entry = getpwnam(user)?.pointee,
            let setpriv = Self.search("setpriv"), let env = Self.search("env")
        else { return nil }
        owner = user
        // Root may be in a folder that others must not enter, at which the programs stumble.
        prefix = [
            env, "--chdir=/", setpriv, "--reuid=\(entry.pw_uid)", "--regid=\(entry.pw_gid)",
            "--clear-groups",
        ]
    }

    private static var candidates: [String] {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        var folders = versions.compactMap { Int($0) }.sorted(by: >).map { "\(debian)/\($0)/bin" }
        if let configuration = search("pg_config"),
            let output = try? ServerProcess.run([configuration, "--bindir"])
        {
            folders.append(output.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return folders + path
    }

    private static var path: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    fileprivate static func search(_ program: String) -> String? {
        path.map { "\($0)/\(program)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    // MARK: Running

    /// The words of a command, for whoever runs it.
    package func command(_ program: String, _ arguments: [String]) -> [String] {
        prefix + ["\(folder)/\(program)"] + arguments
    }

    /// Runs a program to its end and gives what it has written.
    @discardableResult
    package func run(_ program: String, _ arguments: [String]) throws -> String {
        try ServerProcess.run(command(program, arguments))
    }

    /// Makes a folder that the server may write to.
    package func makeFolder(_ url: URL) throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try handOver(url)
    }

    /// Gives a file to the server.
    package func handOver(_ url: URL) throws {
        guard let owner else { return }
        try FileManager.default.setAttributes(
            [.ownerAccountName: owner, .groupOwnerAccountName: Self.group(of: owner)],
            ofItemAtPath: url.path)
    }

    private static func group(of user: String) -> String {
        guard let entry = getpwnam(user)?.pointee, let group = getgrgid(entry.pw_gid)?.pointee
        else { return user }
        return String(cString: group.gr_name)
    }
}
