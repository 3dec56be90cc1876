// A folder of the real disk for one test, gone afterwards.

package import Foundation
package import SystemPackage

/// A new empty folder with a name of its own. It is removed with its content when the last reference
/// goes, so keep it as long as it is used; `withTemporaryDirectory` does.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("cairn-test-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package var path: String { url.path }
    package var filePath: FilePath { FilePath(url.path) }

    /// Where something of this name is or will be in the folder.
    package func url(_ name: String) -> URL { url.appendingPathComponent(name) }
    package func path(_ name: String) -> String { url(name).path }
    package func filePath(_ name: String) -> FilePath { FilePath(path(name)) }
}

/// Runs `body` with a new folder and removes the folder, whatever happens.
package func withTemporaryDirectory<Result, Failure: Error>(
    _ body: (TemporaryDirectory) throws(Failure) -> Result
) throws(Failure) -> Result {
    let directory = newTemporaryDirectory()
    defer { extendLifetime(directory) }
    return try body(directory)
}

/// Runs `body` with a new folder and removes the folder, whatever happens.
package func withTemporaryDirectory<Result, Failure: Error>(
    _ body: (TemporaryDirectory) async throws(Failure) -> Result
) async throws(Failure) -> Result {
    let directory = newTemporaryDirectory()
    defer { extendLifetime(directory) }
    return try await body(directory)
}

private func newTemporaryDirectory() -> TemporaryDirectory {
    do {
        return try TemporaryDirectory()
    } catch {
        preconditionFailure("no temporary folder can be made: \(error)")
    }
}
