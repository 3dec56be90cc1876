// Connections by TLS: the server is known by its certificate, and nobody else is told the password.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

/// Makes certificates.
private let openssl = "/usr/bin/openssl"

@Suite(
    "Encrypted connections",
    .enabled(
        if: PostgresServer.isInstalled && FileManager.default.isExecutableFile(atPath: openssl)))
struct EncryptedConnectionTests {
    private static let password = "geheim"

    /// A certificate that signs itself, and its key.
    private static func makeAuthority(_ name: String, in folder: borrowing TemporaryDirectory)
        throws
    {
        _ = try ServerProcess.run([
            openssl, "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", folder.path("\(name).key"), "-out", folder.path("\(name).crt"),
        ])
    }

    /// A server that takes encrypted connections alone, and has a certificate for the name `localhost`.
    private static func server(_ folder: borrowing TemporaryDirectory) throws -> PostgresServer {
        try makeAuthority("root", in: folder)
        try Data("subjectAltName=DNS:localhost".utf8).write(to: folder.url("names"))
        let request = folder.path("server.csr")
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        settings.password = password
        let server = try PostgresServer(settings)
        let data = URL(fileURLWithPath: server.dataPath)
        _ = try ServerProcess.run([
            openssl, "req", "-new", "-nodes", "-subj", "/CN=localhost",
            "-keyout", data.appendingPathComponent("server.key").path, "-out", request,
        ])
        _ = try ServerProcess.run([
            openssl, "x509", "-req", "-in", request, "-days", "2", "-CAcreateserial",
            "-CA", folder.path("root.crt"), "-CAkey", folder.path("root.key"),
            "-extfile", folder.path("names"),
            "-out", data.appendingPathComponent("server.crt").path,
        ])
        for name in ["server.key", "server.crt"] {
            let file = data.appendingPathComponent(name)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: file.path)
            try server.handOver(file)
        }
        let rules = "local all all scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
        let file = try FileHandle(forWritingTo: data.appendingPathComponent("pg_hba.conf"))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(rules.utf8))
        try file.close()
        try server.configure(["ssl": "on"])
        try server.restart(immediately: true)
        return server
    }

    @Test("The certificate is verified where the URL says so, and every connection is encrypted")
    func verified() throws {
        let folder = try TemporaryDirectory()
        let server = try Self.server(folder)
        try Self.makeAuthority("other", in: folder)
        func url(_ host: String, _ options: String) -> String {
            "postgresql://cairn:\(Self.password)@\(host):\(server.port)/postgres?\(options)"
        }
        func open(_ url: String) throws -> PostgresStore {
            try PostgresStore.open(url, schema: ChangedModel.schema())
        }
        func refusal(_ url: String) throws -> String {
            let error = #expect(throws: StoreError.self) { try open(url).close() }
            #expect(error?.code == .openFailed)
            let words = "\(error.map { "\($0)" } ?? "")"
            #expect(!words.contains(Self.password), "\(words)")
            return words
        }
        let root = "sslmode=verify-full&sslrootcert=\(folder.path("root.crt"))"
        let store = try open(url("localhost", "hostaddr=127.0.0.1&\(root)"))
        _ = try store.execute(BatchInsertRequest(entityName: "Color", objects: [["name": "a"]]))
        let count = try server.run(
            """
            SELECT count(*) FILTER (WHERE ssl) || ' of ' || count(*) FROM pg_stat_ssl \
            JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL
            """
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        let parts = count.components(separatedBy: " of ")
        #expect(parts.first == parts.last && parts.first != "0", "\(count)")
        try store.close()

        // Somebody else's certificate, another name than it is for, and no encryption at all.
        let other = try refusal(
            url(
                "localhost",
                "hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=\(folder.path("other.crt"))"))
        #expect(other.contains("certificate verify failed"), "\(other)")
        let name = try refusal(url("127.0.0.1", root))
        #expect(name.contains("does not match host name"), "\(name)")
        #expect(try refusal(url("127.0.0.1", "sslmode=disable")).contains("no encryption"))
    }
}
