// cairn studio as a process: it says where it is, and ends with Ctrl-C.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

/// The tool beside the tests.
private let tool: URL? = {
    let url = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().appendingPathComponent("cairn")
    return FileManager.default.isExecutableFile(atPath: url.path) ? url : nil
}()

@Suite("cairn studio as a process", .enabled(if: tool != nil), .ahead)
struct StudioProcessTests {
    @Test("It prints its address, answers, and ends with a signal", arguments: [SIGINT, SIGTERM])
    func signals(signal: Int32) async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        let process = Process()
        let program: URL = try #require(tool)
        process.executableURL = program
        process.arguments = ["studio", place.store, "--json", "--no-open", "--write"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { if process.isRunning { process.terminate() } }
        let line = inTime(for: "an address") {
            var bytes = Data()
            while !bytes.contains(UInt8(ascii: "\n")) {
                let part = output.fileHandleForReading.availableData
                if part.isEmpty { break }
                bytes.append(part)
            }
            return bytes
        }
        let told = try #require(try JSONSerialization.jsonObject(with: line) as? [String: String])
        let client = try await StudioClient.letIn(by: try #require(told["address"]))
        #expect(try await client.send("GET", "/").status == 200)
        let saved = try await client.post(
            "save", #"{"changes":[{"change":"insert","entity":"Tag","values":{"number":9}}]}"#)
        #expect(saved.status == 200, "\(saved.text)")
        // Who waits for news does not keep it from ending.
        async let news = client.get("news", ["after": "99"])
        while try await client.get("store").status != 200 {}
        kill(process.processIdentifier, signal)
        inTime(for: "the studio to end") { process.waitUntilExit() }
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
        _ = try? await news
        let count = try place.cairn("count", "STORE", "Tag")
        #expect(count == "4\n")
    }

    @Test("After another program has changed the model, older changes stay, and saves go on")
    func migratedMeanwhile() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        // An attribute in front of the others, so that columns have other places.
        let text = try place.cairn("schema", "STORE", "--json").replacing(
            #"{"attributes":[{"isOptional":false,"name":"code""#,
            with:
                #"{"attributes":[{"name":"added","type":"string"},{"isOptional":false,"name":"code""#
        )
        #expect(text.contains("added"))
        let model = try place.file("next.json", text)
        let program: URL = try #require(tool)
        try await place.studio(write: true) { client in
            func save(_ weight: Int, version: Int) async throws -> StudioResponse {
                try await client.post(
                    "save",
                    #"{"changes":[{"change":"update","entity":"Book","id":"p1","version":\#(version),"values":{"weight":\#(weight)}}]}"#
                )
            }
            #expect(try await save(7, version: 1).status == 200)
            let process = Process()
            process.executableURL = program
            process.arguments = ["migrate", place.store, "--to", model]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            inTime(for: "the migration to end") { process.waitUntilExit() }
            #expect(process.terminationStatus == 0)
            let undone = try await client.post("undo")
            #expect(undone.status == 409, "\(undone.text)")
            let book = try await client.get("object", ["entity": "Book", "id": "p1"]).json
            let values = try #require(book["values"] as? [String: Any])
            #expect(values["code"] as? String == "x")
            #expect(values["weight"] as? Int == 7)
            let saved = try await save(8, version: try #require(book["version"] as? Int))
            #expect(saved.status == 200, "\(saved.text)")
        }
        try place.cairn("check", "STORE")
    }

    @Test("A store that does not open, and a port that is taken, are told")
    func failures() async throws {
        let place = try StudioPlace()
        try place.fillShelf()
        func run(_ arguments: String...) throws -> (Int32, String) {
            let process = Process()
            let program: URL = try #require(tool)
            process.executableURL = program
            process.arguments = ["studio", "--no-open"] + arguments
            let errors = Pipe()
            process.standardError = errors
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            inTime(for: "the studio to end") { process.waitUntilExit() }
            let text = try errors.fileHandleForReading.readToEnd() ?? Data()
            return (process.terminationStatus, String(decoding: text, as: UTF8.self))
        }
        let missing = try run(place.folder.path("nothing"))
        #expect(missing.0 == 1)
        #expect(missing.1.hasPrefix("cairn: "))
        #expect(try run(place.store, "--port", "70000").0 == 2)
        try await place.studio { client in
            let taken = try run(place.store, "--port", "\(client.port)")
            #expect(taken.0 == 1)
            #expect(taken.1.contains("cannot listen on port \(client.port)"), "\(taken.1)")
        }
    }
}
