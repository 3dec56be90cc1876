import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Stores from and to databases", .enabled(if: PostgresServer.isInstalled))
struct MovingTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Format/golden").standardizedFileURL

    /// The stores in Format/golden that are whole.
    static let names: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: golden.path)) ?? [])
        .filter { $0.hasSuffix(".cairn") && !$0.hasSuffix(".broken.cairn") }.sorted()

    private func export(_ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws
        -> String
    {
        var bytes: [UInt8] = []
        try body { bytes += Array($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Runs a closure with a folder and the URL of a schema, of which nothing is left.
    private func withPlace(_ body: (_ folder: String, _ url: String) throws -> Void) throws {
        let server = try PostgresServer.shared()
        let name = "moving-\(UUID().uuidString)"
        let folder = FileManager.default.temporaryDirectory.appending(path: name).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer {
            try? FileManager.default.removeItem(atPath: folder)
            _ = try? server.run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
        }
        try body(folder, server.url(["cairn_schema": name]))
    }

    @Test("Every store that a version has written goes into a database and back", arguments: names)
    func golden(_ name: String) throws {
        try withPlace { folder, url in
            let path = folder + "/store.cairn"
            try FileManager.default.copyItem(
                atPath: Self.golden.appending(path: name).path, toPath: path)
            let log: LogStore
            do {
                // It gets what stores have today.
                log = try LogStore.open(at: path, schema: nil)
            } catch let error as StoreError {
                // One of a backup, or of a copy, that is not finished.
                guard ["copying.cairn"].contains(name) else { throw error }
                return
            }
            let expected = try export { try log.export($0) }
            let report = try log.copy(toDatabase: url)
            #expect(report.leavesPastStates == (name == "past.cairn"))
            let store = try PostgresStore.open(url, schema: nil)
            #expect(try export { try store.export($0) } == expected)
            try store.copy(toFolder: folder + "/back.cairn")
            let back = try LogStore.open(at: folder + "/back.cairn", schema: nil)
            #expect(try export { try back.export($0) } == expected)
            #expect(back.identity.identifier == log.identity.identifier)
            for each in [log, back] { try each.close() }
            try store.close()
        }
    }

    private static func schema() throws -> Schema {
        try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Note", attributes: [.init("text", .string), .init("data", .binary)])
            ]))
    }

    @Test("What PostgreSQL cannot keep is told with its place, and nothing is left")
    func unencodable() throws {
        try withPlace { folder, url in
            let log = try LogStore.inMemory(schema: Self.schema())
            for text in ["a", "b\u{0}c"] {
                _ = try log.execute(
                    BatchInsertRequest(entityName: "Note", objects: [["text": text]]))
            }
            let error = #expect(throws: StoreError.self) { try log.copy(toDatabase: url) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.context.entity == "Note" && error?.context.key == "text")
            #expect(throws: StoreError.self) {
                var options = PostgresOptions()
                options.createsIfMissing = false
                _ = try PostgresStore.open(url, schema: nil, options: options)
            }
            let schema = try ConnectionString(url).schema
            let found = try PostgresServer.shared().run(
                "SELECT count(*) FROM information_schema.schemata WHERE schema_name = '\(schema)'")
            #expect(found.contains("0"))
        }
    }

    @Test("A place that is taken is left as it is")
    func taken() throws {
        try withPlace { folder, url in
            let schema = try Self.schema()
            let store = try PostgresStore.open(url, schema: schema)
            let row: [String: any Sendable] = ["text": "mine"]
            _ = try store.execute(BatchInsertRequest(entityName: "Note", objects: [row]))
            let log = try LogStore.inMemory(schema: schema)
            for copy in [
                { _ = try log.copy(toDatabase: url) }, { _ = try store.copy(toDatabase: url) },
                { _ = try store.copy(toFolder: folder) },
            ] {
                #expect(throws: StoreError.self) { try copy() }
            }
            #expect(try export { try store.export($0) }.contains("mine"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("Rows with large values come in small pages")
    func large() throws {
        try withPlace { folder, url in
            let store = try PostgresStore.open(url, schema: Self.schema())
            for number in 0..<40 {
                let row: [String: any Sendable] = [
                    "text": "n\(number)", "data": Data(repeating: UInt8(number), count: 1 << 20),
                ]
                _ = try store.execute(BatchInsertRequest(entityName: "Note", objects: [row]))
            }
            try store.copy(toFolder: folder + "/large.cairn")
            let log = try LogStore.open(at: folder + "/large.cairn", schema: nil)
            #expect(try export { try log.export($0) } == export { try store.export($0) })
            try log.close()
        }
    }
}
