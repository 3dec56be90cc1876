// The browser of this machine that tests of the studio's page run in.
//
// Threads: any.

import CairnTestSupport
import Foundation

/// Chromium, or a browser that is one underneath.
enum BrowserProgram {
    /// Where it is; nil, and a line that says so, if there is none.
    static let installed: String? = {
        guard let path = candidates.first(where: FileManager.default.isExecutableFile) else {
            printLine("Chromium is not installed: tests of the studio in a browser are skipped")
            return nil
        }
        return path
    }()

    private static var candidates: [String] {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let names = ["chromium", "chromium-browser", "google-chrome"]
        return names.flatMap { name in folders.map { "\($0)/\(name)" } }
            + ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]
    }
}
