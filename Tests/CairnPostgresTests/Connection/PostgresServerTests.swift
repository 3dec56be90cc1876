// Whether the tests' own servers do what tests rely on.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@Suite("Servers of the tests", .enabled(if: PostgresServer.isInstalled))
struct PostgresServerTests {
    @Test("the shared server takes statements, and each test has a database of its own")
    func shared() throws {
        let server = try PostgresServer.shared()
        try server.withDatabase { first in
            try server.withDatabase { second in
                #expect(first != second)
                try server.run("CREATE TABLE t (a int)", database: first)
                let count = try server.run(
                    "SELECT count(*) FROM pg_tables WHERE tablename = 't'", database: second)
                #expect(count == "0\n")
            }
        }
    }

    @Test("a server that was stopped as if its power had failed starts again with what it had")
    func restart() throws {
        let server = try PostgresServer()
        try server.run("CREATE TABLE t (a int); INSERT INTO t VALUES (7)")
        try server.restart(immediately: true)
        #expect(try server.run("SELECT a FROM t") == "7\n")
    }

    @Test("a server that follows another has its rows, and takes writes once it is promoted")
    func following() throws {
        let first = try PostgresServer()
        try first.run("CREATE TABLE t (a int); INSERT INTO t VALUES (7)")
        let second = try PostgresServer(following: first, as: "n2")
        #expect(try second.run("SELECT a FROM t") == "7\n")
        #expect(throws: ProgramFailure.self) { try second.run("INSERT INTO t VALUES (8)") }
        try first.stop(immediately: true)
        try second.promote()
        try second.run("INSERT INTO t VALUES (8)")
        #expect(try second.run("SELECT sum(a) FROM t") == "15\n")
    }

    @Test("a server and its folder are gone when nobody needs them any more")
    func isRemoved() throws {
        let path: String
        do {
            let server = try PostgresServer()
            path = server.dataPath
            #expect(FileManager.default.fileExists(atPath: path))
        }
        inTime(for: "the folder to be removed", within: 60) {
            while FileManager.default.fileExists(atPath: path) { usleep(10_000) }
        }
    }
}
