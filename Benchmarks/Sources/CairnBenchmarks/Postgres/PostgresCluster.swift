// A PostgreSQL server for one run, in a temporary folder.
//
// The server refuses to run as root: root runs its programs as the user `postgres`, or `nobody`.

import Foundation

final class PostgresCluster {
    private let folder: String
    private let programs: String
    private let prefix: [String]
    private let port: Int

    /// What a server would be set to that has some memory for itself; it waits for the disk at each commit.
    private static let configuration = [
        "shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min",
        "listen_addresses": "127.0.0.1", "fsync": "on",
    ]

    var settings: String {
        "of this run: "
            + Self.configuration.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }

    var url: String { "postgresql://bench@127.0.0.1:\(port)/postgres" }

    init(in folder: String) throws {
        guard let programs = Self.programs else {
            throw SingleRun.Failure(
                description: "PostgreSQL is not installed: install it, or give --url")
        }
        self.programs = programs
        prefix = Self.prefix
        port = Int.random(in: 20_000..<30_000)
        // Others must get through to it.
        self.folder = NSTemporaryDirectory() + "cairn-bench-server-\(getpid())"
        try? FileManager.default.removeItem(atPath: self.folder)
        try FileManager.default.createDirectory(
            atPath: self.folder, withIntermediateDirectories: true)
        if let user = Self.user {
            try FileManager.default.setAttributes(
                [.ownerAccountName: user], ofItemAtPath: self.folder)
        }
        let data = "\(self.folder)/data"
        try run(
            "initdb",
            [
                "--pgdata=\(data)", "--username=bench", "--auth=trust", "--encoding=UTF8",
                "--locale=C",
            ])
        var options = Self.configuration.map { "-c \($0.key)=\($0.value)" }
        options += ["-c port=\(port)", "-c unix_socket_directories=\(self.folder)"]
        try run(
            "pg_ctl",
            [
                "start", "--pgdata=\(data)", "--wait", "--log=\(self.folder)/log",
                "--options=\(options.joined(separator: " "))",
            ])
    }

    func stop() {
        try? run("pg_ctl", ["stop", "--pgdata=\(folder)/data", "--mode=immediate"])
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let words = prefix + ["\(programs)/\(program)"] + arguments
        guard try Self.run(words) == 0 else {
            throw SingleRun.Failure(description: "\(program) failed")
        }
    }

    /// Runs a program and gives its status. What it leaves running is not waited for, as `Process` would.
    static func run(_ words: [String]) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        // Root may be in a folder that others must not enter.
        let arguments = (["env", "--chdir=/"] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, "env", &actions, nil, arguments, environ) == 0 else {
            throw SingleRun.Failure(description: "\(words[0]) cannot be started")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private static var user: String? {
        guard getuid() == 0 else { return nil }
        return ["postgres", "nobody"].first { getpwnam($0) != nil }
    }

    private static var prefix: [String] {
        guard let user, let entry = getpwnam(user)?.pointee else { return [] }
        return ["setpriv", "--reuid=\(entry.pw_uid)", "--regid=\(entry.pw_gid)", "--clear-groups"]
    }

    private static var programs: String? {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let folders =
            versions.compactMap { Int($0) }.sorted(by: >).map { "\(debian)/\($0)/bin" }
            + path.map(String.init)
        return folders.first {
            FileManager.default.isExecutableFile(atPath: "\($0)/initdb")
                && FileManager.default.isExecutableFile(atPath: "\($0)/pg_ctl")
        }
    }
}
