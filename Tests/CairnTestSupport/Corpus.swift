// Real data that lies beside the project, not in it: feeds, lists and models of other people.
//
// A test on it is switched off where the data is not there:
//
//     @Test("…", .enabled(if: Corpus.isAvailable))
//     func quakes() throws {
//         Corpus.noteUse()
//         let feed = try Corpus.data("data/quakes/all_day_2014-04-14.geojson.gz")
//
// so a run must show how many did run: `noteUse` prints a line that is counted.

package import Foundation

/// The folder named by CAIRN_CORPUS, or `../shared/corpus` beside the package.
package enum Corpus {
    package static let folder: URL = {
        if let given = ProcessInfo.processInfo.environment["CAIRN_CORPUS"], !given.isEmpty {
            return URL(fileURLWithPath: given, isDirectory: true)
        }
        // This file lies in Tests/CairnTestSupport of the package.
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return package.deletingLastPathComponent()
            .appendingPathComponent("shared/corpus", isDirectory: true)
    }()

    package static let isAvailable = FileManager.default.fileExists(atPath: folder.path)

    /// Prints "corpus-test: NAME"; every test on the corpus calls it first.
    package static func noteUse(_ test: String = #function) {
        printLine("corpus-test: \(test)")
    }

    /// A file or folder by its path in the corpus, such as "data/airports/airports-20240415.csv.gz".
    package static func url(_ path: String) -> URL {
        folder.appendingPathComponent(path)
    }

    /// The content of a file, unpacked where its name ends in ".gz".
    package static func data(_ path: String) throws -> Data {
        let url = url(path)
        guard url.pathExtension == "gz" else { return try Data(contentsOf: url) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gunzip", "-c", url.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let content = inTime(for: "gunzip to end") {
            defer { process.waitUntilExit() }
            return output.fileHandleForReading.readDataToEndOfFile()
        }
        guard process.terminationStatus == 0 else { throw UnpackingError(path: path) }
        return content
    }

    /// gunzip could not unpack a file.
    package struct UnpackingError: Error {
        package let path: String
    }
}
