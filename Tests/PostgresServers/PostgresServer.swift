// A PostgreSQL server of the tests' own: in a temporary folder, on a free port of this machine, gone afterwards.
//
//   1. `initdb` makes a cluster; `pg_ctl` starts and stops its server and waits until it has.
//   2. A shell process watches a pipe from this process. When that ends, for whatever reason (a test that was killed
//      included), it stops the server at once and removes the folder.
//   3. Most tests share one server and have a database or a schema of their own in it. Those that stop it have one of
//      their own.
//
// Threads: any. Starting and stopping is for one at a time.

import CairnTestSupport
package import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

package final class PostgresServer: Sendable {
    package struct Settings: Sendable {
        /// Whether the server waits for the disk: tests that cut its power, so to speak, need it; others are quicker without.
        package var isDurable = true
        /// The password of the user `cairn`; nil: everybody is let in.
        package var password: String?
        /// Lines of `postgresql.conf`.
        package var configuration: [String: String] = [:]

        package init() {}
    }

    /// Whether there is a server to be had; the trait `.enabled(if:)` asks it.
    package static var isInstalled: Bool { ServerPrograms.installed != nil }

    package static let user = "cairn"

    private let programs: ServerPrograms
    /// Not one that goes with its last reference: the server has to be stopped before its folder is removed.
    private let folder: URL
    private let guardPipe: Int32
    private let settings: Settings
    package let port: Int
    private let names = Atomic(0)

    /// The folder of the server's files.
    package var dataPath: String { folder.appendingPathComponent("data").path }
    /// The folder of its socket.
    package var socketPath: String { folder.appendingPathComponent("socket").path }
    /// What the server has written about itself.
    package var logPath: String { "\(socketPath)/log" }

    // MARK: Making one

    /// The server that tests share, which nobody may stop.
    package static func shared() throws -> PostgresServer { try sharedServer.get() }

    private static let sharedServer = Result {
        var settings = Settings()
        settings.isDurable = false
        settings.configuration["max_connections"] = "600"
        // A context that ends with unsaved changes never goes, as its objects keep it, nor does its store: so the connections of
        // stores that nobody uses any more end here.
        settings.configuration["idle_session_timeout"] = "10s"
        // Tables are made and dropped by the ten thousand, and nothing of them has to last.
        settings.configuration.merge([
            "wal_level": "minimal", "max_wal_senders": "0", "full_page_writes": "off",
            "max_wal_size": "128MB",
        ]) { $1 }
        let server = try PostgresServer(settings)
        let version = try server.run("SHOW server_version")
            .trimmingCharacters(in: .whitespacesAndNewlines)
        printLine("PostgreSQL: the tests run on a server of version \(version)")
        return server
    }

    /// Makes a new cluster and starts its server.
    package convenience init(_ settings: Settings = Settings()) throws {
        try self.init(settings) { programs, server in
            var arguments = [
                "--pgdata=\(server.dataPath)", "--username=\(Self.user)", "--encoding=UTF8",
                "--locale=C", "--no-sync",
            ]
            if let password = settings.password {
                let file = server.folder.appendingPathComponent("socket/password")
                try Data(password.utf8).write(to: file)
                try programs.handOver(file)
                arguments += ["--auth=scram-sha-256", "--pwfile=\(file.path)"]
            } else {
                arguments.append("--auth=trust")
            }
            try programs.run("initdb", arguments)
        }
    }

    /// Makes a server that follows another, and starts it.
    ///
    /// - Parameter name: by which the other knows it, in `synchronous_standby_names`.
    package convenience init(
        following primary: PostgresServer, as name: String, _ settings: Settings = Settings()
    ) throws {
        try self.init(settings) { programs, server in
            let connection = Self.replication(from: primary, as: name)
            try programs.run(
                "pg_basebackup",
                [
                    "--pgdata=\(server.dataPath)", "--write-recovery-conf", "--wal-method=stream",
                    "--checkpoint=fast", "--no-sync", "--dbname=\(connection)",
                ])
        }
    }

    private init(
        _ settings: Settings, _ fill: (ServerPrograms, PostgresServer) throws -> Void
    ) throws {
        guard let programs = ServerPrograms.installed else {
            preconditionFailure("a test that needs a server has to be enabled by isInstalled")
        }
        self.programs = programs
        self.settings = settings
        port = try FreePort.find()
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cairn-server-\(UUID().uuidString)", isDirectory: true)
        // The server's user has to get through.
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let data = folder.appendingPathComponent("data")
        let stop = programs.command(
            "pg_ctl", ["stop", "--pgdata=\(data.path)", "--mode=immediate"])
        guardPipe = try ServerProcess.afterExit(
            #"folder=$1; shift; "$@"; rm -rf "$folder""#, [folder.path] + stop)
        try programs.makeFolder(data)
        try programs.makeFolder(folder.appendingPathComponent("socket"))
        try fill(programs, self)
        try configure(settings.configuration)
        try start()
    }

    /// Closing the pipe stops the server.
    deinit { close(guardPipe) }

    /// Adds lines to the configuration, for the next start.
    package func configure(_ lines: [String: String]) throws {
        var all = [
            "port": "\(port)", "listen_addresses": "127.0.0.1",
            "unix_socket_directories": socketPath, "shared_buffers": "32MB",
            "fsync": settings.isDurable ? "on" : "off", "logging_collector": "off",
            "lc_messages": "C",
        ]
        all.merge(lines) { $1 }
        let text = all.sorted { $0.key < $1.key }.map { "\($0.key) = '\($0.value)'\n" }.joined()
        let file = try FileHandle(
            forWritingTo: folder.appendingPathComponent("data/postgresql.conf"))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
    }

    // MARK: Its life

    package func start() throws {
        do {
            try control("start", ["--log=\(logPath)"])
        } catch let failure as ProgramFailure {
            let log = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
            throw ProgramFailure(
                command: failure.command, status: failure.status,
                output: failure.output + log.suffix(2000))
        }
    }

    /// Stops it.
    ///
    /// - Parameter immediately: as if its power had failed; else clients are sent away first.
    package func stop(immediately: Bool = false) throws {
        try control("stop", ["--mode=\(immediately ? "immediate" : "fast")"])
    }

    package func restart(immediately: Bool = false) throws {
        try stop(immediately: immediately)
        try start()
    }

    /// Has a server that follows another take writes.
    package func promote() throws { try control("promote", []) }

    /// Takes over changes of the configuration that need no start.
    package func reload() throws { try control("reload", []) }

    /// How much of another server's log it has on its disk.
    package func receivedBytes() throws -> Int {
        let text = try run(
            "SELECT coalesce(pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0'), 0)"
        )
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Has a server that followed another follow this one.
    package func follow(_ primary: PostgresServer, as name: String) throws {
        let connection = Self.replication(from: primary, as: name)
        try run("ALTER SYSTEM SET primary_conninfo = '\(connection)'")
        try reload()
    }

    private static func replication(from primary: PostgresServer, as name: String) -> String {
        "host=\(primary.socketPath) port=\(primary.port) user=\(user) application_name=\(name)"
    }

    /// Stops its processes where they are: it answers nobody, and nobody sees that it is gone.
    package func freeze() throws { try signalAll("STOP") }

    /// Lets them go on.
    package func thaw() throws { try signalAll("CONT") }

    private func signalAll(_ signal: String) throws {
        let file = try String(contentsOfFile: "\(dataPath)/postmaster.pid", encoding: .utf8)
        let main = file.prefix { !$0.isNewline }
        _ = try ServerProcess.run([
            "/bin/sh", "-c",
            "kill -$1 $(cat /proc/$2/task/$2/children) $2", "sh", signal, String(main),
        ])
    }

    private func control(_ verb: String, _ arguments: [String]) throws {
        try programs.run(
            "pg_ctl", [verb, "--pgdata=\(dataPath)", "--wait", "--timeout=300"] + arguments)
    }

    /// Gives a file or a folder to it.
    package func handOver(_ url: URL) throws { try programs.handOver(url) }

    // MARK: Its databases

    /// "postgresql://…" over TCP.
    package func url(
        database: String = "postgres", user: String = PostgresServer.user,
        password: String? = nil, _ options: [String: String] = [:]
    ) -> String {
        let secret = (password ?? settings.password).map { ":\(Self.escaped($0))" } ?? ""
        let query = options.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.escaped($0.value))" }
        return "postgresql://\(user)\(secret)@127.0.0.1:\(port)/\(database)"
            + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// Runs SQL by the server's own program, not by what is tested; gives rows as lines.
    @discardableResult
    package func run(_ sql: String, database: String = "postgres") throws -> String {
        let place =
            "host=\(socketPath) port=\(port) user=\(Self.user) dbname=\(database)"
            + (settings.password.map { " password=\($0)" } ?? "")
        return try programs.run(
            "psql",
            [
                "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
                "--set=ON_ERROR_STOP=1", "--command=\(sql)", place,
            ])
    }

    /// A new empty database; its name.
    package func newDatabase() throws -> String {
        let name = newName("test")
        try run("CREATE DATABASE \(name)")
        return name
    }

    /// A name that no other test has.
    package func newName(_ prefix: String) -> String {
        "\(prefix)_\(names.add(1, ordering: .relaxed).newValue)"
    }

    /// Runs a closure with a new database, and removes it.
    package func withDatabase<R>(_ body: (String) throws -> R) throws -> R {
        let name = try newDatabase()
        defer { _ = try? run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }
        return try body(name)
    }
}
