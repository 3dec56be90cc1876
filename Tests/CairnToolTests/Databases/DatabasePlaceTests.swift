// Places in databases on the command line: what is wrong with them, what is secret in them, and who opens them.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgresMain
@testable import CairnTool

@Suite("Places of stores in PostgreSQL")
struct DatabasePlaceTests {
    private static let secret = "s3cret+word"

    /// Runs a command line; what it says has no secret in it.
    private func quiet(
        _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) -> ToolRun {
        let result = run(arguments)
        for text in [result.output, result.errors] {
            #expect(
                !text.contains(Self.secret) && !text.contains("s3cret%2Bword"),
                "\(text)", sourceLocation: sourceLocation)
        }
        return result
    }

    /// A port at which nobody listens.
    private static let nowhere = "postgresql://anna:s3cret%2Bword@127.0.0.1:1/shop"

    @Test("A server that is not there is named without the password, by every command")
    func noServer() {
        let commands = [
            ["count", Self.nowhere, "Thing"], ["info", Self.nowhere], ["check", Self.nowhere],
            ["report", Self.nowhere],
            ["export", Self.nowhere], ["hash", Self.nowhere], ["schema", Self.nowhere],
            ["model", Self.nowhere], ["delete", Self.nowhere, "Thing", "--all"],
            ["history", Self.nowhere, "--keep"],
            ["duplicates", Self.nowhere, "Thing", "--by", "a"],
        ]
        for command in commands {
            let run = quiet(command)
            #expect(run.code == 1, "\(command): \(run.errors)")
            #expect(
                run.errors.hasPrefix("cairn: postgresql://anna@127.0.0.1:1/shop: "), "\(run.errors)"
            )
        }
        let json = quiet(["count", Self.nowhere, "Thing", "--json"])
        #expect(json.errors.hasPrefix("{\"error\":"))
        let query = "postgresql://127.0.0.1:1/shop?user=anna&password=s3cret%2Bword"
        #expect(quiet(["count", query, "Thing"]).code == 1)
    }

    @Test("What is wrong with a command line is told without the password")
    func usage() {
        for arguments in [
            ["count", Self.nowhere], ["count", "a", "b", Self.nowhere],
            ["info", "--\(Self.nowhere)"],
            ["check", Self.nowhere, "--depth", "deep"],
            ["query", "a", "b", "--nope=\(Self.nowhere)"],
            ["count", "a", "b", Self.nowhere, "--json"],
        ] {
            #expect(quiet(arguments).code == 2, "\(arguments)")
        }
    }

    @Test("A place that makes no sense is refused in a sentence of ours")
    func nonsense() {
        for (place, words) in [
            ("postgresql://anna:s3cret%2Bword@h/d?nope=1", "an option unknown to libpq"),
            ("postgresql://anna:s3cret%2Bword@[::1/d", "an address in \"[\" without \"]\""),
            ("postgres://anna:s3cret%2Bword@h/d?cairn_schema=", "cairn_schema must be a name"),
            ("postgresql://h/d?cairn_nope=1", "that starts with \"cairn_\""),
        ] {
            let run = quiet(["count", place, "Thing"])
            #expect(run.code == 1 && run.errors.contains(words), "\(run.errors)")
        }
    }

    @Test(
        "Databases, schemas and entities that are not there are named",
        .enabled(if: PostgresServer.isInstalled))
    func nothingThere() throws {
        let server = try PostgresServer.shared()
        let database = quiet(["count", server.url(database: "nowhere"), "Thing"])
        #expect(database.code == 1 && database.errors.contains("\"nowhere\" does not exist"))
        try withBothPlaces { both in
            let store = quiet(["count", both.url, "Thing"])
            #expect(store.code == 1)
            #expect(
                store.errors.contains(
                    "there is no store here: the schema \(both.space) of the database has none"))
            let delete = quiet(["delete", both.url, "Thing", "--all"])
            #expect(delete.code == 1 && delete.errors.contains("there is no store here"))
            try both.importing(
                "1.json", #"[{"code":"a"}]"#, "--entity", "Thing", "--unique", "code")
            both.same("count", "STORE", "Nothing")
            both.same("query", "STORE", "Thing", "--where", "nope == 1")
            both.same("query", "STORE", "Thing", "--where", "code ==")
            both.same("get", "STORE", "Thing", "zzz")
            both.same("find", "STORE", "zzz")
            both.same("schema", "STORE", "--entity", "Nope")
        }
    }

    @Test("A wrong password is refused, and not shown", .enabled(if: PostgresServer.isInstalled))
    func wrongPassword() throws {
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        settings.password = "the right one"
        let server = try PostgresServer(settings)
        let wrong = quiet(["count", server.url(password: Self.secret), "Thing"])
        #expect(wrong.code == 1 && wrong.errors.contains("28P01"), "\(wrong.errors)")
        let list = try TemporaryDirectory()
        let path = list.path("1.json")
        try Data(#"[{"code":"a"}]"#.utf8).write(to: URL(fileURLWithPath: path))
        let right = run(["import", server.url(), path, "--entity", "Thing", "--unique", "code"])
        #expect(right.code == 0, "\(right.errors)")
        for command in [
            ["info"], ["info", "--json"], ["check"], ["check", "--json"], ["report"],
            ["report", "--redact"],
        ] {
            let told = run([command[0], server.url()] + command.dropFirst())
            #expect(told.code == 0, "\(told.errors)")
            // As it is, and as a URL has it.
            for secret in ["the right", "%20right"] {
                #expect(!told.output.contains(secret), "\(command): \(told.output)")
            }
        }
        try server.stop(immediately: true)
    }

    @Test("What belongs to stores in folders says so in one sentence")
    func folders() {
        for (arguments, words) in [
            (["frames", Self.nowhere], "only stores in folders consist of frames"),
            (["salvage", Self.nowhere, "x"], "only stores in folders can be salvaged"),
            (["compact", Self.nowhere], "only stores in folders are compacted"),
            (["space", Self.nowhere], "only stores in folders report the size"),
            (["past", Self.nowhere], "only stores in folders keep past states"),
            (["past", Self.nowhere, "--keep", "all"], "only stores in folders keep past states"),
            (["backup", Self.nowhere, "x"], "back this one up with pg_dump"),
            (["backup", "x", Self.nowhere], "a backup requires a folder"),
            (["salvage", "x", Self.nowhere], "a salvaged store requires a folder"),
            (["import-coredata", "x", Self.nowhere], "requires a folder"),
        ] {
            let run = quiet(arguments)
            #expect(run.code == 1, "\(arguments)")
            #expect(
                run.errors.hasPrefix("cairn: postgresql://anna@127.0.0.1:1/shop: ")
                    && run.errors.contains(words), "\(run.errors)")
        }
    }

    @Test("A past state is refused", .enabled(if: PostgresServer.isInstalled))
    func past() throws {
        try withBothPlaces { both in
            try both.importing(
                "1.json", #"[{"code":"a"}]"#, "--entity", "Thing", "--unique", "code")
            for command in [["count", both.url, "Thing"], ["export", both.url]] {
                let run = quiet(command + ["--at", "1"])
                #expect(run.code == 1)
                #expect(run.errors.contains("only stores in folders keep past states"))
            }
        }
    }

    @Test("help names both kinds of places")
    func help() {
        for command in ["count", "import", "info", "diff"] {
            #expect(cairn("help", command).output.contains("postgresql://HOST/DATABASE"))
        }
        #expect(cairn("--help").output.contains("postgresql://"))
    }

    // MARK: The tool that knows no databases

    @Test("cairn says how cairn-postgres is made if there is none")
    func noOtherTool() throws {
        let empty = try TemporaryDirectory()
        let kinds = StoreKinds(
            handover: Handover(
                to: .postgres, beside: empty.path("cairn"), path: empty.path("x")))
        for arguments in [
            ["count", Self.nowhere, "Thing"], ["diff", "a", Self.nowhere], ["model", Self.nowhere],
            ["migrate", "a", "--to", Self.nowhere],
            ["import", "a", "-", "--entity", "E", "--model", Self.nowhere],
        ] {
            var errors: [UInt8] = []
            let console = Console(output: { _ in }, errors: { errors.append(contentsOf: $0) })
            // Of a comparison 1 says that the stores differ.
            let code: Int32 = arguments[0] == "diff" ? 2 : 1
            #expect(Tool.run(arguments, kinds, console: console) == code)
            let text = String(decoding: errors, as: UTF8.self)
            #expect(text.contains("swift build -c release --product cairn-postgres"), "\(text)")
            #expect(!text.contains("s3cret"))
        }
    }

    @Test(
        "The other tool is looked for beside the own one, then in PATH; a link to the own one is none"
    )
    func lookingFor() throws {
        let (own, other, last) = (
            try TemporaryDirectory(), try TemporaryDirectory(), try TemporaryDirectory()
        )
        func program(_ path: String) throws {
            try Data("#!/bin/sh\n".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        let handover = Handover(
            to: .postgres, beside: own.path("cairn"), path: "\(other.path("")):\(last.path("")):")
        #expect(handover.program == nil)
        try program(own.path("cairn"))
        try FileManager.default.createSymbolicLink(
            atPath: own.path("cairn-postgres"), withDestinationPath: own.path("cairn"))
        #expect(handover.program == nil)
        try Data().write(to: URL(fileURLWithPath: other.path("cairn-postgres")))
        #expect(handover.program == nil)
        try program(last.path("cairn-postgres"))
        #expect(handover.program?.hasSuffix("/cairn-postgres") == true)
        try FileManager.default.removeItem(atPath: own.path("cairn-postgres"))
        try program(own.path("cairn-postgres"))
        #expect(handover.program == own.path("cairn-postgres"))
    }

    @Test(
        "cairn runs cairn-postgres with the same arguments",
        .enabled(if: PostgresServer.isInstalled && ToolProcess.url != nil))
    func handingOver() throws {
        try withBothPlaces { both in
            let list = try both.work.list("1.json", #"[{"code":"a b"},{"code":"c'd"}]"#)
            let imported = try ToolProcess.run([
                "import", both.url, list, "--entity", "Thing", "--unique", "code",
            ])
            #expect(imported.code == 0, "\(imported.errors)")
            let found = try ToolProcess.run([
                "query", both.url, "Thing", "--where", "code == \"c'd\"", "--json",
            ])
            #expect(found.code == 0, "\(found.errors)")
            #expect(found.output == "{\"objectID\":\"p2\",\"code\":\"c'd\"}\n")
            let nothing = try ToolProcess.run(["get", both.url, "Thing", "zzz"])
            #expect(nothing.code == 1 && nothing.errors.contains("has no Thing zzz"))
        }
    }
}
