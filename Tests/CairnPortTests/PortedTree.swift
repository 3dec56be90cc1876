// Source trees for tests: files in a temporary folder, ported by the command line.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnPortMain

/// A folder with sources.
struct PortedTree {
    /// What a command line gave.
    struct Run {
        let code: Int32
        let output: String
        let errors: String

        /// The lines of what is left for a person, without what follows the subject.
        var subjects: [String] {
            output.split(separator: "\n").filter { $0.contains("; instead: ") }.map {
                $0.split(separator: ": ").prefix(2).joined(separator: ": ")
            }
        }

        /// The output as JSON, one object a line.
        var json: [[String: Any]] {
            get throws {
                try output.split(separator: "\n").map {
                    try #require(
                        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
            }
        }
    }

    let folder: TemporaryDirectory

    /// Writes files, with their texts by their names.
    init(_ files: [String: String] = [:]) throws {
        folder = try TemporaryDirectory()
        for (name, text) in files { try write(name, text) }
    }

    func write(_ name: String, _ text: String) throws {
        let url = folder.url(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.url(name), encoding: .utf8)
    }

    /// The names of all files, without those of git.
    var names: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                .filter { !$0.hasPrefix(".git") }.sorted()
        }
    }

    /// Runs the tool on the folder. The paths that it prints are those in the folder.
    @discardableResult
    func run(_ arguments: String...) -> Run {
        var output = ""
        var errors = ""
        let console = PortConsole(output: { output += $0 }, errors: { errors += $0 })
        let code = PortCommand.run([folder.path] + arguments, console)
        func short(_ text: String) -> String {
            // Both sides of a diff have a letter before the path.
            text.replacingOccurrences(of: " a\(folder.path)/", with: " a/")
                .replacingOccurrences(of: " b\(folder.path)/", with: " b/")
                .replacingOccurrences(of: folder.path + "/", with: "")
                .replacingOccurrences(of: folder.path, with: "DIR")
        }
        return Run(code: code, output: short(output), errors: short(errors))
    }

    /// Runs git in the folder.
    func git(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["git", "-C", folder.path, "-c", "user.name=t", "-c", "user.email=t@example.com"]
            + arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}

/// A file as the tool leaves it, and what is left in it. That running the tool again changes nothing is checked for each.
func ported(
    _ text: String, linuxOnly: Bool = false, location: SourceLocation = #_sourceLocation
) throws -> (text: String, left: [String]) {
    let tree = try PortedTree(["File.swift": text])
    func run() -> PortedTree.Run {
        linuxOnly ? tree.run("--force", "--linux-only") : tree.run("--force")
    }
    let first = run()
    #expect(first.code == 0, "\(first.output)\(first.errors)", sourceLocation: location)
    let result = try tree.text("File.swift")
    let second = run()
    #expect(try tree.text("File.swift") == result, sourceLocation: location)
    #expect(second.subjects == first.subjects, sourceLocation: location)
    return (result, first.subjects.map { $0.replacingOccurrences(of: "File.swift:", with: "") })
}
