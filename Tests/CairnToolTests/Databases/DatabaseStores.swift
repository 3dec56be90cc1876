// The same commands on a store in a folder and on one in a database of the tests' own server.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgresMain
@testable import CairnTool

/// A folder for lists and a store, and a schema in the tests' server for another store.
struct BothPlaces: ~Copyable {
    let work: Workplace
    private let server: PostgresServer
    /// The schema of the database.
    let space: String
    /// The place of the store in the database.
    let url: String

    fileprivate init() throws {
        // What can fail comes first: nothing is half made.
        let server = try PostgresServer.shared()
        let work = try Workplace()
        let space = "tool-\(UUID().uuidString)"
        self.server = server
        self.work = work
        self.space = space
        url = server.url(["cairn_schema": space])
    }

    fileprivate func clear() throws {
        try server.run("DROP SCHEMA IF EXISTS \"\(space)\" CASCADE")
    }

    /// Runs SQL by the server's own program; tables of the store need no schema before them.
    @discardableResult
    func sql(_ text: String) throws -> String {
        try server.run("SET search_path TO \"\(space)\"; \(text)")
    }

    /// Runs a command on both stores: `STORE` among the arguments is the place. What both say is the same but for that.
    @discardableResult
    func same(
        _ arguments: String..., output: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> ToolRun {
        let places = [work.store, url]
        let runs = places.map { place in run(arguments.map { $0 == "STORE" ? place : $0 }) }
        let title = PostgresKind().title(of: url)
        func text(_ text: String) -> String {
            text.replacing(work.store, with: "STORE").replacing(title, with: "STORE")
        }
        #expect(runs[0].code == runs[1].code, sourceLocation: sourceLocation)
        #expect(text(runs[0].errors) == text(runs[1].errors), sourceLocation: sourceLocation)
        if output {
            #expect(text(runs[0].output) == text(runs[1].output), sourceLocation: sourceLocation)
        }
        return runs[1]
    }

    /// Imports a list into both.
    func importing(
        _ name: String, _ text: String, _ more: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let list = try work.list(name, text)
        for place in [work.store, url] {
            let result = run(["import", place, list] + more)
            #expect(result.code == 0, "\(result.errors)", sourceLocation: sourceLocation)
        }
    }
}

/// Runs a body with places for two stores; nothing of them is left.
func withBothPlaces(_ body: (borrowing BothPlaces) throws -> Void) throws {
    let places = try BothPlaces()
    do {
        try body(places)
    } catch {
        // What the body threw says more.
        try? places.clear()
        throw error
    }
    try places.clear()
}
