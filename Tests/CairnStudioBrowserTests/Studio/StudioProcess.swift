// `cairn studio` as a process, as people start it.
//
// Threads: one.

import Foundation
import PostgresServers
import Testing

/// A studio that runs as long as this object is there.
final class StudioProcess {
    /// The tool beside the tests; nil if it was not built.
    static let tool: String? = {
        let url = URL(fileURLWithPath: CommandLine.arguments[0])
            .deletingLastPathComponent().appendingPathComponent("cairn")
        return FileManager.default.isExecutableFile(atPath: url.path) ? url.path : nil
    }()

    /// Runs the tool to its end and gives what it printed.
    @discardableResult
    static func cairn(_ arguments: String...) throws -> String {
        try ServerProcess.run([#require(tool)] + arguments)
    }

    /// The first address, with the token in it.
    let address: String
    /// The address without what comes behind the port.
    let origin: String
    private let process: ServingProcess

    /// Starts a studio for a store.
    init(_ store: String, canWrite: Bool = false) throws {
        process = try ServingProcess(
            [#require(Self.tool), "studio", store, "--no-open", "--json"]
                + (canWrite ? ["--write"] : []))
        struct Line: Decodable {
            let address: String
        }
        address = try JSONDecoder().decode(Line.self, from: Data(process.firstLine.utf8)).address
        origin = address.components(separatedBy: "/?")[0]
    }
}
