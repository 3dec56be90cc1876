// That the tutorial ends with the program of Tests/Examples/FirstSteps, which is compiled and run, and that each of its
// steps only adds to the one before.

import Foundation
import Testing

@Suite("The tutorial")
struct TutorialTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let tutorial = root.appending(path: "Sources/Cairn/Cairn.docc/Tutorials")
    private static let example = root.appending(path: "Tests/Examples/FirstSteps")

    private func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    /// The steps of a file of the program, in their order.
    private func steps(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Self.tutorial.path)
            .filter { $0.hasPrefix(name + "-") }.sorted()
            .map { try text(Self.tutorial.appending(path: $0)) }
    }

    @Test("its last steps are the program that is built", arguments: ["Product", "FirstSteps"])
    func last(_ name: String) throws {
        let file = Self.example.appending(path: "Sources/FirstSteps/\(name).swift")
        #expect(try steps(name).last == text(file))
    }

    @Test("its manifest is that of the program, but for where Cairn is")
    func manifest() throws {
        let built = try text(Self.example.appending(path: "Package.swift"))
        #expect(try steps("Package") == [built.replacing("../../..", with: "../cairn")])
    }

    @Test("each step has the lines of the one before", arguments: ["Product", "FirstSteps"])
    func growing(_ name: String) throws {
        let steps = try steps(name)
        #expect(steps.count > 1)
        for (before, after) in zip(steps, steps.dropFirst()) {
            var rest = after.split(separator: "\n")[...]
            for line in before.split(separator: "\n") {
                let found = rest.firstIndex(of: line)
                #expect(found != nil, "\(line) is gone")
                rest = rest[(found ?? rest.startIndex)...]
            }
            #expect(before != after)
        }
    }

    @Test("every file of it is shown")
    func shown() throws {
        let page = try text(Self.tutorial.appending(path: "FirstSteps.tutorial"))
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.tutorial.path)
        where ["swift", "json", "txt"].contains((name as NSString).pathExtension) {
            #expect(page.contains("file: \"\(name)\""), "\(name) is not shown")
        }
    }
}
