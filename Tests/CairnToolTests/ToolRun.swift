// The tool as tests call it: a command line in, output and exit code out, all in this process.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnPostgresMain
@testable import CairnTool

/// What a command line gave.
struct ToolRun {
    let code: Int32
    let output: String
    let errors: String

    /// The lines of the output.
    var lines: [String] {
        output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The output as JSON values, one a line.
    var json: [[String: Any]] {
        get throws { try lines.map { try Self.parse($0) } }
    }

    /// The error as JSON.
    var error: [String: Any] {
        get throws {
            try #require(try Self.parse(errors)["error"] as? [String: Any])
        }
    }

    private static func parse(_ text: String) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
}

/// Runs a command line.
@discardableResult
func cairn(_ arguments: String...) -> ToolRun {
    run(arguments)
}

/// Runs a command line.
@discardableResult
func run(_ arguments: [String]) -> ToolRun {
    var output: [UInt8] = []
    var errors: [UInt8] = []
    let console = Console(
        output: { output.append(contentsOf: $0) }, errors: { errors.append(contentsOf: $0) })
    let code = Tool.run(arguments, StoreKinds([PostgresKind()]), console: console)
    return ToolRun(
        code: code, output: String(decoding: output, as: UTF8.self),
        errors: String(decoding: errors, as: UTF8.self))
}

/// A folder with a store to be, and lists beside it.
struct Workplace: ~Copyable {
    let folder: TemporaryDirectory
    var store: String { folder.path("things.cairn") }

    init() throws { folder = try TemporaryDirectory() }

    /// Writes a list and gives its path.
    func list(_ name: String, _ text: String) throws -> String {
        let path = folder.path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Imports a list of things that are told apart by their code.
    @discardableResult
    func importing(_ name: String, _ text: String, _ more: String...) throws -> ToolRun {
        let isNew = !FileManager.default.fileExists(atPath: store)
        return run(
            ["import", store, try list(name, text), "--entity", "Thing"]
                + (isNew && !more.contains("--model") ? ["--unique", "code"] : []) + more)
    }
}

extension Int {
    /// A number of a parsed JSON object.
    init?(_ object: [String: Any], _ key: String) {
        guard let number = object[key] as? NSNumber else { return nil }
        self = number.intValue
    }
}
