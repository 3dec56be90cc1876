// The files of the page, by their paths. Nothing is read from a disk.
//
// Threads: values.

import CStudioPage
import FoundationEssentials

/// The page that browsers show.
enum StudioPage {
    /// A file of it.
    struct File: Sendable {
        let type: String
        let bytes: Data
    }

    /// All files, by the paths that browsers ask for.
    static let files: [String: File] = {
        var files: [String: File] = [:]
        for number in 0..<cstudio_file_count() {
            let file = cstudio_file(number).pointee
            files[String(cString: file.path)] = File(
                type: String(cString: file.type), bytes: Data(bytes: file.bytes, count: file.size))
        }
        return files
    }()

    /// A page that says one thing.
    static func saying(_ text: String) -> Data {
        Data(
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Cairn Studio</title></head>
            <body><h1>Cairn Studio</h1><p>\(text)</p></body></html>

            """.utf8)
    }
}
