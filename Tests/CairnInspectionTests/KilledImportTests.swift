// The process is killed in the middle of an import, again and again: the store has the old list or the new
// one, nothing between. CAIRN_KILLS says how often, twenty times being the full campaign.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("An import that is killed")
struct KilledImportTests {
    /// The tool that was built beside these tests.
    private static let tool: URL? = findTool()

    private static func findTool() -> URL? {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for candidate in [folder, folder.deletingLastPathComponent()] {
            let tool = candidate.appending(path: "cairn")
            if FileManager.default.isExecutableFile(atPath: tool.path) { return tool }
        }
        return nil
    }

    private static let rounds =
        ProcessInfo.processInfo.environment["CAIRN_KILLS"].flatMap(Int.init) ?? 4

    private func list(_ rows: Int, elevation: Int) -> String {
        var text = "icao,name,elevation\n"
        for row in 0..<rows {
            text += "A\(row),Airport number \(row &* 7919 % 10007),\(elevation)\n"
        }
        return text
    }

    private func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        guard let tool = Self.tool else {
            Issue.record("the tool is built with the tests")
            throw CancellationError()
        }
        process.executableURL = tool
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func size(_ folder: URL) -> Int {
        let files =
            (try? FileManager.default.contentsOfDirectory(
                at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }

    private func text(_ path: String) throws -> String {
        let store = try LogStore.open(at: path)
        var bytes: [UInt8] = []
        try store.export { bytes.append(contentsOf: $0) }
        #expect(try store.check().findings.isEmpty)
        try store.close()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("The store has the old list or the new one, nothing between")
    func killed() throws {
        var random = RandomSource()
        try withTemporaryDirectory { directory in
            let store = directory.url("store.cairn")
            for release in 1...2 {
                try list(6000, elevation: release).write(
                    to: directory.url("\(release).csv"), atomically: true, encoding: .utf8)
            }
            func arguments(_ release: Int) -> [String] {
                [
                    "import", store.path, "--entity", "Airport",
                    directory.path("\(release).csv"),
                ]
            }
            let begin = ContinuousClock.now
            let first = try start(arguments(1) + ["--unique", "icao"])
            first.waitUntilExit()
            let duration = ContinuousClock.now - begin
            #expect(first.terminationStatus == 0)
            var content = try text(store.path)
            var outcomes: Set<Bool> = []
            for round in 0..<Self.rounds {
                let release = content.contains("\"elevation\":1}") ? 2 : 1
                let before = size(store)
                let process = try start(arguments(release))
                // Some after a share of the time an import takes, some when the file begins to grow.
                let deadline = ContinuousClock.now + duration * Double(random.next() % 1200) / 1000
                let waitsForBytes = random.oneIn(3)
                while process.isRunning,
                    waitsForBytes ? size(store) == before : ContinuousClock.now < deadline
                { continue }
                end(process)
                process.waitUntilExit()
                let now = try text(store.path)
                let isOld = now == content
                let lines = now.split(separator: "\n")
                let isNew =
                    lines.count == 6001
                    && lines.dropFirst().allSatisfy { $0.contains("\"elevation\":\(release)}") }
                #expect(isOld != isNew, "round \(round): neither the old list nor the new one")
                outcomes.insert(isNew)
                content = now
            }
            print("killed \(Self.rounds) times, outcomes: \(outcomes)")
        }
    }

    /// No chance to clean up.
    private func end(_ process: Process) {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
    }
}
